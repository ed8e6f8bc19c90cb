/* Counts 8 calls, and has a library set gs after the first 3 of them. */
void setgs(void *block);

static long block[4096];

__attribute__((noinline)) int
work(int n)
{
	int sum = n;

	for (int i = 0; i < n; i++)
		sum = sum % 2 ? 3 * sum + 1 : sum / 2;
	return sum;
}

int
main(void)
{
	int sum = 0, used = 0;

	for (int i = 0; i < 8; i++) {
		if (i == 3)
			setgs(block);
		sum += work(i);
	}
	/* Nobody counts in the program's own memory. */
	for (int i = 0; i < 4096; i++)
		used += block[i] != 0;
	return used || sum < 0;
}
