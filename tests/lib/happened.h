/*
 * The counts that a plan must give for a random program that ran, computed from
 * the truth that the machine recorded: those of blocks and edges, and those of
 * lines by their definition.
 */
#ifndef TESTS_LIB_HAPPENED_H
#define TESTS_LIB_HAPPENED_H

#include <inttypes.h>
#include <stdio.h>

#include "flow/entries.h"
#include "tests/lib/machine.h"

/* One program under one plan. */
struct trial {
	struct program program;
	struct selection sel;
	struct plan_options options;
	struct machine m;
	struct truth truth;
	uint32_t owner[INSNS_MAX];	/* line of each instruction, or
					   REGION_NONE */
	uint64_t points[INSNS_MAX];	/* lines without code there, as bits */
};

uint64_t happened_block(const struct trial *t, const struct func_plan *fplan,
			uint32_t vert);
uint64_t happened_edge(const struct trial *t, const struct func_plan *fplan,
		       uint32_t e);
bool fplan_came(const struct trial *t, const struct func_plan *fplan,
		const struct counter_set *counter_set);

/* How often control came to `to` from outside the set `inside`. */
uint64_t happened_from(const struct trial *t, unsigned func, unsigned to,
		       const bool *inside);

/* ---- lines, by their definition */

/* Say whose each instruction is, once the plan has its graphs. */
void lines_own(struct trial *t);
uint64_t happened_line(const struct trial *t, const struct func_plan *fplan,
		       uint32_t line, uint64_t *most);

#endif
