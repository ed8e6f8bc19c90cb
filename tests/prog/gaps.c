/*
 * Calls the functions that tests/gaps.t makes, and prints what they returned,
 * a sum of the data that lies between their instructions, and how often they
 * say that their places were passed.
 */
#include <stdint.h>
#include <stdio.h>

struct span {
	int32_t at, len;	/* relative to gaps_text */
};

extern long (*const gaps_calls[])(long n);
extern const unsigned gaps_ncalls;
extern const unsigned char gaps_text[];
extern const struct span gaps_data[];
extern const unsigned gaps_ndata;
extern const int32_t gaps_places[];
extern const unsigned gaps_nplaces;
extern const unsigned long gaps_passed[];

/* Where the text begins in the file's own addresses. */
static unsigned long
text_addr(void)
{
#ifdef __PIE__
	extern const char __executable_start[];

	return (unsigned long)gaps_text - (unsigned long)__executable_start;
#else
	return (unsigned long)gaps_text;
#endif
}

int
main(void)
{
	unsigned long sum = 0;

	for (unsigned f = 0; f < gaps_ncalls; f++)
		for (long n = 0; n < 12; n++)
			sum = 31 * sum + (unsigned long)gaps_calls[f](n);
	printf("returned %lx\n", sum);
	sum = 0;
	for (unsigned i = 0; i < gaps_ndata; i++)
		for (int32_t k = 0; k < gaps_data[i].len; k++)
			sum = 31 * sum + gaps_text[gaps_data[i].at + k];
	printf("data %lx\n", sum);
	for (unsigned i = 0; i < gaps_nplaces; i++)
		printf("place %lx %lu\n", text_addr() +
		       (unsigned long)gaps_places[i], gaps_passed[i]);
	return 0;
}
