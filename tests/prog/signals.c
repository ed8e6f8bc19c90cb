/*
 * Signals: handlers that count themselves while functions that are counted
 * run, handlers that mend, skip or leave what faulted, and a program's own
 * breakpoint traps.  What each mode prints does not depend on time; what its
 * handlers count themselves goes to the line "counts".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;
static atomic_int handled;
static int counted_work;
static sigjmp_buf back;
static char *page;
static volatile int armed;

/* store's first instruction is the one that faults. */
extern void store(char *to);
extern const char store_end[], breakpoint_after[];
extern void breakpoint(void);
__asm__(
"	.text\n"
"	.globl store\n"
"	.type store, @function\n"
"store:	.cfi_startproc\n"
"	movb $1, (%rdi)\n"
"store_end:\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size store, . - store\n"
"	.globl breakpoint\n"
"	.type breakpoint, @function\n"
"breakpoint:\n"
"	.cfi_startproc\n"
"	int3\n"
"breakpoint_after:\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size breakpoint, . - breakpoint\n"
);

static void
failed(const char *what)
{
	perror(what);
	_exit(99);
}

NOINLINE long
work(long n)
{
	if (n % 3)				/* x W */
		sink += n;			/* x S */
	return n;				/* x W */
}

static void
catch(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | flags };

	sigemptyset(&action.sa_mask);
	if (sigaction(sig, &action, NULL))
		failed("sigaction");
}

NOINLINE void
on_signal(int sig, siginfo_t *info, void *context)
{
	handled++;				/* x H */
	armed = 0;				/* x H */
}						/* x H */

/* A timer goes off somewhere in each few calls of work. */
static void
timer(int calls)
{
	struct itimerval soon = { .it_value.tv_usec = 50 };
	int i;

	catch(SIGALRM, on_signal, 0);
	for (i = 0; i < calls; i++) {
		if (!armed) {
			armed = 1;
			soon.it_value.tv_usec = 20 + i % 100;
			setitimer(ITIMER_REAL, &soon, NULL);
		}
		work(i);
	}
	while (armed)
		;
	counted_work = calls;
}

/* A child sends n signals, each when the one before was handled. */
static void
bombard(int n)
{
	atomic_int *got = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), child;
	int i, status;

	catch(SIGUSR1, on_signal, 0);
	child = fork();
	if (!child) {
		for (i = 0; i < n; i++) {
			kill(parent, SIGUSR1);
			while (atomic_load(got) <= i)
				;
		}
		_exit(0);
	}
	for (i = 0; atomic_load(got) < n; i++) {
		work(i);
		atomic_store(got, handled);
	}
	counted_work = i;
	if (waitpid(child, &status, 0) != child || status)
		failed("child");
}

static atomic_int stop;

static void *
busy(void *arg)
{
	int i;

	for (i = 0; !atomic_load(&stop); i++)
		work(i);
	*(int *)arg = i;
	return NULL;
}

/* Threads send each other signals. */
static void
thread_signals(int n)
{
	int done[4], total = 0, i, k, was;
	pthread_t ids[4];

	catch(SIGUSR1, on_signal, SA_RESTART);
	for (i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, busy, &done[i]);
	for (k = 0; k < n; k++) {
		was = handled;
		pthread_kill(ids[k % 4], SIGUSR1);
		while (handled == was)
			;
	}
	atomic_store(&stop, 1);
	for (i = 0; i < 4; i++) {
		pthread_join(ids[i], NULL);
		total += done[i];
	}
	counted_work = total;
}

