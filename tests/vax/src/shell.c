/* Shell sort of 100 pseudo-random numbers, after Bishop's sample. */
#include "lib.h"
#define N 100
static unsigned long seed = 12345;
int a[N];

static int
rnd(void)
{
	seed = seed * 1103515245UL + 12345UL;
	return (int)((seed >> 16) & 0x7fff);
}

void
shell(int *v, int n)
{
	int gap, i, j, t;

	for (gap = n / 2; gap > 0; gap /= 2)
		for (i = gap; i < n; i++)
			for (j = i - gap; j >= 0 && v[j] > v[j + gap];
			     j -= gap) {
				t = v[j];
				v[j] = v[j + gap];
				v[j + gap] = t;
			}
}

int
main(int argc, char **argv)
{
	int i;

	for (i = 0; i < N; i++)
		a[i] = rnd();
	shell(a, N);
	for (i = 0; i < N; i++) {
		put_number(a[i]);
		put(i % 10 == 9 ? "\n" : " ");
	}
	for (i = 1; i < N; i++)
		if (a[i - 1] > a[i]) {
			put("BAD\n");
			return 1;
		}
	put("sorted\n");
	return 0;
}
