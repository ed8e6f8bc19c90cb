/*
 * Signals often interrupt it.  `traps`: until SIGTRAP comes, of which it tells,
 * or SIGALRM has come NALARMS times; `waits`: the same, but it blocks SIGTRAP
 * and asks for it; `pending`: one that it sends itself waits while SIGALRM comes
 * NPENDING times; `exec`: until another thread executes `done`, which it can
 * when it is given the page of memory with that word; `forks`: the same, and it
 * makes children meanwhile, of which the last is left to `done`; `serve`: it is asked, and
 * ignores SIGTRAP if a second word is there; `a` asks it to work while SIGALRM
 * comes NASKED times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "detours.h"

enum { NALARMS = 20000, NASKED = 200, NPENDING = 20, NWORK = 10, VALUE = 42 };

static volatile sig_atomic_t alarms, traps, codes;
static volatile sig_atomic_t elsewhere;	/* alarms in code of no file */
static volatile sig_atomic_t told;	/* what the last SIGTRAP told else */
static volatile int sink;
static char *self;
static sem_t created;			/* the thread that executes */

/*
 * Nearly all of the time passes in this instruction, so an interrupt comes
 * behind it: on the edges that are counted next.
 */
static inline void
long_insn(void)
{
	unsigned a = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
}

__attribute__((noinline)) void
work(int n)
{
	for (int i = 0; i < n; i++)
		if (i & 1) {
			sink += i;
			long_insn();
		} else {
			sink ^= i;
			long_insn();
		}
}

static void
on_alarm(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	Dl_info at;

	alarms++;
	elsewhere += !dladdr((void *)uc->uc_mcontext.gregs[REG_RIP], &at);
}

static void
trap_note(const siginfo_t *info)
{
	traps++;
	codes += info->si_code;
	told = info->si_code == SI_QUEUE ? info->si_value.sival_int :
	       info->si_pid == getppid();
}

static void
on_trap(int signal, siginfo_t *info, void *context)
{
	trap_note(info);
}

static void
on_user(int signal, siginfo_t *info, void *context)
{
	/* The signal may come within stdout's fflush. */
	dprintf(1, "SIGUSR1, code %d, value %d\n", info->si_code,
		info->si_value.sival_int);
}

static void
say(void)
{
	printf("%d SIGTRAP, code %d, tells %d, %d elsewhere\n", (int)traps,
	       (int)codes, (int)told, (int)elsewhere);
	fflush(stdout);
}

/* Take a SIGTRAP that waits. */
static void
trap_take(void)
{
	struct timespec now = { 0, 0 };
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (sigtimedwait(&set, &info, &now) == SIGTRAP)
		trap_note(&info);
}

static int
waits(int pending)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pending)
		sigqueue(getpid(), SIGTRAP, (union sigval){ VALUE });
	while (!traps && alarms < NALARMS) {
		work(1000);
		if (!pending || alarms >= NPENDING)
			trap_take();
	}
	say();
	return 0;
}

static void *
executes(void *arg)
{
	sigset_t mask;

	sem_wait(&created);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGALRM);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	execl(self, self, (char *)PAGE_AT, NULL);
	return NULL;
}

static void
child_make(void)
{
	pid_t pid = fork();

	if (!pid) {
		work(NWORK);
		dprintf(1, "child\n");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static int
exec(int forks)
{
	int fd = (int)syscall(SYS_userfaultfd, O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = {
		.range = { PAGE_AT, PAGE_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;

	/*
	 * In its execve the thread cannot be paused.  By then all functions
	 * are entered, and this thread is out of pthread_create, which blocks
	 * all signals: a trap there has the others paused.
	 */
	while (!forks && alarms < 3)
		work(1000);
	if (mmap((void *)PAGE_AT, PAGE_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all) ||
	    dup2(fd, PAGE_FD) != PAGE_FD ||
	    pthread_create(&thread, NULL, executes, NULL)) {
		printf("no userfaultfd\n");
		return 1;
	}
	sem_post(&created);
	for (;;)
		if (forks)
			child_make();
		else
			work(1000);
}

/*
 * Have SIGALRM come often: after each tick in which this thread ran.  So it
 * finds the thread somewhere in `work`.  On a busy machine, a timer of real time
 * would have expired before the thread got anywhere, each time at the same
 * instruction.
 */
static void
alarms_begin(void)
{
	/* Unlike setitimer(2)'s it ends with the program. */
	struct sigevent how = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM,
	};
	struct itimerspec each = { { 0, 500000 }, { 0, 500000 } };
	timer_t timer;

	if (!timer_create(CLOCK_THREAD_CPUTIME_ID, &how, &timer))
		timer_settime(timer, 0, &each, NULL);
}

/* Without a handler for SIGTRAP there is none to restore behind a step. */
static void
catch(int traps)
{
	struct sigaction alarm = {
		.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct sigaction trap = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigaction(SIGALRM, &alarm, NULL);
	if (traps)
		sigaction(SIGTRAP, &trap, NULL);
}

__attribute__((noinline)) int
done(void)
{
	sigset_t mask;

	while (wait(NULL) > 0)
		;
	work(NWORK);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("SIGUSR2 is %s, SIGALRM is %s\n",
	       sigismember(&mask, SIGUSR2) ? "blocked" : "open",
	       sigismember(&mask, SIGALRM) ? "blocked" : "open");
	return 0;
}

static int
serve(int ignores)
{
	struct sigaction user = {
		.sa_sigaction = on_user, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	char line[16];

	sigaction(SIGUSR1, &user, NULL);
	if (ignores)
		signal(SIGTRAP, SIG_IGN);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == 'a')
			alarms_begin();
		while (line[0] == 'a' && alarms < NASKED)
			work(1000);
		work(NWORK);
		say();
	}
	return 0;
}

int
main(int argc, char **argv)
{
	self = argv[0];
	if (!strcmp(argv[1], "done"))
		return done();
	catch(strcmp(argv[1], "exec"));
	if (strcmp(argv[1], "serve") && strcmp(argv[1], "forks"))
		alarms_begin();
	if (!strcmp(argv[1], "exec") || !strcmp(argv[1], "forks"))
		return exec(argv[1][0] == 'f');
	if (!strcmp(argv[1], "serve"))
		return serve(argc > 2);
	if (!strcmp(argv[1], "waits") || !strcmp(argv[1], "pending"))
		return waits(argv[1][0] == 'p');
	while (!traps && alarms < NALARMS)
		work(1000);
	say();
	return 0;
}