static void
mend(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	handled++;
	if (info->si_addr != page || info->si_code != SEGV_ACCERR ||
	    uc->uc_mcontext.gregs[REG_RIP] != (long)store) {
		fprintf(stderr, "fault at %p, page %p, code %d, pc %llx, "
			"store %p\n", info->si_addr, page, info->si_code,
			uc->uc_mcontext.gregs[REG_RIP], (void *)store);
		failed("fault");
	}
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void
skip(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	handled++;
	if (uc->uc_mcontext.gregs[REG_RIP] != (long)store)
		failed("fault");
	uc->uc_mcontext.gregs[REG_RIP] = (long)store_end;
}

static void
leave(int sig, siginfo_t *info, void *context)
{
	handled++;
	siglongjmp(back, 1);
}

/* Each of n stores faults; the handler's way to go on is one of these. */
static void
faults(const char *how, int n)
{
	int i;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	catch(SIGSEGV, !strcmp(how, "mend") ? mend :
	      !strcmp(how, "skip") ? skip : leave, 0);
	for (i = 0; i < n; i++) {
		mprotect(page, 4096, PROT_READ);
		if (!sigsetjmp(back, 1))
			store(page);		/* x N */
	}
	printf("handled %d, stored %d\n", handled, *page);
}

static atomic_int waiting, nested_signals, landed;
static long rounds;

static void
on_nested(int sig, siginfo_t *info, void *context)
{
	nested_signals++;
}

static void
on_outer(int sig, siginfo_t *info, void *context)
{
	int was = nested_signals;

	waiting = 1;
	while (nested_signals == was)
		;
	handled++;
}

/* Rounds and rounds, until all signals have come. */
static void *
fly(void *high)
{
	stack_t stack = { .ss_sp = high, .ss_size = 1 << 17 };

	sigaltstack(&stack, NULL);
	/* If the signals come thick and fast it may have time for one only. */
	do
		rounds++;			/* each round */
	while (!landed);
	return NULL;
}

/*
 * Each of n handlers, on a stack that is above the thread's own, is interrupted
 * by another.
 */
static void
aloft(int n)
{
	char *stacks = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t flyer;

	catch(SIGUSR1, on_outer, SA_ONSTACK);
	catch(SIGUSR2, on_nested, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stacks, 1 << 17);
	pthread_create(&flyer, &attr, fly, stacks + (1 << 17));
	for (int i = 0; i < n; i++) {
		waiting = 0;
		pthread_kill(flyer, SIGUSR1);
		while (!waiting)
			sched_yield();
		pthread_kill(flyer, SIGUSR2);
		while (handled == i)
			sched_yield();
	}
	landed = 1;
	pthread_join(flyer, NULL);
	printf("rounds %ld, handled %d\n", rounds, handled);
}

/* These tell where they are: the address is that of the instruction. */
static volatile int zero;
extern const char divides[], undefined[];

NOINLINE void
divide(int n)
{
	__asm__ volatile("movl %0, %%eax; cltd\n"
			 ".globl divides\ndivides: idivl %1"
			 : : "r"(n), "m"(zero) : "eax", "edx", "cc");
}

NOINLINE void
undefine(void)
{
	__asm__ volatile(".globl undefined\nundefined: ud2");
}

static void
where(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	const char *at = sig == SIGFPE ? divides : undefined;

	handled++;
	if (info->si_addr != at ||
	    uc->uc_mcontext.gregs[REG_RIP] != (long)at)
		printf("signal %d at %p, pc %llx, not %p\n", sig,
		       info->si_addr, uc->uc_mcontext.gregs[REG_RIP],
		       (const void *)at);
	siglongjmp(back, 1);
}

static void
places(int n)
{
	catch(SIGFPE, where, 0);
	catch(SIGILL, where, 0);
	while (n--)
		if (!sigsetjmp(back, 1)) {
			if (n % 2)
				divide(n);
			else
				undefine();
		}
	printf("handled %d\n", handled);
}

static int expected_code;

static void
on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	handled++;
	if (info->si_code != expected_code)
		printf("code %d, not %d\n", info->si_code, expected_code);
	if (info->si_code == SI_QUEUE && info->si_value.sival_int != 42)
		failed("value");
	if (info->si_code == SI_KERNEL &&
	    uc->uc_mcontext.gregs[REG_RIP] != (long)breakpoint_after)
		failed("place");
}

/* The program's own traps. */
static void
traps(int n)
{
	union sigval value = { .sival_int = 42 };
	int i;

	catch(SIGTRAP, on_trap, 0);
	for (i = 0; i < n; i++) {
		expected_code = SI_KERNEL;
		breakpoint();			/* x N */
		expected_code = SI_TKILL;
		raise(SIGTRAP);			/* x N */
		expected_code = SI_USER;
		kill(getpid(), SIGTRAP);	/* x N */
		expected_code = SI_QUEUE;
		sigqueue(getpid(), SIGTRAP, value);
		work(i);
	}
	counted_work = n;
	printf("handled %d\n", handled);
}

