/*
 * Calls work() 1000 times, does something to what it is counted with, calls it
 * 1000 times more, and, if that is the register or an old copy of the counters,
 * 1000 times more.  What it does is its argument; none: nothing.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 8 << 20, AREA = 1 << 16 };

static char large[LARGE] __attribute__((aligned(PAGE)));
static volatile int sum;
/* So that no instruction has the numbers in it. */
static volatile long half_call = SYS_arch_prctl / 2, half_set = ARCH_SET_GS / 2,
	half_get = ARCH_GET_GS / 2;

__attribute__((noinline)) static void
work(void)
{
	sum = sum * 3 + 1;
}

/* First entered when the counters were written over. */
__attribute__((noinline)) static void
later(void)
{
	sum += 0;
}

static void
works(void)
{
	for (int i = 0; i < 1000; i++)
		work();
}

static long
gs(long half, void *arg)
{
	return syscall(2 * half_call, 2 * half + (half == half_set), arg);
}

static void
registers(const char *how, char *own)
{
	char *block = large;

	/* Too near to the end of what is mapped to hold counters. */
	if (!strcmp(how, "small")) {
		block = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(block + PAGE, PAGE);
		block += PAGE;
	}
	gs(half_set, block);
	works();
	if (!strcmp(how, "set"))
		return;
	gs(half_set, own);
	works();
}

/* Put back what was there 1000 calls and a signal before. */
static void
restore(char *own)
{
	memcpy(large, own, AREA);
	works();
	raise(SIGURG);
	memcpy(own, large, AREA);
}

static void
memory(const char *how, char *own)
{
	char *page = (char *)((uintptr_t)own & -(uintptr_t)PAGE);
	int err = 0;

	if (!strcmp(how, "zero") || !strcmp(how, "later"))
		memset(own, 0, AREA);
	else if (!strcmp(how, "some"))
		memset(own + 64, 0, 256);
	else if (!strcmp(how, "restore"))
		restore(own);
	else if (!strcmp(how, "remove"))
		err = madvise(page, AREA, MADV_REMOVE);
	else if (!strcmp(how, "over"))
		err = mmap(page, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED;
	if (err)
		printf("%s\n", strerrorname_np(errno));
	works();
	if (!strcmp(how, "later"))
		later();
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *own = NULL;

	works();
	gs(half_get, &own);
	if (!strcmp(how, "set") || !strcmp(how, "back") ||
	    !strcmp(how, "small"))
		registers(how, own);
	else if (own && *how)
		memory(how, own);
	printf("%d\n", sum);
	return 0;
}
