/*
 * A library to be preloaded into programs that do one thing at some addresses
 * and another at others, or something for each digit of a process's number:
 * those numbers, the thread's, and what the program maps and allocates are the
 * same in each run, whoever runs it.  What is freed is not used again.
 * Arguments and environment are aligned alike, and the kernel tells how much
 * room a signal needs, which valgrind's does not.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Addresses that are free in any process, valgrind's too. */
enum { MEGABYTE = 1 << 20 };
static unsigned long next = 0x400000000;
static const unsigned long heap = 0x500000000, heap_size = 2048ul * MEGABYTE;
static unsigned long used;

pthread_t
pthread_self(void)
{
	return 4711;
}

enum { PROCESS = 4712, PARENT = 4713 };

pid_t
getpid(void)
{
	return PROCESS;
}

pid_t
getppid(void)
{
	return PARENT;
}

int
kill(pid_t pid, int signal)
{
	return (int)syscall(SYS_kill, pid == PROCESS ? syscall(SYS_getpid) :
			    pid, signal);
}

unsigned long
getauxval(unsigned long type)
{
	return type == AT_MINSIGSTKSZ ? 4096 : 0;
}

void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (!addr && flags & MAP_ANONYMOUS) {
		addr = (void *)__atomic_fetch_add(&next,
			(len | (MEGABYTE - 1)) + 1, __ATOMIC_RELAXED);
		flags |= MAP_FIXED;
	}
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

/* The size of each piece is in front of it. */
void *
malloc(size_t size)
{
	static int ready;
	unsigned long at, whole = (size + 31) & ~15ul;

	if (!__atomic_exchange_n(&ready, 1, __ATOMIC_SEQ_CST))
		syscall(SYS_mmap, heap, heap_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
			-1, 0L);
	at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
	if (size > heap_size || at + whole > heap_size) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(heap + at) = size;
	return (void *)(heap + at + 16);
}

void
free(void *p)
{
}

void *
calloc(size_t n, size_t size)
{
	if (size && n > heap_size / size) {
		errno = ENOMEM;
		return NULL;
	}
	return malloc(n * size);
}

void *
realloc(void *p, size_t size)
{
	size_t old = p ? ((size_t *)p)[-2] : 0;
	void *q = malloc(size);

	return q && p ? memcpy(q, p, old < size ? old : size) : q;
}

__attribute__((constructor)) static void
strings_move(int argc, char **argv, char **env)
{
	for (char **s = argv; *s; s++)
		*s = strcpy(malloc(strlen(*s) + 1), *s);
	for (char **s = env; *s; s++)
		*s = strcpy(malloc(strlen(*s) + 1), *s);
}
