/*
 * damage WHAT HOW [ROUNDS [THREADS]]: in each round, calls work() 1000 times in
 * each thread, makes memory unusable that it has no business with, and
 * dereferences a null pointer in peek(), as it does once before.  WHAT is the
 * memory, counters or code, which the program finds in its mappings; none is
 * there if nobody counts.  HOW is what the program does to the memory.  One
 * round and one thread, if none are given.  Threads work while the damage is
 * done.  With HOW "gone" a thread more calls carries() meanwhile; with "blocked"
 * and "ignored", work() is called with SIGSEGV blocked or ignored.  In the end
 * the program says what has become of memory of its own, of registers, and of
 * SIGSEGV.
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

enum {
	CALLS = 1000,
	MAPS = 64,
	THREADS = 16,
	PAGE = 4096,
	FILLED = 0x5a,
	CARRIES = 50,
	GUARD_INSTALL = 102,
};

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
static struct map owned[2 * MAPS];	/* memory of the program's own */
static int nowned;
static volatile int done, carried;
static int miscarried;
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

/* n; flags are in use in all of the loop, so that probes keep them. */
__attribute__((noinline, noclone)) static unsigned long
carries(unsigned long n)
{
	unsigned long sum = 0;

	__asm__ volatile("xor %%edx, %%edx\n"
			 "1: lea 1(%0), %0\n"
			 "cmovnz %%rdx, %0\n"
			 "lea -1(%1), %1\n"
			 "jrcxz 2f\n"
			 "jmp 1b\n"
			 "2:"
			 : "+a"(sum), "+c"(n)
			 :
			 : "rdx", "cc");
	return sum;
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
over(char *lo, size_t size, int prot)
{
	mmap(lo, size, prot,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (nowned < 2 * MAPS)
		owned[nowned++] = (struct map){ .lo = lo, .size = size };
}

static void
fill(char *lo, size_t size)
{
	over(lo, size, PROT_READ | PROT_WRITE);
	memset(lo, FILLED, size);
}

/* How many bytes that the program owns are not as it left them. */
static size_t
owned_changed(void)
{
	char byte = strcmp(how, "reserve") ? FILLED : 0;
	size_t changed = 0;

	for (int i = 0; i < nowned; i++) {
		mprotect(owned[i].lo, owned[i].size, PROT_READ | PROT_WRITE);
		for (size_t k = 0; k < owned[i].size; k++)
			changed += owned[i].lo[k] != byte;
	}
	return changed;
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
	if (!strcmp(how, "none") || !strcmp(how, "blocked") ||
	    !strcmp(how, "ignored"))
		mprotect(map->lo, map->size, PROT_NONE);
	else if (!strcmp(how, "read"))
		mprotect(map->lo, map->size, PROT_READ);
	else if (!strcmp(how, "key"))
		pkey_mprotect(map->lo, map->size, PROT_READ | PROT_WRITE,
			      pkey_alloc(0, PKEY_DISABLE_ACCESS));
	else if (!strcmp(how, "unmap") || !strcmp(how, "gone"))
		munmap(map->lo, map->size);
	else if (!strcmp(how, "page") || !strcmp(how, "part"))
		munmap(map->lo, PAGE);
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
		over(map->lo, map->size, PROT_NONE);
	else if (!strcmp(how, "over"))
		over(map->lo, map->size, PROT_READ | PROT_WRITE);
	else if (!strcmp(how, "fill"))
		fill(map->lo, map->size);
	if (!strcmp(how, "part"))
		fill(map->lo + PAGE, map->size - PAGE);
}

static void
damage(void)
{
	static struct map maps[MAPS];
	static int n;

	/* Again where it was found, whatever is there now. */
	if (!n || strcmp(how, "gone"))
		n = maps_find(maps);
	for (int i = 0; i < n; i++)
		damage_one(&maps[i]);
}

static void
peeks(void)
{
	if (!sigsetjmp(away, 1))
		peek(NULL);
}

/* Damage, and work on, with SIGSEGV blocked or ignored. */
static void
damage_deaf(void)
{
	struct sigaction own, now;
	sigset_t fault, mask;

	sigemptyset(&fault);
	sigaddset(&fault, SIGSEGV);
	sigaction(SIGSEGV, NULL, &own);
	if (!strcmp(how, "blocked"))
		sigprocmask(SIG_BLOCK, &fault, NULL);
	else
		signal(SIGSEGV, SIG_IGN);
	damage();
	works();
	sigprocmask(SIG_UNBLOCK, &fault, &mask);
	sigaction(SIGSEGV, &own, &now);
	printf("blocked %d, %s\n", sigismember(&mask, SIGSEGV),
	       now.sa_handler == SIG_DFL   ? "default" :
	       now.sa_handler == SIG_IGN   ? "ignored" :
	       now.sa_sigaction == on_fault ? "handled" :
					      "odd");
}

static void
round_do(void)
{
	int status, before;

	works();
	if (!strcmp(how, "blocked") || !strcmp(how, "ignored"))
		damage_deaf();
	else
		damage();
	peeks();
	before = carried;
	while (!strcmp(how, "gone") && carried < before + 3)
		sched_yield();
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

static void *
carrier(void *none)
{
	while (!done) {
		if (carries(CARRIES) != CARRIES)
			miscarried++;
		carried++;
	}
	return none;
}

static void
rounds_do(void)
{
	pthread_t other;

	if (!strcmp(how, "gone"))
		pthread_create(&other, NULL, carrier, NULL);
	for (int i = 0; i < rounds; i++)
		round_do();
	done = 1;
	if (!strcmp(how, "gone"))
		pthread_join(other, NULL);
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
	rounds_do();
	works();
	for (int i = 1; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < nthreads; i++)
		printf("%u\n", sums[i]);
	printf("%u, %d faults, %d misplaced, %d miscarried\n", sum, faults,
	       misplaced, miscarried);
	/* What can be written is counted in. */
	if (!strcmp(what, "code") ? strcmp(how, "over") :
				    !strcmp(how, "reserve"))
		printf("%zu bytes changed\n", owned_changed());
	return 0;
}
