/*
 * Runs a copy of a function of its own that it has never called: with a
 * breakpoint of pmon's, if there is one at the function's beginning.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline, used)) int
twice(int n)
{
	return 2 * n;
}

int
main(void)
{
	int (*volatile from)(int) = twice;
	int (*copy)(int);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, (void *)from, 16);
	copy = (int (*)(int))page;
	printf("%d\n", copy(21));
	return 0;
}
