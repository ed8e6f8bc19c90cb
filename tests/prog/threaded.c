/*
 * A process to attach to and to leave, whose threads do one thing over and
 * over: sleep, wait for one another, stay in a handler, be sent signals, make
 * system calls, start children by vfork, allocate.  Usage: threaded WHAT.  Each
 * line on stdin is answered: "g" says whether the gs register of any thread is
 * set, "q" quits, any other says how often all threads have done what they do.
 * A vfork child ends by a byte in the pipe that is open as 3 and 4.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS_MAX = 8 };

static atomic_long rounds[THREADS_MAX];
static atomic_int begun, looked, dirty, look;
static pthread_t threads[THREADS_MAX];
static int go[2];

NOINLINE long
work(long n)
{
	long sum = 0;

	for (long i = 0; i < n % 7; i++)
		sum += i ^ n;
	__asm__ volatile("" : : "r"(sum));
	return sum;
}

static void
gs_look(void)
{
	unsigned long gs = 0;

	syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
	if (gs)
		dirty = 1;
}

NOINLINE static void
round_end(long id)
{
	static _Thread_local int seen;

	work(rounds[id]++);
	if (seen != look) {
		seen = look;
		gs_look();
		looked++;
	}
}

static void
do_sleep(long id)
{
	const struct timespec t = { id ? 1000 : 0, 100000 };

	nanosleep(&t, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long turn;

static void
do_wait(long id)
{
	pthread_mutex_lock(&mutex);
	while (turn != id)
		pthread_cond_wait(&cond, &mutex);
	turn = !id;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

static void
on_signal_stay(int signal)
{
	for (;;)
		round_end(0);
}

static void
do_handle(long id)
{
	signal(SIGUSR1, on_signal_stay);
	raise(SIGUSR1);
}

static volatile sig_atomic_t signals;

static void
on_signal(int signal)
{
	signals++;
	work(signals);
}

static void
do_storm(long id)
{
	if (id)
		pthread_kill(threads[0], SIGUSR1);
	else
		for (long i = 0; i < 100; i++)
			work(i);
}

static void
do_calls(long id)
{
	syscall(SYS_getppid);
}

static void
do_vfork(long id)
{
	char c;
	pid_t pid = vfork();

	if (!pid) {
		work(3);
		/* It ends with its parent. */
		close(go[1]);
		if (read(go[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void
do_malloc(long id)
{
	void *p[16];

	for (size_t i = 0; i < 16; i++)
		p[i] = memset(malloc(64 << i % 4), 1, 64);
	for (size_t i = 0; i < 16; i++)
		free(p[i]);
}

static const struct mode {
	const char *name;
	void (*fn)(long id);
	long nthreads;
	int checked;		/* threads that can be asked */
} modes[] = {
	{ "sleep", do_sleep, 2, 1 },
	{ "wait", do_wait, 2, 2 },
	{ "handle", do_handle, 1, 1 },
	{ "storm", do_storm, 2, 2 },
	{ "calls", do_calls, 2, 2 },
	{ "vfork", do_vfork, 1, 0 },
	{ "malloc", do_malloc, 4, 4 },
}, *mode;

static void *
thread(void *arg)
{
	/* So that its arena is there. */
	free(malloc(64));
	begun++;
	for (;;) {
		mode->fn((long)arg);
		round_end((long)arg);
	}
	return NULL;
}

static void
command(char c)
{
	long sum = 0;

	if (c == 'g') {
		gs_look();
		looked = 0;
		look++;
		while (looked < mode->checked)
			usleep(1000);
		puts(dirty ? "set" : "clear");
		return;
	}
	for (long i = 0; i < mode->nthreads; i++)
		sum += rounds[i];
	printf("%ld\n", sum);
}

int
main(int argc, char **argv)
{
	char line[64];

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			mode = &modes[i];
	if (!mode || pipe(go))
		return 1;
	signal(SIGUSR1, on_signal);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long i = 0; i < mode->nthreads; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	while (begun < mode->nthreads)
		usleep(1000);
	puts("ready");
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q')
		command(line[0]);
	fflush(stdout);
	_exit(21);
}
