/*
 * Faults and signals.  Its argument says which: each prints what it did, or
 * dies of it.
 */
#include "lib.h"

enum { ILL = 4, FPE = 8, SEGV = 11, TERM = 15, USR1 = 30 };

static volatile int caught, times;
static int *volatile pointer;
static int cell = 42;

/* The fault is mended, and the instruction begun again. */
static void
mend(int signal, int code, void *context)
{
	caught = signal;
	times++;
	pointer = &cell;
	__asm__ volatile ("movl %0,%%r6" : : "r" (&cell));
}

static void
count(int signal, int code, void *context)
{
	caught = signal;
	times++;
}

static void
handle(int signal, void (*handler)(int, int, void *))
{
	struct sigvec vec = { handler, 0, 0 };

	if (sigvec(signal, &vec, NULL))
		put("sigvec failed\n");
}

/* Reads through r6, which the handler sets. */
__attribute__((noinline)) static int
mended(void)
{
	int value;

	__asm__ volatile ("clrl %%r6\n"
			  "	movl (%%r6),%0" : "=r" (value) : : "r6");
	return value;
}

static void
say(const char *what)
{
	put(what);
	put(" ");
	put_number(caught);
	put(" ");
	put_number(times);
	put("\n");
}

static volatile int quotient;

static void
run(char what)
{
	volatile int zero = 0;

	switch (what) {
	case 'm':		/* mend an access violation, five times */
		handle(SEGV, mend);
		for (int i = 0; i < 5; i++)
			put_number(mended());
		say(" mended");
		break;
	case 'k':		/* signals to itself, one of them blocked */
		handle(USR1, count);
		kill(getpid(), USR1);
		sigblock(1 << (USR1 - 1));
		kill(getpid(), USR1);
		say("blocked");
		sigsetmask(0);
		say("killed");
		break;
	case 'f':		/* a trap, which comes behind its instruction */
		handle(FPE, count);
		for (int i = 0; i < 3; i++)
			quotient = 7 / zero;
		say("divided");
		break;
	case 's':		/* a death by access violation */
		put("storing\n");
		pointer = (int *)8;
		*pointer = 1;
		break;
	case 't':		/* text cannot be written */
		put("patching\n");
		pointer = (int *)put;
		*pointer = 1;
		break;
	case 'i':		/* a privileged instruction */
		put("halting\n");
		__asm__ volatile ("halt");
		break;
	case 'o':		/* a reserved operand */
		__asm__ volatile ("movf $0x8000,%%r0" : : : "r0");
		break;
	case 'T':
		kill(getpid(), TERM);
		break;
	case 'n':
		put_number(nosuch());
		put(" ");
		put_number(errno);
		put("\n");
		break;
	case 'l':
		put("looping\n");
		for (;;)
			times++;
	}
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i][0]);
	return 0;
}
