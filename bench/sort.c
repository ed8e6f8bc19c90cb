/* Bishop's Shell sort, of many numbers: tight loops and hardly a call. */
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((noinline)) shell(int v[], int n)
{
	for (int gap = n / 2; gap > 0; gap /= 2)
		for (int i = gap; i < n; i++)
			for (int j = i - gap; j >= 0 && v[j] > v[j + gap];
			     j -= gap) {
				int temp = v[j];

				v[j] = v[j + gap];
				v[j + gap] = temp;
			}
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	int n = argc > 2 ? atoi(argv[2]) : 1 << 20;
	int *v = malloc(n * sizeof(*v));
	unsigned state = 1, sum = 0;

	while (rounds--) {
		for (int i = 0; i < n; i++) {
			state = state * 1103515245 + 12345;
			v[i] = (int)(state >> 1);
		}
		shell(v, n);
		for (int i = 0; i < n; i++)
			sum = sum * 31 + (unsigned)v[i];
	}
	printf("%u\n", sum);
	free(v);
	return 0;
}