static void
no_handler(int sig, siginfo_t *info, void *context)
{
	handled++;
}

static void
set_trap_flag(void)
{
	__asm__ volatile("pushfq; orl $0x100, (%rsp); popfq; nop; nop; nop;"
			 "pushfq; andl $~0x100, (%rsp); popfq");
}

/* A program that single-steps itself. */
static void
own_steps(int n)
{
	catch(SIGTRAP, no_handler, 0);
	while (n--)
		set_trap_flag();
	printf("steps %d\n", handled);
}

static void
on_child(int sig, siginfo_t *info, void *context)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		handled++;
}

static void
children(int n)
{
	sigset_t block, old;
	int i;

	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &old);
	catch(SIGCHLD, on_child, SA_RESTART);
	for (i = 0; i < n; i++)
		if (!fork()) {
			work(i);
			_exit(0);
		}
	while (handled < n)
		sigsuspend(&old);
	printf("children %d\n", handled);
	counted_work = n;
}

/* A child stops itself; its parent sees that and lets it go on. */
static void
stops(int n)
{
	int status, i, fds[2];
	char c;

	if (pipe(fds))
		failed("pipe");
	pid_t pid = fork();
	if (!pid) {
		for (i = 0; i < n; i++) {
			raise(i & 1 ? SIGTSTP : SIGSTOP);
			work(i);
			/* Not before it was seen to go on. */
			if (read(fds[0], &c, 1) != 1)
				failed("read");
		}
		_exit(6);
	}
	for (i = 0; i < n; i++) {
		if (waitpid(pid, &status, WUNTRACED) != pid ||
		    !WIFSTOPPED(status))
			failed("stopped");
		printf("stopped by %d\n", WSTOPSIG(status));
		kill(pid, SIGCONT);
		if (waitpid(pid, &status, WCONTINUED) != pid ||
		    !WIFCONTINUED(status) || write(fds[1], "x", 1) != 1)
			failed("continued");
	}
	waitpid(pid, &status, 0);
	printf("ended with %d\n", WEXITSTATUS(status));
	counted_work = n;
}

/* Signals that are blocked and taken in other ways. */
static void
blocked(int n)
{
	struct signalfd_siginfo info;
	struct timespec none = { 0 };
	sigset_t set;
	int i, sig, fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	for (i = 0; i < n; i++) {
		work(i);
		raise(i & 1 ? SIGUSR1 : SIGURG);
		if (sigwait(&set, &sig) || sig != (i & 1 ? SIGUSR1 : SIGURG))
			failed("sigwait");
		kill(getpid(), SIGUSR2);
		if (read(fd, &info, sizeof(info)) != sizeof(info) ||
		    info.ssi_signo != SIGUSR2)
			failed("signalfd");
		if (sigtimedwait(&set, NULL, &none) != -1 || errno != EAGAIN)
			failed("another signal");
	}
	printf("blocked %d\n", n);
	counted_work = n;
}

static int depth;

static void
nested(int sig, siginfo_t *info, void *context)
{
	handled++;
	work(handled);
	if (++depth < 10)
		raise(sig);
	depth--;
}

/* On a stack of its own, within itself, once only. */
static void
kinds(int n)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	int i;

	sigaltstack(&stack, NULL);
	catch(SIGUSR1, nested, SA_ONSTACK | SA_NODEFER);
	for (i = 0; i < n; i++)
		raise(SIGUSR1);
	catch(SIGUSR2, on_signal, SA_RESETHAND);
	raise(SIGUSR2);
	printf("nested %d\n", handled);
	counted_work = 10 * n;
	fflush(stdout);
	raise(SIGUSR2);
	failed("alive");
}

static void
interrupted(int sig, siginfo_t *info, void *context)
{
	work(handled++);
}

