/*
 * Flow graphs for tests: drawn as text, or random and walked at random.
 */
#ifndef TESTS_LIB_FLOWS_H
#define TESTS_LIB_FLOWS_H

#include <stdlib.h>
#include <string.h>

#include "flow/propagate.h"
#include "tests/lib/random.h"
#include "util/mem.h"

enum { FLOW_TEXT_MAX = 64, WALK_BLOCKS = 10, WALK_ARCS = 96 };

/* Vertices of a drawing are letters, ROOT is '^' and EXIT '$'. */
struct drawn {
	struct flow *flow;
	uint32_t verts[128];
};

/*
 * Make a graph of its edges, "^A AB A$".  Of two edges from a block the first
 * is that of the branch taken, the second falls through; more than two are of
 * a jump table.
 */
struct drawn drawn_make(const char *text);
uint32_t drawn_edge(struct drawn *drawn, const char *name);

/* The arc that is an edge "AB" or a block "A". */
uint32_t drawn_arc(struct drawn *drawn, const char *name);

/* A graph of at most `max` blocks.  plain: one entry and no leaks. */
struct flow *random_flow(unsigned max, bool plain);

/* The true counts of walks. */
struct walked {
	uint64_t counts[WALK_ARCS];
	struct flow_extra extras[4 * WALK_BLOCKS];
	size_t nextras;
};

/* Walk from ROOT to EXIT, or until an abnormal end or `steps` blocks. */
void walk(const struct flow *flow, struct walked *walked, unsigned steps,
	  bool abnormal);

#endif
