/*
 * A little of everything, in amounts that the program works out itself:
 * function pointers, recursion, switch tables, string output, file input.
 * It prints its own counts.
 *
 *	many [FILE]	reads FILE, or else its standard input
 *	many -crash	dies of SIGSEGV; -raise: of SIGTERM; -loop: never
 */
#include "rt.h"

static long calls[4], cases[12], lines, letters;

static int add(int a, int b) { calls[0]++; return a + b; }
static int sub(int a, int b) { calls[1]++; return a - b; }
static int both(int a, int b) { calls[2]++; return a & b; }
static int (*volatile const table[])(int, int) = { add, sub, both };

static long __attribute__((noinline))
fib(int n)
{
	calls[3]++;
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static int __attribute__((noinline))
dense(int x)
{
	switch (x) {
	case 0: cases[0]++; return 3;
	case 1: cases[1]++; return 14;
	case 2: cases[2]++; return 15;
	case 3: cases[3]++; return 92;
	case 4: cases[4]++; return 65;
	case 5: cases[5]++; return 35;
	case 6: cases[6]++; return 89;
	case 7: cases[7]++; return 79;
	default: cases[8]++; return -1;
	}
}

/* A switch in a loop, whose cases fall through. */
static int __attribute__((noinline))
scan(const char *p, long n)
{
	int state = 0;

	for (; n > 0; n--, p++) {
		if (*p >= 'a' && *p <= 'z')
			letters++;
		switch (*p) {
		case '\n': lines++; state = 0; break;
		case ' ': state |= 1; break;
		case '!': state ^= 2;	/* fallthrough */
		case '"': state += 3; break;
		case '#': state -= 1; break;
		case '$': cases[9]++; state = 9; break;
		case '%': cases[10]++;	/* fallthrough */
		case '&': cases[11]++; break;
		case '\'': state <<= 1; break;
		}
	}
	return state;
}

static void
report(const char *name, long n)
{
	rt_puts(name);
	rt_puts(" ");
	rt_number(n);
	rt_puts("\n");
}

static int
same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static void
mischief(const char *what)
{
	if (same(what, "-crash"))
		*(volatile int *)4 = 1;
	if (same(what, "-raise"))
		rt_kill(rt_getpid(), 15);
	while (same(what, "-loop"))
		calls[0]++;
}

int
main(int argc, char **argv)
{
	static char buf[100];
	long n, sum = 0;
	int fd = STDIN;

	if (argc > 1 && argv[1][0] == '-')
		mischief(argv[1]);
	else if (argc > 1)
		fd = (int)rt_open(argv[1]);
	for (int i = 0; i < 30; i++)
		sum = table[i & 1 ? 1 : (i & 2)]((int)sum, i);
	for (int i = -2; i < 20; i++)
		sum += dense(i & 15);
	sum += fib(12);
	while ((n = rt_read(fd, buf, sizeof(buf))) > 0)
		sum += scan(buf, n);
	for (int i = 0; i < 4; i++)
		report("calls", calls[i]);
	for (int i = 0; i < 12; i++)
		report("case", cases[i]);
	report("lines", lines);
	report("letters", letters);
	report("sum", sum);
	return (int)(lines & 63);
}
