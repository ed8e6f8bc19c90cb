/*
 * A library of functions whose counts are known, for tests that run them
 * relocated: recursion, tail calls, switches, callbacks, long jumps, strings,
 * floating point, atomics, computed gotos.  work() runs all of it and returns
 * a sum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNC __attribute__((noinline, visibility("default")))

long work(void);
long fib(long n);
long even(long n);
long odd(long n);
long classify(unsigned c);
long jumping(int n);
long average(int n, ...);
double dot(const double *a, const double *b, int n);
long collatz(uint64_t n);
long bump(atomic_long *p, int n);
long sorted(int n);
int compare(const void *a, const void *b);
long leap(jmp_buf *to, int n);
long strings(const char *s);
long interpret(const unsigned char *code, long x);
uint64_t wide(uint64_t a, uint64_t b, int n);

FUNC long
fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

FUNC long
even(long n)
{
	return n ? odd(n - 1) : 1;
}

FUNC long
odd(long n)
{
	return n ? even(n - 1) : 0;
}

FUNC long
classify(unsigned c)
{
	switch (c % 12) {
	case 0: return c + 7;
	case 1: return c * 3;
	case 2: return c ^ 0x55;
	case 3: return c >> 1;
	case 4: return labs((long)c - 40);
	case 5: return c - 9;
	case 7: return fib(3) + c;
	case 8: return c & 0xf;
	case 9: return c | 0x100;
	case 10: return c % 5;
	default: return 1;
	}
}

FUNC long
leap(jmp_buf *to, int n)
{
	if (n > 3)
		longjmp(*to, n);
	return n + 1;
}

FUNC long
jumping(int n)
{
	jmp_buf to;
	volatile long sum = 0;
	volatile int i = 0;

	if (setjmp(to))
		sum += 100;
	while (i < n)
		sum += leap(&to, i++);
	return sum;
}

FUNC long
average(int n, ...)
{
	va_list ap;
	long sum = 0;
	double more = 0;

	va_start(ap, n);
	for (int i = 0; i < n; i++) {
		sum += va_arg(ap, int);
		more += va_arg(ap, double);
	}
	va_end(ap);
	return sum + (long)more;
}

FUNC double
dot(const double *a, const double *b, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

FUNC long
collatz(uint64_t n)
{
	long steps = 0;

	for (; n != 1; steps++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

FUNC long
bump(atomic_long *p, int n)
{
	while (n-- > 0) {
		long old = atomic_load(p);

		while (!atomic_compare_exchange_weak(p, &old, old * 3 + 1))
			;
	}
	return *p;
}

FUNC int
compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

FUNC long
sorted(int n)
{
	int *v = malloc(n * sizeof(*v));
	long sum = 0;

	for (int i = 0; i < n; i++)
		v[i] = (i * 7919) % 1009;
	qsort(v, n, sizeof(*v), compare);
	for (int i = 1; i < n; i++)
		sum += (v[i] >= v[i - 1]) * i;
	free(v);
	return sum;
}

FUNC long
strings(const char *s)
{
	char buf[300], *p = buf;
	long sum = 0;

	memset(buf, 'x', sizeof(buf) - 1);
	buf[sizeof(buf) - 1] = 0;
	for (; *s; s++)
		if (*s != ' ')
			*p++ = *s;
	*p = 0;
	for (p = buf; *p; p++)
		sum = sum * 31 + *p;
	return sum + (long)strlen(buf);
}

/* Computed gotos, of which each has all the labels. */
FUNC long
interpret(const unsigned char *code, long x)
{
	static const void *const ops[] = { &&add, &&twice, &&minus, &&end };

	goto *ops[*code++ & 3];
add:
	x += *code;
	goto *ops[*code++ & 3];
twice:
	x *= 2;
	goto *ops[*code++ & 3];
minus:
	x -= 5;
	goto *ops[*code++ & 3];
end:
	return x;
}

/* Carries over several words: flags in use across a loop. */
FUNC uint64_t
wide(uint64_t a, uint64_t b, int n)
{
	uint64_t x[4] = { a, b, a ^ b, a + b };

	while (n-- > 0) {
		unsigned __int128 t = (unsigned __int128)x[0] * b + x[1];

		x[0] = (uint64_t)t;
		t = (unsigned __int128)x[2] + x[3] + (uint64_t)(t >> 64);
		x[1] = (uint64_t)t;
		x[2] += (uint64_t)(t >> 64) + x[3];
		x[3] ^= x[0] << 7 | x[0] >> 57;
	}
	return x[0] ^ x[1] ^ x[2] ^ x[3];
}

FUNC long
work(void)
{
	static const unsigned char code[] = { 0, 1, 2, 1, 0, 2, 1, 3 };
	double a[40], b[40];
	atomic_long n = 1;
	long sum = fib(15) + even(40) + odd(41) + jumping(12);

	for (unsigned c = 0; c < 240; c++)
		sum += classify(c);
	for (int i = 0; i < 40; i++)
		a[i] = i, b[i] = 40 - i;
	sum += (long)dot(a, b, 40) + average(3, 1, 2.5, 3, 4.5, 5, 6.5);
	for (unsigned i = 1; i < 30; i++)
		sum += collatz(i);
	sum += bump(&n, 20) + sorted(100) + strings("the quick brown fox");
	for (int i = 0; i < 10; i++)
		sum += interpret(code, i);
	return sum + (long)(wide(12345, 678910111213, 50) & 0xffff);
}
