/*
 * Each of its threads calls count() and spins.  Then it writes a byte to the file
 * that it is given, and waits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_barrier_t counted;
static volatile int calls;

__attribute__((noinline)) void
count(void)
{
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

static void *
work(void *arg)
{
	count();
	pthread_barrier_wait(&counted);
	for (;;)
		;
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t thread;

	pthread_barrier_init(&counted, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
	pthread_barrier_wait(&counted);
	if (argc != 2 || write(open(argv[1], O_WRONLY), ".", 1) != 1)
		return 1;
	for (;;)
		pause();
}
