/*
 * An interpreter that fills its table of labels when it starts, one by one, as
 * R's does: nothing else leads to them.  argv[1]: rounds.  Prints how far each
 * label is into run(), and what filled_asm.S reads of its own code.
 */
#include <stdio.h>
#include <stdlib.h>

enum { MORE, LESS, TWICE, AGAIN, CALL, SKIP, TEST, LEAVE, HALT, NOPS };

struct op {
	const void *label;
	int length;
	const char *name;
};

struct op ops[NOPS];
int middle(long *where, long n);

static int
step(long n)
{
	return n > 0;
}

int (*volatile stepped)(long n) = step;

#define OP(op, l) \
	case op: \
		ops[op].label = &&l; \
		ops[op].length = 1; \
		ops[op].name = #l; \
		break

__attribute__((noinline, noclone)) long
run(const void **code, long n, int fill)
{
	long sum = 0;

	if (!code) {
		switch (fill) {
		OP(MORE, more);
		OP(LESS, less);
		OP(TWICE, twice);
		OP(AGAIN, again);
		OP(CALL, call);
		OP(SKIP, skip);
		OP(TEST, test);
		OP(LEAVE, leave);
		OP(HALT, halt);
		}
		return 0;
	}
next:
	goto **code;
more:
	sum += 3;
	code++;
	if (sum < 0)
		abort();
	goto next;
less:
	n--;
	code++;
	if (!stepped)
		return n;
	goto next;
twice:
	sum *= 2;
	sum %= 1000;
	code++;
	goto next;
again:
	code += n > 0 ? -4 : 1;
	stepped(n);
	goto next;
call:
	sum += stepped(n);
	code++;
	goto next;
skip:
	code += 2;
	stepped(n + 1);
	goto next;
test:
	if (n & 1)
		sum++;
	code++;
	goto next;
leave:
	return -sum;
halt:
	return sum;
}

int
main(int argc, char **argv)
{
	const void *code[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const int program[] = { MORE,  SKIP,  HALT, TWICE, TEST,
				       CALL,  LESS,  AGAIN, HALT };
	long n = argc > 1 ? atol(argv[1]) : 1, where[3];

	for (int i = 0; i < NOPS; i++)
		run(NULL, 0, i);
	for (int i = 0; i < NOPS; i++) {
		code[i] = ops[program[i]].label;
		printf("%s %ld\n", ops[i].name,
		       (const char *)ops[i].label - (const char *)run);
	}
	printf("sum %ld\n", run(code, n, 0));
	for (long i = 0; i < n; i++) {
		int read = middle(where, i % 3);
		const unsigned char *bytes[] = { (unsigned char *)where[0],
						 (unsigned char *)where[1] };
		long sum = 0;

		for (int b = 0; b < 6; b++)
			sum = sum * 7 + bytes[0][b] + 3 * bytes[1][b];
		if (i < 3 || i == n - 1)
			printf("data %d %ld\n", read, sum);
	}
	return 0;
}
