#define MAX 100
void shell(int v[], int n);
int main(void)
{
	register int i;
	int list[MAX];
	long random(void);

	for (i = 0; i < MAX; i++)
		list[i] = random();

	shell(list, MAX);
}

void
shell(int v[], int n)
{
	register int i, j, gap, temp;

	for (gap = n / 2; gap > 0; gap /= 2)
		for (i = gap; i < n; i++)
			for (j = i-gap; j >= 0 && v[j] > v[j+gap]; j -= gap) {
				temp = v[j];
				v[j] = v[j+gap];
				v[j+gap] = temp;
			}

}

/*
 * The sample program of "Profiling under UNIX by Patching" (Bishop 1987), a
 * Shell sort of random numbers, line for line, in today's C.
 */
