/*
 * Every kind of statement and expression that makes lines run, for comparison
 * with gcov's counts line by line.  Where the manual says that gcov counts
 * something else, the line ends in a comment "CASE pmon: N", pmon's count.
 * The case is spread: a statement on several lines that comes back to this one
 * after code of the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQUARE(x) ((x) * (x))
#define SWAP(a, b) do { int swap_ = (a); (a) = (b); (b) = swap_; } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CHECK(cond) \
	do { \
		if (!(cond)) \
			failures++; \
	} while (0)

static int failures;
static long sum;
static jmp_buf back;

static int
is_odd(int n)
{
	return n & 1;
}

static int
twice(int n)
{
	sum += n;
	return 2 * n;
}

static void
straight(void)
{
	int a = 1;
	int b = 2;

	a += b; b += a; a ^= b;
	sum += a; sum += twice(b); sum -= twice(a) + twice(b);
	sum +=
	    a +
	    b;
	;
	{
		int c = a;

		sum += c;
	}
}

static void
loops(int n)
{
	int i, j;

	for (i = 0; i < n; i++)
		sum += i;
	for (i = 0; i < n; i++) {
		if (is_odd(i))
			continue;
		sum++;
		if (i > 6)
			break;
	}
	while (n > 0) {
		n--;
		sum += n;
	}
	do {
		n++;
		sum -= n;
	} while (n < 5);
	for (i = 0, j = 10; i < j; i++, j--)
		for (n = 0; n < 3; n++)
			sum += i * j + n;
	for (;;) {
		if (++n > 9)
			break;
	}
	while (n-- > 0)
		;
	for (i = 0; i < 4; i++) {
	}
	do
		sum++;
	while (++i < 8);
	EACH(k, 3) {
		sum += k;
	}
	EACH(k, 3)
		EACH(l, 2)
			sum += k * l;
}

static void
nested_loops(void)
{
	for (int i = 0; i < 3; i++) {
		int j = 0;

		while (j < i) {
			int k = 0;

			do {
				if (k == 1)
					goto next;
				sum += i + j + k;
				k++;
			} while (k < 3);
		next:
			j++;
		}
	}
}

static int
chain(int n)
{
	if (n < 0)
		return -1;
	else if (n == 0)
		sum += 1;
	else if (n == 1 || n == 2)
		sum += 2;
	else if (n > 3 && is_odd(n))
		sum += 3;
	else {
		sum += 4;
		sum += n;
	}
	if (n > 2) sum++; else sum--;
	if (n > 100)
		sum = 0;
	if (n == 2) { sum++; sum++; }
	if (n > 1) {
		if (n > 2)
			if (n > 3)
				return 3;
			else
				return 2;
		else
			sum++;
	}
	return sum & 1 ? 1 : 0;
}

static int
choose(int n)
{
	int r = 0;

	switch (n) {
	case 0:
		r = 1;
		break;
	case 1:
	case 2:
		r = 2;
		/* fall through */
	case 3:
		r += 3;
		break;
	case 4: r = 4; break;
	case 5: r = 5; sum++; break;
	case 7: {
		int s = n;

		r = s;
		break;
	}
	case 8:
		return 8;
	default:
		r = -1;
	}
	switch (n & 1) {
	case 0:
		sum += 2;
		break;
	case 1:
		sum += 3;
	}
	switch (n) {
	case 1000:
		sum = 0;
		break;
	case -1000000:
		sum = 1;
		break;
	}
	return r;
}

static long
expressions(int a, int b)
{
	long r = a > b ? a : b;

	r += a == 3 ? twice(a) : b == 2 ? twice(b) : 0;
	r += (a > 1 && b > 1) || (a == 0 && b == 0);
	r += is_odd(a) && is_odd(b);
	r += is_odd(a) ||
	    is_odd(b);
	r = (a++, b++, r + a + b);
	r += MAX(a, b) + SQUARE(a + b);
	r += a ? 1
	    : 2;
	if (a > 2 &&
	    b > 2)
		r++;
	if ((a & 1 && b & 1) || (!(a & 1) && /* spread pmon: 45 */
	    !(b & 1)))
		r--;
	if (!(a > b || b > 3) && r) r += 2;
	SWAP(a, b);
	CHECK(a != 77);
	CHECK(r == r &&
	    b == b);
	r += sizeof(int[MAX(1, 2)]) + (a > b) - !a + ~b;
	return r;
}

static int
jumps(int n)
{
	int tries = 0;

again:
	tries++;
	if (tries < n)
		goto again;
	if (n == 3)
		goto out;
	sum += n;
	if (n == 4) goto out; else sum++;
	sum--;
out:
	return tries;
}

static int
computed(int n)
{
	static void *const to[] = { &&zero, &&one, &&two };

	goto *to[n % 3];
zero:
	sum++;
	return 0;
one:
	sum += 2;
two:
	sum += 3;
	return n;
}

static int
fib(int n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static int
compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static int
total(int n, ...)
{
	va_list list;
	int r = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		r += va_arg(list, int);
	va_end(list);
	return r;
}

static void
leave(int n)
{
	if (n == 0)
		longjmp(back, 1);
	if (n > 0)
		leave(n - 1);
	sum = 0;
}

static int one_line(int n) { return n + 1; }

static int two_lines(int n) { sum += n;
	return n; }

static int
never(int n)
{
	int r = 0;

	for (int i = 0; i < n; i++)
		r += i;
	if (r)
		return r;
	return 0;
}

static void
one_line_loops(char *s)
{
	while (*s) s++;
	for (int i = 0; i < 10; i++) sum += i;
	do sum++; while (sum % 7);
	for (int i = 0; i < 2; i++) { sum++; twice(i); }
}

struct point {
	int x, y;
};

static struct point
add(struct point a, struct point b)
{
	struct point r = { .x = a.x + b.x, .y = a.y + b.y };

	return r;
}

static void
data(void)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2 };
	struct point p = { 1, 2 }, q = { .x = 3 };
	char text[32] = "";

	qsort(numbers, 6, sizeof numbers[0], compare);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sum += numbers[i] * (int)i;
	p = add(p, add(q, p));
	sum += p.x + p.y;
	snprintf(text, sizeof text, "%d %s",
	    p.x, "text");
	sum += strlen(text) + total(3, 1, 2, /* spread pmon: 2 */
	    3) + total(0);
	sum += total(2,
	    twice(1),
	    twice(2));
}

int
main(int argc, char **argv)
{
	volatile int left = 0;
	int (*call)(int) = one_line;

	straight();
	for (int i = 1; i < 12; i += 3)
		loops(i);
	nested_loops();
	for (int i = -2; i < 9; i++)
		sum += chain(i);
	for (int i = -1; i < 12; i++) sum += choose(i);
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 5; j++)
			sum += expressions(i, j);
	for (int i = 0; i < 6; i++) {
		sum += jumps(i);
		sum += computed(i);
	}
	sum += fib(9);
	data();
	if (setjmp(back) == 0)
		leave(3);
	else
		left++;
	for (int i = 0; i < 5; i++)
		sum += call(i);
	for (int i = 0; i < 3; i++)
		one_line_loops("some text");
	for (int i = 0; i < 3; i++)
		two_lines(i);
	if (argc > 5)
		never(argc);
	printf("%ld %d %d %s\n", sum, failures, left, argc > 1 ? argv[1] : "");
	exit(failures ? 1 : 4);
}
