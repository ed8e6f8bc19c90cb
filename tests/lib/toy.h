/*
 * A toy CPU whose instructions are their own decoding, so that any control flow
 * can be written down: kind, length, target (little endian).
 */
#ifndef TESTS_LIB_TOY_H
#define TESTS_LIB_TOY_H

#include "flow/cfg.h"

enum { TOY_BASE = 0x1000, TOY_TEXT = 0x1000, TOY_LEN = 4, TOY_BAD = 0xee };

extern uint8_t toy_text[TOY_TEXT];

extern const struct arch toy;

const uint8_t *toy_read(void *ctx, uint64_t addr, size_t *avail);

/* Write one instruction; returns the address behind it. */
uint64_t toy_put(uint64_t addr, int kind, unsigned len, uint64_t target);

/*
 * The graph of what was written in these n ranges, made with these leaders;
 * owned by the caller.
 */
struct cfg *toy_cfg(const uint64_t *lo, const uint64_t *hi, size_t n,
		    const uint64_t *leaders, size_t nleaders);

/* The address of instruction i if all are TOY_LEN long. */
uint64_t toy_addr(unsigned i);

#endif
