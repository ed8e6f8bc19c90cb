/*
 * Waits in system calls that the kernel never restarts, while another thread
 * interrupts them: "ignored" by signals that the program ignores, which nobody
 * notices without a tracer; "hits" by calling a function, for which pmon may
 * stop all threads.  Each call's line has its result; whether it came too
 * early, and changed its arguments, its timeout, or the stack below them.
 * "stopped" prints the result of a call that SIGSTOP and SIGCONT interrupt, and
 * "continued" of calls of several threads that SIGCONT alone does not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 100, LONG_MS = 1000 * 1000, TIMES = 20, BYTES = 1 << 20 };

struct result {
	long value, args[6], intact;
};

/* Makes a system call with a pattern below the red zone. */
void call_make(const long args[6], struct result *result, long nr);
__asm__("	.text\n"
	"	.type call_make, @function\n"
	"call_make:\n"
	"	.cfi_startproc\n"
	"	mov %rbx, 56(%rsi)\n"
	"	mov %rdi, %rbx\n"
	"	push %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rdx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	lea -208(%rsp), %rdi\n"
	"	mov $0x5a5a5a5a, %eax\n"
	"	mov $9, %ecx\n"
	"	rep stosq\n"
	"	mov (%rsp), %rax\n"
	"	mov (%rbx), %rdi\n"
	"	mov 8(%rbx), %rsi\n"
	"	mov 16(%rbx), %rdx\n"
	"	mov 24(%rbx), %r10\n"
	"	mov 32(%rbx), %r8\n"
	"	mov 40(%rbx), %r9\n"
	"	syscall\n"
	"	mov 8(%rsp), %rbx\n"
	"	mov %rax, (%rbx)\n"
	"	mov %rdi, 8(%rbx)\n"
	"	mov %rsi, 16(%rbx)\n"
	"	mov %rdx, 24(%rbx)\n"
	"	mov %r10, 32(%rbx)\n"
	"	mov %r8, 40(%rbx)\n"
	"	mov %r9, 48(%rbx)\n"
	"	lea -208(%rsp), %rdi\n"
	"	mov $0x5a5a5a5a, %eax\n"
	"	mov $9, %ecx\n"
	"	repe scasq\n"
	"	sete %al\n"
	"	movzbl %al, %eax\n"
	"	pop %rdx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	mov 56(%rsi), %rbx\n"
	"	mov %rax, 56(%rsi)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size call_make, . - call_make\n");

static const struct timespec timeout = { 0, MS * 1000000 };
static const struct timeval micros = { 0, MS * 1000 };
static const struct timespec for_ever = { INT64_MAX, 999999999 };
static pid_t waiter;		/* the thread that makes calls */
static atomic_long waiting;	/* number of its call, or -1 */
static atomic_int interruptions;
static atomic_bool at_once;	/* interrupt the call even if it does not wait */
static atomic_int handled;	/* signal to send first to epoll_pwait, or 0 */
static int wakes;		/* an eventfd */
static const char *how;

__attribute__((noinline)) void
hit(void)
{
	__asm__ volatile("");
}

/* Does the task sleep in this system call? */
static int
sleeps(const char *task, long nr)
{
	char path[64], line[256] = "";
	long in = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/syscall", task);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%ld", &in) != 1)
		in = -1;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%s/stat", task);
	f = fopen(path, "r");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return in == nr && strstr(line, ") S ");
}

