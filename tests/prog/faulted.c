/*
 * A little of everything that makes pmon ask the kernel for something: `calls`
 * and jumps out of them, children that fork, vfork and exec (`forks`),
 * `threads`, `signals` with handlers, and an `exec` of its own, by a second
 * thread, too (`threadexec`).  With `serve` it does one of these for each byte
 * that it reads, and answers it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 7 };

static volatile int sink;
static __thread jmp_buf back;
static sigjmp_buf mended;
static volatile int *page;

__attribute__((noinline)) int
leaf(int n)
{
	if (n & 1)
		sink += n;
	return n + 1;
}

__attribute__((noinline)) int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) void
leave(int n)
{
	leaf(n);
	if (n > 2)
		longjmp(back, n);
	leaf(n);
}

__attribute__((noinline)) int
work(void)
{
	int (*volatile call)(int) = leaf;
	volatile int sum = 0;

	for (int i = 0; i < TIMES; i++) {
		sum += call(i);
		if (!setjmp(back))
			leave(i);
	}
	return sum + fib(5);
}

static void *
thread(void *arg)
{
	return work() ? arg : NULL;
}

static int
threads(void)
{
	pthread_t one, two;

	if (pthread_create(&one, NULL, thread, NULL) ||
	    pthread_create(&two, NULL, thread, NULL))
		return 0;
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	return work();
}

static int
child_status(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		dprintf(1, "a child ends with %x\n", (unsigned)status);
	return status;
}

static int
forks(char *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(work() == 0);
	child_status(pid);
	pid = vfork();
	if (!pid) {
		execl(self, self, "calls", NULL);
		_exit(1);
	}
	child_status(pid);
	return work();
}

static void
on_usr1(int signal)
{
	leaf(signal);
}

static void
on_fault(int signal)
{
	leaf(signal);
	if (sink & 1) {
		sink++;
		siglongjmp(mended, 1);
	}
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
	sink++;
}

__attribute__((noinline)) void
touch(int n)
{
	mprotect((void *)page, 4096, PROT_NONE);
	sink = n;
	if (!sigsetjmp(mended, 1))
		*page = leaf(n);
}

static int
signals(void)
{
	struct sigaction usr1 = { .sa_handler = on_usr1 };
	struct sigaction fault = { .sa_handler = on_fault };

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	for (int i = 0; i < TIMES; i++) {
		raise(SIGUSR1);
		touch(i);
	}
	return work();
}

static int
become(char *self, const char *mode)
{
	int n = work();

	execl(self, self, mode, NULL);
	return n;
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

/* Ends the other thread where that waits, always at the same instruction. */
static void *
thread_become(void *self)
{
	pthread_mutex_lock(&turn);
	become(self, "calls");
	_exit(1);
}

static int
thread_exec(char *self)
{
	pthread_t other;

	pthread_mutex_lock(&turn);
	if (pthread_create(&other, NULL, thread_become, self))
		return 0;
	return pthread_cond_wait(&never, &turn);
}

static int
serve(char *self)
{
	char byte;

	while (read(0, &byte, 1) == 1 && byte != 'q')
		if (byte != '\n')
			dprintf(1, "%d\n", byte == 'f' ? forks(self) :
				byte == 't' ? threads() :
				byte == 'e' ? become(self, "serve") : work());
	return work();
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "calls";

	printf("%s %d\n", mode, !strcmp(mode, "forks") ? forks(argv[0]) :
	       !strcmp(mode, "exec") ? become(argv[0], "calls") :
	       !strcmp(mode, "threadexec") ? thread_exec(argv[0]) :
	       !strcmp(mode, "threads") ? threads() :
	       !strcmp(mode, "signals") ? signals() :
	       !strcmp(mode, "serve") ? serve(argv[0]) : work());
	return 0;
}
