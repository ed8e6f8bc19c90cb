/*
 * Random numbers for tests: the same ones in each run, or others where
 * PMON_SEED says so, which is printed.
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

/* Begin with the numbers of this seed. */
static inline void
random_begin(uint64_t seed)
{
	random_state = UINT64_C(0x2545f4914f6cdd1d) ^
		       seed * UINT64_C(0x9e3779b97f4a7c15);
	if (!random_state)
		random_state = 1;
}

/* Begin with PMON_SEED's numbers; the seed, 0 if none is given. */
static inline uint64_t
random_open(void)
{
	const char *text = getenv("PMON_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 0;

	random_begin(seed);
	printf("# PMON_SEED=%" PRIu64 "\n", seed);
	return seed;
}

/* xorshift64 */
static inline uint64_t
random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline unsigned
random_below(unsigned n)
{
	return (unsigned)(random_u64() >> 33) % n;
}

/* A percentage. */
static inline bool
random_chance(unsigned percent)
{
	return random_below(100) < percent;
}

#endif
