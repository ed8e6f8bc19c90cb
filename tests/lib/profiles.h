/*
 * Profiles for tests: random ones of a made-up world, in which the same
 * function mostly has the same graph; and dumps of profiles as text, by which
 * two can be compared field by field.
 */
#ifndef TESTS_LIB_PROFILES_H
#define TESTS_LIB_PROFILES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile.h"
#include "tests/lib/random.h"
#include "util/mem.h"

struct profile *world_profile(void);

/* ---- as text */

/* All that a profile holds, as text; owned by the caller. */
char *profile_dump(const struct profile *profile);

/* Copy a profile by encoding and decoding it. */
struct profile *profile_copy(const struct profile *profile);

#endif