/* Interrupts every call that the waiter waits in, again and again. */
static void *
interrupt(void *arg)
{
	static const int signals[] = { SIGCHLD, SIGUSR1, SIGURG, SIGWINCH,
				       SIGCONT };
	char task[64];
	long nr;

	snprintf(task, sizeof(task), "self/task/%d", (int)waiter);
	while ((nr = atomic_load(&waiting)) != -2) {
		if (nr < 0 || (!at_once && !sleeps(task, nr))) {
			sched_yield();
			continue;
		}
		if (handled && nr == SYS_epoll_pwait)
			syscall(SYS_tgkill, getpid(), waiter,
				atomic_exchange(&handled, 0));
		else if (!strcmp(how, "hits"))
			hit();
		else
			syscall(SYS_tgkill, getpid(), waiter,
				signals[interruptions % 5]);
		interruptions++;
	}
	return arg;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long
call(const char *name, long nr, const long args[6])
{
	struct result result;
	double start = now();

	atomic_store(&interruptions, 0);
	atomic_store(&waiting, nr);
	call_make(args, &result, nr);
	atomic_store(&waiting, -1);
	printf("%s %ld%s%s%s%s\n", name, result.value,
	       result.value > 0 || now() - start >= MS / 1e3 ? "" : " early",
	       memcmp(args, result.args, sizeof(result.args)) ? " arguments" :
								"",
	       result.intact ? "" : " stack",
	       timeout.tv_sec || timeout.tv_nsec != MS * 1000000 ? " timeout" :
								   "");
	return result.value;
}

/* Lets a call end once it was interrupted some times. */
static void *
wake(void *fd)
{
	static char bytes[BYTES];
	uint64_t one = 1;
	char task[64];
	long nr;

	snprintf(task, sizeof(task), "self/task/%d", (int)waiter);
	/* "hits" interrupts nothing where nobody stops threads. */
	while ((nr = atomic_load(&waiting)) < 0 || interruptions < TIMES ||
	       !sleeps(task, nr))
		sched_yield();
	if (!fd && write(wakes, &one, sizeof(one)) != sizeof(one))
		abort();
	if (nr == SYS_rt_sigtimedwait)
		syscall(SYS_tgkill, getpid(), waiter, SIGUSR2);
	for (long left = BYTES; fd && left > 0;) {
		ssize_t n = read(*(int *)fd, bytes, 65536);

		if (n <= 0)
			abort();
		left -= n;
	}
	return NULL;
}

static void
wait_woken(const char *name, long nr, const long args[6], int *fd)
{
	pthread_t thread;
	uint64_t n;

	atomic_store(&interruptions, 0);
	pthread_create(&thread, NULL, wake, fd);
	call(name, nr, args);
	pthread_join(thread, NULL);
	if (!fd && read(wakes, &n, sizeof(n)) != sizeof(n))
		abort();
}

static void
wait_written(void)
{
	static char bytes[BYTES];
	int fds[2];

	if (pipe(fds))
		abort();
	wait_woken("write", SYS_write,
		   (long[6]){ fds[1], (long)bytes, BYTES }, &fds[0]);
	close(fds[0]);
	close(fds[1]);
}

/* Waits for an entry that is submitted by the same call, and for none. */
static void
wait_uring(void)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	struct io_uring_sqe *entry;
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&timeout };
	unsigned *ring, *array;

	if (fd < 0) {
		printf("io_uring: %s\n", strerror(errno));
		return;
	}
	ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    IORING_OFF_SQ_RING);
	entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     IORING_OFF_SQES);
	if (ring == MAP_FAILED || entry == MAP_FAILED)
		abort();
	call("io_uring_enter", SYS_io_uring_enter,
	     (long[6]){ fd, 0, 1,
			IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
			(long)&arg, sizeof(arg) });
	*entry = (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD,
		.fd = wakes,
		.poll32_events = EPOLLIN,
	};
	array = (unsigned *)((char *)ring + params.sq_off.array);
	*array = 0;
	atomic_store((_Atomic unsigned *)((char *)ring + params.sq_off.tail),
		     1);
	wait_woken("submit", SYS_io_uring_enter,
		   (long[6]){ fd, 1, 1, IORING_ENTER_GETEVENTS }, NULL);
	printf("completed %u\n",
	       *(unsigned *)((char *)ring + params.cq_off.tail));
	close(fd);
}

/* The rest of a file that may not grow is not written: that would be fatal. */
static void
write_limited(void)
{
	const struct rlimit limit = { 16 * BYTES, 16 * BYTES };
	size_t size = 2 * limit.rlim_cur;
	void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	FILE *file = tmpfile();

	if (zeros == MAP_FAILED || !file || setrlimit(RLIMIT_FSIZE, &limit))
		abort();
	at_once = true;
	call("write, limited", SYS_write,
	     (long[6]){ fileno(file), (long)zeros, (long)size });
	at_once = false;
}

static void
handle(int signal)
{
	(void)signal;
}

/*
 * A signal that only the call's own mask blocks does not end the call.  The
 * call waits until it has come, or it would end the next call.
 */
