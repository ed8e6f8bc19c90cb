/*
 * Random numbers for tests: the same ones in each run, or others where
 * PMON_SEED says so, which is printed.
 */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern uint64_t random_state;

/* Begin with the numbers of this seed. */
void random_begin(uint64_t seed);

/* Begin with PMON_SEED's numbers; the seed, 0 if none is given. */
uint64_t random_open(void);

/* xorshift64 */
uint64_t random_u64(void);
unsigned random_below(unsigned n);

/* A percentage. */
bool random_chance(unsigned percent);

#endif
