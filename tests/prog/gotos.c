/*
 * An interpreter that goes from one instruction to the next by computed gotos,
 * and functions in assembly language that jump into their own middle.
 * argv[1]: rounds; argv[2]: how far into enters(), argv[3]: into imm().
 */
#include <stdio.h>
#include <stdlib.h>

int enters(long where, int n);
int imm(long where, int n);

static long
run(const void **code, const void *const **labels, long n)
{
	static const void *const all[] = { &&more, &&less, &&again, &&halt };
	long sum = 0;

	if (labels) {
		*labels = all;
		return 0;
	}
	goto **code;
more:
	sum += 3; /* more */
	code++;
	goto **code;
less:
	n--; /* less */
	code++;
	goto **code;
again:
	code += n > 0 ? -2 : 1; /* again */
	goto **code;
halt:
	printf("halt\n"); /* halt */
	return sum;
}

int
main(int argc, char **argv)
{
	const void *const *labels, *code[4];
	long n = atol(argv[1]), sum = 0;

	run(NULL, &labels, 0);
	for (int i = 0; i < 4; i++)
		code[i] = labels[i];
	for (int i = 0; i < 3; i++)
		sum += run(code, NULL, n);
	for (int i = 0; i < 20; i++) {
		sum += enters(0, 5) + enters(0, -1) + imm(0, 5) + imm(0, -1);
		if (i == 9 && argc > 3)
			sum += enters(atoi(argv[2]), 3) + imm(atoi(argv[3]), 3);
	}
	printf("%ld\n", sum);
	return 0;
}
