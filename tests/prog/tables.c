/*
 * Calls the functions of tables.S with all that they may be called with, and
 * prints how often they say that their places were passed.
 */
#include <stdint.h>
#include <stdio.h>

struct place {
	int32_t at, passed;	/* relative to tables_text, tables_passed */
};

struct call {
	long (*function)(unsigned long n, unsigned long m);
	unsigned long from, below, most;	/* of n and m */
};

extern const unsigned char tables_text[];
extern const unsigned char tables_passed[];
extern const struct place tables_places[], tables_places_end[];
extern const struct call tables_calls[], tables_calls_end[];
extern const char __executable_start[];

/* Where the text begins in the file's own addresses. */
static unsigned long
text_addr(void)
{
#ifdef __PIE__
	return (unsigned long)tables_text - (unsigned long)__executable_start;
#else
	return (unsigned long)tables_text;
#endif
}

int
main(void)
{
	for (const struct call *call = tables_calls; call < tables_calls_end;
	     call++)
		for (unsigned long n = call->from; n < call->below; n++)
			for (unsigned long m = 0; m <= call->most; m++)
				for (unsigned long i = 0; i < 2 * n % 7 + m + 1;
				     i++)
					call->function(n, m);
	for (const struct place *place = tables_places;
	     place < tables_places_end; place++)
		printf("%lx %lu\n", text_addr() + (unsigned long)place->at,
		       *(const unsigned long *)(tables_passed +
						place->passed));
	return 0;
}
