/*
 * Threads that call the same functions at the same time.  Each mode calls
 * work() a number of times known beforehand, and says so.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static atomic_long done;
static long calls;
static pthread_barrier_t barrier;

NOINLINE long
work(long n)
{
	__asm__ volatile("");
	if (n & 1)				/* x W */
		n = 3 * n + 1;			/* x W / 2 */
	else
		n = n / 2;			/* x W / 2 */
	return n;				/* x W */
}

static void
work_times(long n)
{
	long sum = 0, i;

	for (i = 0; i < n; i++)			/* x W + T */
		sum += work(i);			/* x W */
	atomic_fetch_add(&done, sum);		/* x T */
}

static void *
hammer(void *arg)
{
	pthread_barrier_wait(&barrier);		/* x B */
	work_times(calls);
	return arg;
}

/* All threads begin together, on one site. */
static void
hammers(int n)
{
	pthread_t threads[n];
	int i;

	pthread_barrier_init(&barrier, NULL, n);
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, hammer, NULL))
			abort();
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void *
short_lived(void *arg)
{
	work_times(calls);
	return arg;
}

/* Threads are made and end while others work. */
static void *
creator(void *arg)
{
	pthread_t thread;
	int i;

	for (i = 0; i < (long)arg; i++) {
		if (pthread_create(&thread, NULL, short_lived, NULL))
			abort();
		if (i & 1)
			work_times(calls);
		pthread_join(thread, NULL);
	}
	return NULL;
}

static void
storm(int creators, int n)
{
	pthread_t threads[creators];
	int i;

	for (i = 0; i < creators; i++)
		if (pthread_create(&threads[i], NULL, creator,
				   (void *)(long)n))
			abort();
	for (i = 0; i < creators; i++)
		pthread_join(threads[i], NULL);
}

static void *
outlive(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	work_times(calls);
	printf("done %ld\n", atomic_load(&done));
	fflush(stdout);
	exit(5);
}

/* The first thread ends before the others. */
static void
leader_exits(void)
{
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	if (pthread_create(&thread, NULL, outlive, &self))
		abort();
	work_times(calls);
	pthread_exit(NULL);
}

/*
 * A thread that ends itself by its system call, without more ado.  The kernel
 * clears *arg when it has ended: were the process to end before that, nobody
 * could say where the thread was.
 */
static void *
vanish(void *arg)
{
	syscall(SYS_set_tid_address, arg);
	work_times(calls);
	syscall(SYS_exit, 0);
	return NULL;
}

static void
vanishing(int n)
{
	static atomic_int there;
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (i = 0; i < n; i++) {
		atomic_store(&there, 1);
		if (pthread_create(&thread, &attr, vanish, &there))
			abort();
		while (atomic_load(&there))
			;
	}
}

/* exit() in one thread while the others are in the middle of it. */
static void *
endless(void *arg)
{
	atomic_long *mine = arg;

	for (;;) {
		work(1);
		atomic_fetch_add(mine, 1);
	}
	return NULL;
}

static void
exit_amidst(int n)
{
	static atomic_long counts[256];
	pthread_t thread;
	long sum = 0;
	int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, endless, &counts[i]))
			abort();
	for (i = 0; i < n; i++)
		while (!atomic_load(&counts[i]))
			;
	printf("all running\n");
	fflush(stdout);
	while (sum < calls) {
		sum = 0;
		for (i = 0; i < n; i++)
			sum += atomic_load(&counts[i]);
	}
	printf("at least %ld\n", sum);
	fflush(stdout);
	_exit(3);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "hammer";
	int n = argc > 2 ? atoi(argv[2]) : 8;

	calls = argc > 3 ? atol(argv[3]) : 100;
	if (!strcmp(mode, "hammer"))
		hammers(n);
	else if (!strcmp(mode, "storm"))
		storm(4, n);
	else if (!strcmp(mode, "leader"))
		leader_exits();
	else if (!strcmp(mode, "vanish"))
		vanishing(n);
	else if (!strcmp(mode, "exit"))
		exit_amidst(n);
	printf("done %ld\n", atomic_load(&done));
	return 0;
}
