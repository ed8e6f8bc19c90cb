/*
 * Allocation that cannot fail, growing arrays, and strings.  Never owns what
 * it gives out: the caller releases that with free().
 */
#include "util/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STATUS_OUT_OF_MEMORY = 125 };
/* glibc takes no larger ones for M_MMAP_THRESHOLD. */
enum { MEM_KEPT = 32 << 20, MEM_ROOM = 1 << 20 };
enum { HUGE_PAGE = 2 << 20, MEM_HUGE = 64 << 20 };

static void *
mem_check(void *p)
{
	if (p)
		return p;
	fputs("pmon: out of memory\n", stderr);
	exit(STATUS_OUT_OF_MEMORY);
}

#ifdef __GLIBC__
/*
 * Extend the heap by MEM_HUGE, of which only what is touched takes room, and have
 * that consist of huge pages, where the kernel gives them if asked (madvise(2)):
 * one page fault instead of 512.
 */
static void
heap_begin(void)
{
	uintptr_t lo = (uintptr_t)sbrk(0), hi;
	/* The compiler would drop a malloc that is freed at once. */
	void *volatile p;

	mallopt(M_TOP_PAD, MEM_HUGE);
	p = malloc(1);
	free(p);
	hi = (uintptr_t)sbrk(0);
	lo = (lo + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	if (hi > lo)
		madvise((void *)lo, hi - lo, MADV_HUGEPAGE);
}
#endif

void
mem_keep(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 8 * MEM_KEPT);
	mallopt(M_MMAP_THRESHOLD, MEM_KEPT);
	heap_begin();
	mallopt(M_TOP_PAD, MEM_ROOM);
#endif
}

void *
mem_alloc(size_t size)
{
	return mem_check(calloc(1, size ? size : 1));
}

void *
mem_map(size_t size)
{
	void *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem_check(p == MAP_FAILED ? NULL : p);
}

void
mem_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size ? size : 1);
}

void *
mem_grow(void *p, size_t count, size_t size)
{
	return mem_check(reallocarray(p, count ? count : 1, size));
}

uint32_t *
mem_numbers(size_t n, uint32_t value)
{
	uint32_t *numbers = mem_alloc(n * sizeof(*numbers));

	for (size_t i = 0; i < n; i++)
		numbers[i] = value;
	return numbers;
}

char *
mem_strdup(const char *s)
{
	return mem_check(strdup(s));
}

char *
mem_strndup(const char *s, size_t n)
{
	return mem_check(strndup(s, n));
}

char *
mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return mem_check(s);
}

char *
mem_append(char *text, const char *between, const char *part)
{
	char *longer = mem_printf("%s%s%s", text, *text ? between : "", part);

	free(text);
	return longer;
}

char *
mem_join(char *text, const char *part)
{
	return mem_append(text, ", ", part);
}

enum { FIRST = 4 };	/* room of arrays that are not empty */

void *
vec_make(size_t n, size_t size)
{
	size_t room = FIRST;

	while (room < n)
		room *= 2;
	return mem_grow(NULL, room, size);
}

void *
vec_grow(void *vec, size_t n, size_t size)
{
	/* 1 and 2 elements fill none. */
	if (n && n < FIRST)
		return vec;
	return mem_grow(vec, n ? 2 * n : FIRST, size);
}
