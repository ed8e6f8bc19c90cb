/*
 * Owns the state of the tests' random numbers.
 */
#include "tests/lib/random.h"

uint64_t random_state;

void
random_begin(uint64_t seed)
{
	random_state = UINT64_C(0x2545f4914f6cdd1d) ^
		       seed * UINT64_C(0x9e3779b97f4a7c15);
	if (!random_state)
		random_state = 1;
}

uint64_t
random_open(void)
{
	const char *text = getenv("PMON_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 0;

	random_begin(seed);
	printf("# PMON_SEED=%" PRIu64 "\n", seed);
	return seed;
}

uint64_t
random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

unsigned
random_below(unsigned n)
{
	return (unsigned)(random_u64() >> 33) % n;
}

bool
random_chance(unsigned percent)
{
	return random_below(100) < percent;
}
