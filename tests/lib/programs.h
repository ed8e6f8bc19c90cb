/*
 * Random programs for a toy CPU, as images: functions with branches, loops,
 * jump tables, tail calls, calls that do not return, landing pads, jumps into
 * one another's middle, lines and inlined copies.
 *
 * An instruction is its kind, its length, and its operand (little endian): a
 * target; the number that a compare compares with; the address of a jump's
 * table.
 */
#ifndef TESTS_LIB_PROGRAMS_H
#define TESTS_LIB_PROGRAMS_H

#include <string.h>

#include "probe/plan.h"
#include "symtab/reading.h"
#include "tests/lib/flows.h"
#include "tests/lib/regions.h"

enum {
	CODE = 0x1000,
	CODE_SIZE = 0x400,
	TABLES = 0x3000,
	AWAY = 0x7000,
	FUNCS_MAX = 6,
	INSNS_MAX = 120,
	LINES = 5,
	COPIES = 6,
	TABLE_MAX = 4,
	TOY_COMPARE = 0x20,
	TOY_GUARD,
	TOY_TABLE,
	TOY_BAD = 0xee,
};

/* One instruction of a program. */
struct toy_insn {
	uint64_t addr;
	uint8_t op, len;
	uint16_t operand;
	uint8_t func;
};

struct program {
	struct image image;
	struct image_priv priv;
	struct func_range spans[FUNCS_MAX];
	struct segment segment;
	uint8_t text[CODE_SIZE];
	struct func funcs[FUNCS_MAX];
	struct range ranges[FUNCS_MAX];
	struct row rows[2 * INSNS_MAX];
	struct inlined copies[COPIES];
	struct range copy_ranges[COPIES];
	struct data data[INSNS_MAX];
	uint64_t tables[INSNS_MAX][TABLE_MAX];
	uint64_t refs[FUNCS_MAX], pads[FUNCS_MAX];
	struct toy_insn insns[INSNS_MAX];
	unsigned n;
	int16_t at[CODE_SIZE];	/* insn that begins at an offset, or -1 */
	unsigned first[FUNCS_MAX + 1];	/* insns of each function */
};

int program_insn(const struct program *p, uint64_t addr);
uint64_t random_entry(const struct program *p, unsigned nfuncs);
void insn_add(struct program *p, uint64_t *addr, unsigned func, unsigned op);
void code_write(struct program *p);
void program_funcs(struct program *p, unsigned nfuncs);

/* Without instructions, nor anything that tells of them. */
void program_begin(struct program *p);
void program_make(struct program *p, bool mixed);

#endif
