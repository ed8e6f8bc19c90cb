/*
 * limited MB THREADS: limits its address space to MB more than it has, makes so
 * many threads that live at the same time, and then needs nearly all that is
 * left.  It says whether it got that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { THREADS_MAX = 1000, STACK = 1 << 16, KB = 1024, MB = 1 << 20 };

static pthread_barrier_t all;

__attribute__((noipa)) long
work(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		if (i & 1)
			sum += i;
		else
			sum ^= i;
	return sum;
}

static void *
thread(void *arg)
{
	work(10);
	pthread_barrier_wait(&all);
	work(10);
	return arg;
}

static size_t
size_now(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	size_t kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmSize: %zu", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb * KB;
}

int
main(int argc, char **argv)
{
	int n = atoi(argv[2]), made = 0;
	static pthread_t threads[THREADS_MAX];
	static char stacks[THREADS_MAX][STACK] __attribute__((aligned(4096)));
	struct rlimit limit;
	pthread_attr_t attr;
	void *memory;

	limit.rlim_cur = limit.rlim_max = size_now() +
					  (size_t)atoi(argv[1]) * MB;
	if (setrlimit(RLIMIT_AS, &limit))
		return 1;
	pthread_barrier_init(&all, NULL, (unsigned)n + 1);
	pthread_attr_init(&attr);
	for (; made < n; made++) {
		pthread_attr_setstack(&attr, stacks[made], STACK);
		if (pthread_create(&threads[made], &attr, thread, NULL))
			return 2;
	}
	pthread_barrier_wait(&all);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	memory = mmap(NULL, (size_t)(atoi(argv[1]) - 1) * MB,
		      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	printf("%d threads, %s memory\n", made,
	       memory == MAP_FAILED ? "no" : "and");
	return 0;
}
