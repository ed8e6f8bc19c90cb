/*
 * What each fuzz target says of itself.
 */
#ifndef PMON_TESTS_FUZZ_TARGET_H
#define PMON_TESTS_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target sets it if it accepts its input, and never clears it. */
extern bool target_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
