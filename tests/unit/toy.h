/*
 * A toy CPU whose instructions are their own decoding, so that any control flow
 * can be written down: kind, length, target (little endian).
 */
#ifndef TESTS_TOY_H
#define TESTS_TOY_H

#include "flow/cfg.h"

enum { TOY_BASE = 0x1000, TOY_TEXT = 0x1000, TOY_LEN = 4, TOY_BAD = 0xee };

static uint8_t toy_text[TOY_TEXT];

static int
toy_decode(const uint8_t *code, size_t size, uint64_t addr,
	   struct insn *insn)
{
	if (size < TOY_LEN || code[0] == TOY_BAD || code[1] > size)
		return -1;
	*insn = (struct insn){
		.addr = addr, .kind = code[0], .len = code[1],
		.target = (uint64_t)(code[2] | code[3] << 8),
	};
	return 0;
}

static const struct arch toy = { .name = "toy", .decode = toy_decode };

static const uint8_t *
toy_code(void *ctx, uint64_t addr, size_t *avail)
{
	if (addr < TOY_BASE || addr >= TOY_BASE + TOY_TEXT)
		return NULL;
	*avail = TOY_BASE + TOY_TEXT - addr;
	return toy_text + (addr - TOY_BASE);
}

/* Write one instruction; returns the address behind it. */
static uint64_t
toy_put(uint64_t addr, int kind, unsigned len, uint64_t target)
{
	uint8_t *p = toy_text + (addr - TOY_BASE);

	p[0] = (uint8_t)kind;
	p[1] = (uint8_t)len;
	p[2] = (uint8_t)target;
	p[3] = (uint8_t)(target >> 8);
	return addr + len;
}

/* The address of instruction i if all are TOY_LEN long. */
static uint64_t
toy_addr(unsigned i)
{
	return TOY_BASE + i * TOY_LEN;
}

#endif