static void
wait_masked(int epoll)
{
	struct epoll_event event;
	static char room[1 << 16];
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_ONSTACK };
	sigset_t set;

	/* The handler leaves the stack as it is. */
	sigaltstack(&(stack_t){ .ss_sp = room, .ss_size = sizeof(room) }, NULL);
	sigaction(SIGRTMIN, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	handled = SIGRTMIN;
	wait_woken("epoll_pwait, masked", SYS_epoll_pwait,
		   (long[6]){ epoll, (long)&event, 1, LONG_MS, (long)&set, 8 },
		   NULL);
}

static void
wait_all(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), none = epoll_create1(0);
	int sem = semget(IPC_PRIVATE, 1, 0600);
	struct sembuf down = { 0, -1, 0 };
	sigset_t set;
	long aio = 0, time = (long)&timeout;

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, wakes, &event) || sem < 0)
		abort();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	wait_woken("epoll_wait, woken", SYS_epoll_wait,
		   (long[6]){ epoll, (long)&event, 1, -1 }, NULL);
	call("epoll_wait", SYS_epoll_wait,
	     (long[6]){ none, (long)&event, 1, MS });
	call("epoll_pwait", SYS_epoll_pwait,
	     (long[6]){ none, (long)&event, 1, MS, (long)&set, 8 });
	call("epoll_pwait2", SYS_epoll_pwait2,
	     (long[6]){ none, (long)&event, 1, time });
	call("semtimedop", SYS_semtimedop,
	     (long[6]){ sem, (long)&down, 1, time });
	call("rt_sigtimedwait", SYS_rt_sigtimedwait,
	     (long[6]){ (long)&set, 0, time, 8 });
	wait_woken("rt_sigtimedwait, woken", SYS_rt_sigtimedwait,
		   (long[6]){ (long)&set, 0, (long)&for_ever, 8 }, NULL);
	/* The kernel cannot write what is left to a constant. */
	call("ppoll", SYS_ppoll, (long[6]){ 0, 0, time });
	call("pselect6", SYS_pselect6, (long[6]){ 0, 0, 0, 0, time });
	call("select", SYS_select, (long[6]){ 0, 0, 0, 0, (long)&micros });
	wait_masked(epoll);
	if (!syscall(SYS_io_setup, 1, &aio))
		call("io_getevents", SYS_io_getevents,
		     (long[6]){ aio, 1, 1, (long)&event, time });
	wait_written();
	wait_uring();
	write_limited();
	semctl(sem, 0, IPC_RMID);
}

static void *
wait_short(void *tid)
{
	struct epoll_event event;
	int none = epoll_create1(0);

	*(atomic_int *)tid = gettid();
	return (void *)(long)epoll_wait(none, &event, 1, MS);
}

/* SIGCONT to a process that is not stopped ends no thread's call. */
static void
wait_continued(void)
{
	enum { THREADS = 3 };
	pthread_t threads[THREADS];
	atomic_int tids[THREADS] = { 0 };
	char task[64];
	void *result;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, wait_short, &tids[i]);
	for (int i = 0; i < THREADS; i++) {
		while (!tids[i])
			sched_yield();
		snprintf(task, sizeof(task), "self/task/%d", tids[i]);
		while (pthread_tryjoin_np(threads[i], &result) == EBUSY)
			if (sleeps(task, SYS_epoll_wait))
				kill(getpid(), SIGCONT);
		printf("continued %ld\n", (long)result);
	}
}

/* SIGSTOP and SIGCONT end a call, as signal(7) says. */
static void
wait_stopped(void)
{
	pid_t pid = fork();
	struct epoll_event event;
	char task[32];
	int status;

	if (!pid)
		_exit(epoll_wait(epoll_create1(0), &event, 1, -1) < 0 ? errno :
									0);
	snprintf(task, sizeof(task), "%d", (int)pid);
	while (!sleeps(task, SYS_epoll_wait))
		sched_yield();
	kill(pid, SIGSTOP);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		abort();
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	printf("stopped: %d\n", WEXITSTATUS(status));
}

int
main(int argc, char **argv)
{
	pthread_t thread;

	how = argc > 1 ? argv[1] : "ignored";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(how, "stopped")) {
		wait_stopped();
		return 0;
	}
	if (!strcmp(how, "continued")) {
		wait_continued();
		return 0;
	}
	signal(SIGUSR1, SIG_IGN);
	wakes = eventfd(0, 0);
	waiter = gettid();
	atomic_store(&waiting, -1);
	pthread_create(&thread, NULL, interrupt, NULL);
	wait_all();
	atomic_store(&waiting, -2);
	pthread_join(thread, NULL);
	return 0;
}
