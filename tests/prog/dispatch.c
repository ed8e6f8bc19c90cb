/*
 * An interpreter whose instructions each jump to the next one's by a table, so
 * that every jump may go to every label.  A line with "x N" runs N times.
 */
#include <stdio.h>

static const unsigned char program[] = {
	0, 1, 1, 2, 3, 0, 0, 4, 5, 1, 2, 2, 6,
};

__attribute__((noinline)) static int
interpret(const unsigned char *at)
{
	static const void *const labels[] = {
		&&push, &&add, &&twice, &&less, &&skip, &&never, &&end,
	};
	int n = 0;

#define NEXT goto *labels[*at++]
	NEXT;
push:	n = n * 10 + 1; NEXT;		/* x 3 */
add:	n += 3; if (n > 1000) n = -n; NEXT;	/* x 3 */
twice:	n *= 2; NEXT;			/* x 3 */
less:	if (n % 2) n--; NEXT;		/* x 1 */
skip:	at++; n ^= 5; NEXT;		/* x 1 */
never:	n = n * n + 7; NEXT;		/* x 0 */
end:	return n;			/* x 1 */
}

int
main(void)
{
	printf("%d\n", interpret(program));
	return 0;
}
