/*
 * Threads of several processes that call the same functions at the same time,
 * and what a program can do to the counters that they share.  Built with
 * may_gs.S.  Its arguments:
 *
 *   hammer THREADS N  as many threads in this process, and in a child made
 *                     meanwhile, call work() N times each
 *   pair              a child and its parent call work() 100 times each, and
 *                     live on until standard input ends
 *   kill              as without arguments, and kills itself
 *   gs                work() is called 1000 times; says whether gs is 0
 *   zero, restore, unmap  writes 0 over the counters, writes back what they
 *                     were before, or maps over them, between 1000 and 1000
 *                     calls of work()
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 64, HEAD = 1 << 16 };

static char before[HEAD];
static pthread_barrier_t barrier;
static volatile long sink;
static long rounds;

__attribute__((noinline)) static long
work(long n)
{
	__asm__ volatile("");
	return n % 3 ? n + 1 : n / 2;
}

static void
works(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += work(i);
	sink = sum;
}

static void *
thread(void *arg)
{
	if (arg)
		pthread_barrier_wait(&barrier);
	works(rounds);
	return NULL;
}

static void
threads(int n, void *wait)
{
	pthread_t ids[THREADS_MAX];

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, thread, wait);
	if (wait)
		pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

__attribute__((noinline)) static void
hammer(int n)
{
	pid_t pid;
	int status;

	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	pid = fork();
	threads(n, &barrier);
	if (!pid)
		_exit(7);
	waitpid(pid, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
}

static void
pair(void)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		return;
	pid = fork();
	works(100);
	if (!pid) {
		if (write(ends[1], "", 1) != 1)
			_exit(1);
		read(0, &c, 1);
		_exit(0);
	}
	read(ends[0], &c, 1);
	puts("ready");
	fflush(stdout);
	read(0, &c, 1);
	waitpid(pid, NULL, 0);
}

/* Where pmon's shared memory is mapped, or NULL. */
static char *
counters(size_t *size)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, hi;
	char line[512], rights[5];
	char *found = NULL;

	while (!found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s", &lo, &hi, rights) == 3 &&
		    !strcmp(rights, "rw-s")) {
			found = (char *)lo;
			*size = hi - lo;
		}
	fclose(f);
	return found;
}

static void
tamper(const char *how)
{
	size_t size = 0;
	char *own = counters(&size);

	if (!own)
		return;
	if (size > HEAD)
		size = HEAD;
	if (!strcmp(how, "zero")) {
		memset(own, 0, size);
	} else if (!strcmp(how, "restore")) {
		memcpy(before, own, size);
		works(1000);
		raise(SIGURG);
		memcpy(own, before, size);
	} else if (!strcmp(how, "unmap")) {
		mmap(own, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		     MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

int
main(int argc, char **argv)
{
	unsigned long gs = 1;

	if (argc == 4 && !strcmp(argv[1], "hammer")) {
		rounds = atol(argv[3]);
		hammer(atoi(argv[2]));
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "pair")) {
		pair();
		return 0;
	}
	works(1000);
	if (argc > 1)
		tamper(argv[1]);
	works(1000);
	if (argc > 1 && !strcmp(argv[1], "kill"))
		kill(getpid(), SIGKILL);
	syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
	printf("gs %lx\n", gs);
	return 0;
}