/* System calls that a signal interrupts, or restarts. */
static void
calls(int n)
{
	struct timespec hour = { 3600, 0 }, rest;
	/* Again and again, lest it come before the call that is to wait. */
	struct itimerval soon = { .it_value.tv_usec = 2000,
				  .it_interval.tv_usec = 20000 };
	struct pollfd pfd = { .events = POLLIN };
	struct epoll_event event;
	int i, fds[2], ep = epoll_create1(0), errors[4] = { 0 };
	char c;

	if (pipe(fds))
		failed("pipe");
	pfd.fd = fds[0];
	catch(SIGALRM, interrupted, 0);
	for (i = 0; i < n; i++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		/* The rest includes the timer's slack: it may be more. */
		errors[0] += nanosleep(&hour, &rest) == -1 && errno == EINTR &&
			rest.tv_sec > 3000 && rest.tv_sec <= hour.tv_sec;
		setitimer(ITIMER_REAL, &soon, NULL);
		errors[1] += read(fds[0], &c, 1) == -1 && errno == EINTR;
		setitimer(ITIMER_REAL, &soon, NULL);
		errors[2] += poll(&pfd, 1, -1) == -1 && errno == EINTR;
		setitimer(ITIMER_REAL, &soon, NULL);
		errors[3] += epoll_wait(ep, &event, 1, -1) == -1 &&
			errno == EINTR;
	}
	printf("interrupted %d %d %d %d\n", errors[0], errors[1], errors[2],
	       errors[3]);
	/* Restarted: what is read is what the child writes at last. */
	catch(SIGALRM, interrupted, SA_RESTART);
	soon.it_interval.tv_usec = 5000;
	setitimer(ITIMER_REAL, &soon, NULL);
	if (!fork()) {
		setitimer(ITIMER_REAL, &soon, NULL);
		for (i = handled; handled < i + 5; )
			pause();
		_exit(write(fds[1], "x", 1) != 1);
	}
	if (read(fds[0], &c, 1) != 1 || c != 'x')
		failed("read");
	memset(&soon, 0, sizeof(soon));
	setitimer(ITIMER_REAL, &soon, NULL);
	while (wait(NULL) < 0 && errno == EINTR)
		;
	printf("restarted\n");
}

/* Signals to its process group, of which it is one. */
static void
group(int n)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGTSTP };
	int i;

	for (i = 0; i < 4; i++)
		catch(signals[i], on_signal, 0);
	for (i = 0; i < n; i++) {
		kill(0, signals[i % 4]);
		work(i);
	}
	counted_work = n;
}

static void
die(int sig)
{
	work(1);
	if (sig == SIGSEGV)
		*(volatile char *)8 = 1;
	else if (sig == SIGILL)
		__asm__ volatile("ud2");
	else if (sig == SIGFPE)
		__asm__ volatile("xor %%ecx, %%ecx; div %%ecx"
				 : : : "eax", "ecx", "edx");
	else if (sig == SIGTRAP)
		breakpoint();
	else if (sig == SIGABRT)
		abort();
	kill(getpid(), sig);
	for (;;)
		pause();
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "timer";
	int n = argc > 2 ? atoi(argv[2]) : 100;

	if (!strcmp(mode, "timer"))
		timer(n);
	else if (!strcmp(mode, "bombard"))
		bombard(n);
	else if (!strcmp(mode, "threads"))
		thread_signals(n);
	else if (!strcmp(mode, "traps"))
		traps(n);
	else if (!strcmp(mode, "ownsteps"))
		own_steps(n);
	else if (!strcmp(mode, "children"))
		children(n);
	else if (!strcmp(mode, "stops"))
		stops(n);
	else if (!strcmp(mode, "blocked"))
		blocked(n);
	else if (!strcmp(mode, "kinds"))
		kinds(n);
	else if (!strcmp(mode, "calls"))
		calls(n);
	else if (!strcmp(mode, "aloft"))
		aloft(n);
	else if (!strcmp(mode, "places"))
		places(n);
	else if (!strcmp(mode, "group"))
		group(n);
	else if (!strcmp(mode, "die"))
		die(n);
	else
		faults(mode, n);
	fprintf(stderr, "counts: work %d, on_signal %d\n", counted_work,
		handled);
	return 4;
}
