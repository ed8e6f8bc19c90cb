/*
 * A library to be loaded, unloaded and loaded again.  Compiled twice, as two
 * libraries, with TAG one and two.  With -DROOM it has so many bytes of text more.
 */
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define PASTE(a, b) a##_##b
#define NAME(a, b) PASTE(a, b)
#define OWN(name) NAME(name, TAG)
#define QUOTE(x) #x
#define QUOTED(x) QUOTE(x)

static volatile long sink;

#ifdef ROOM
__asm__(".pushsection .text\n.zero " QUOTED(ROOM) "\n.popsection");
#endif

int OWN(fast)(int n);
int OWN(work)(int n);
pid_t getppid(void);

__attribute__((constructor)) static void
OWN(init)(void)
{
	sink++;
}

__attribute__((destructor)) static void
OWN(fini)(void)
{
	sink++;
}

static int
OWN(chosen)(int n)
{
	return n + 1;				/* x W */
}

/* Runs while the library is being relocated. */
static int (*OWN(resolve)(void))(int)
{
	return OWN(chosen);
}

int OWN(fast)(int n) __attribute__((ifunc(
	QUOTED(NAME(resolve, TAG)))));

static int
OWN(helper)(int n)
{
	sink += n;				/* x W */
	return OWN(fast)(n);			/* x W */
}

int
OWN(work)(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += OWN(helper)(i);		/* x W */
	return sum;
}

/* In the place of the C library's, if preloaded. */
pid_t
getppid(void)
{
	sink++;
	return 77;
}
