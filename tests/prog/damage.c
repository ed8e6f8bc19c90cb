/*
 * damage WHAT HOW [ROUNDS [THREADS]]: in each round, calls work() 1000 times in
 * each thread, makes memory unusable that it has no business with, and
 * dereferences a null pointer in peek(), as it does once before.  WHAT is the memory: counters or code,
 * as it finds it in its mappings; none is there if nobody counts.  HOW is what
 * the program does to it.  One round and one thread, if none are given.  Threads
 * work while the damage is done.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { CALLS = 1000, MAPS = 64, THREADS = 16, GUARD_INSTALL = 102 };

struct map {
	char *lo;
	size_t size;
	int readable;
};

static const char *what, *how;
static int rounds = 1, nthreads = 1;
static _Thread_local volatile unsigned sum;
static unsigned sums[THREADS];
static int faults, misplaced;
static sigjmp_buf away;
static pthread_barrier_t begun;

__attribute__((noinline)) static void
work(void)
{
	sum = sum * 3 + 1;
	if (sum % 5 == 0)
		sum += 2;
}

__attribute__((noinline, noclone)) static int
peek(const volatile int *at)
{
	return *at + 1;
}

#ifdef GS
/* Never called: so pmon must not use the register. */
void
register_set(void *base)
{
	__asm__ volatile("wrgsbase %0" : : "r"(base));
}
#endif

/* The handler must see what it would see if nobody counted. */
static void
on_fault(int signal, siginfo_t *info, void *context)
{
	uintptr_t pc = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	faults++;
	if (info->si_addr || pc - (uintptr_t)peek >= 16)
		misplaced++;
	siglongjmp(away, 1);
}

static void
works(void)
{
	for (int i = 0; i < CALLS; i++)
		work();
}

/* The mappings that a line of /proc/self/maps makes one of `what`. */
static int
maps_find(struct map *maps)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, hi;
	char line[512], prot[5];
	int n = 0;

	while (fgets(line, sizeof(line), f)) {
		int anonymous = !strchr(line, '/') && !strchr(line, '[');

		if (sscanf(line, "%lx-%lx %4s", &lo, &hi, prot) != 3 ||
		    n == MAPS)
			continue;
		if (strcmp(what, "code") ? !strstr(line, "memfd:") :
					   !anonymous || prot[2] != 'x')
			continue;
		maps[n].lo = (char *)lo;
		maps[n].size = hi - lo;
		maps[n++].readable = prot[0] == 'r';
	}
	fclose(f);
	return n;
}

static void
over(const struct map *map, int prot)
{
	mmap(map->lo, map->size, prot,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* Memory of the program's own, with the same contents. */
static void
copy(const struct map *map)
{
	char *own;

	if (!map->readable)
		return;
	own = mmap(NULL, map->size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	memcpy(own, map->lo, map->size);
	mremap(own, map->size, map->size, MREMAP_MAYMOVE | MREMAP_FIXED,
	       map->lo);
}

static void
damage_one(const struct map *map)
{
	if (!strcmp(how, "none"))
		mprotect(map->lo, map->size, PROT_NONE);
	else if (!strcmp(how, "read"))
		mprotect(map->lo, map->size, PROT_READ);
	else if (!strcmp(how, "key"))
		pkey_mprotect(map->lo, map->size, PROT_READ | PROT_WRITE,
			      pkey_alloc(0, PKEY_DISABLE_ACCESS));
	else if (!strcmp(how, "unmap"))
		munmap(map->lo, map->size);
	else if (!strcmp(how, "page"))
		munmap(map->lo, 4096);
	else if (!strcmp(how, "move"))
		mremap(map->lo, map->size, map->size,
		       MREMAP_MAYMOVE | MREMAP_FIXED,
		       (char *)0x100000000000 +
			       ((uintptr_t)map->lo & 0xffffffffff));
	else if (!strcmp(how, "copy"))
		copy(map);
	else if (!strcmp(how, "drop"))
		madvise(map->lo, map->size, MADV_DONTNEED);
	else if (!strcmp(how, "guard"))
		madvise(map->lo, map->size, GUARD_INSTALL);
	else if (!strcmp(how, "fork"))
		madvise(map->lo, map->size, MADV_DONTFORK);
	else if (!strcmp(how, "wipe"))
		madvise(map->lo, map->size, MADV_WIPEONFORK);
	else if (!strcmp(how, "reserve"))
		over(map, PROT_NONE);
	else if (!strcmp(how, "over"))
		over(map, PROT_READ | PROT_WRITE);
}

static void
damage(void)
{
	struct map maps[MAPS];
	int n = maps_find(maps);

	for (int i = 0; i < n; i++)
		damage_one(&maps[i]);
}

static void
peeks(void)
{
	if (!sigsetjmp(away, 1))
		peek(NULL);
}

static void
round_do(void)
{
	int status;

	works();
	damage();
	peeks();
	if (strcmp(how, "fork") && strcmp(how, "wipe"))
		return;
	fflush(stdout);
	if (!fork()) {
		works();
		_exit(sum & 127);
	}
	wait(&status);
	printf("child %x\n", status);
}

static void *
thread(void *number)
{
	pthread_barrier_wait(&begun);
	for (int i = 0; i < rounds; i++)
		works();
	sums[(intptr_t)number] = sum;
	return NULL;
}

int
main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO };
	pthread_t threads[THREADS];

	if (argc < 3)
		return 2;
	what = argv[1];
	how = argv[2];
	if (argc > 3)
		rounds = atoi(argv[3]);
	if (argc > 4)
		nthreads = atoi(argv[4]);
	sigaction(SIGSEGV, &action, NULL);
	works();
	peeks();
	pthread_barrier_init(&begun, NULL, nthreads);
	for (intptr_t i = 1; i < nthreads; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	pthread_barrier_wait(&begun);
	for (int i = 0; i < rounds; i++)
		round_do();
	works();
	for (int i = 1; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < nthreads; i++)
		printf("%u\n", sums[i]);
	printf("%u, %d faults, %d misplaced\n", sum, faults, misplaced);
	return 0;
}
