/*
 * Follows a value backwards through a function: where the contents of a
 * register or stack slot come from.  For flow/ only.  Pure.
 */
#ifndef FLOW_VALUES_H
#define FLOW_VALUES_H

#include "flow/cfg.h"

/*
 * A place (register or memory) at a position in the code: before instruction
 * insn of a block, or behind the block's last instruction.
 */
struct use {
	struct place place;
	uint32_t block, insn;
};

/* The whole register reg, at the position of `at`. */
struct use use_reg(uint8_t reg, const struct use *at);

/*
 * The index register of a place's address, as wide as the address uses it, at
 * the position of `at`.
 */
struct use use_index(const struct place *place, const struct use *at);

/* Searches nest: each level has its own stamps. */
enum search_level {
	SEARCH_OUTER,
	SEARCH_INNER,
	SEARCH_CONSTANT,
	SEARCH_BASE,
	SEARCHES,
};

struct values {
	const struct cfg *cfg;
	const struct cfg_input *in;
	struct effect *effects;	/* per instruction, once asked for */
	bool *known;
	bool frame;		/* the function uses its frame pointer as one,
				   see values_on_stack */
	struct stamps {		/* a hash of where a search has been */
		struct stamp *stamps;
		size_t n, size;
	} stamps[SEARCHES];
	uint32_t search;
	long budget;		/* steps left */
	bool strict;		/* calls may change what they need not
				   preserve, whatever the code behind them
				   uses */
};

/*
 * Begin, and release what v holds.  The graph's blocks and edges may change
 * between searches, its instructions may not.
 */
void values_open(struct values *v, const struct cfg *cfg,
		 const struct cfg_input *in);
void values_close(struct values *v);
/* What the instruction with that index does; v owns it. */
const struct effect *values_effect(struct values *v, uint32_t insn);

/*
 * Whether it is certain that values_effect finds no constant address but 0 in
 * the instruction, and that it does not copy the stack pointer to the frame
 * pointer.  A quick look.
 */
bool values_addressless(const struct values *v, uint32_t insn);

/* Truncate a computed address to the width of the CPU's addresses. */
uint64_t values_address(const struct values *v, uint64_t sum);

enum back {
	BACK_START,		/* at the start of the block */
	BACK_MADE,		/* use->insn makes the value, as its effect
				   says */
	BACK_UNKNOWN,		/* use->insn changes it otherwise, or there
				   were too many steps */
};

/*
 * Go back in the block to the instruction that makes the value.  A place
 * relative to the stack pointer is adjusted as the stack pointer changes.
 * Stores through pointers and calls are assumed not to change memory on the
 * stack: the values sought there are spilled registers and variables that were
 * just compared.
 */
enum back values_back(struct values *v, struct use *use);

/*
 * Whether the place is on the stack: relative to the stack pointer, or to the
 * frame pointer if v->frame says that the function sets that from the stack
 * pointer.
 */
bool values_on_stack(const struct values *v, const struct place *place);

/*
 * Whether control may come over the edge: not from padding, to which nothing
 * leads, into a proven block.
 */
bool values_edge_runs(const struct values *v, const struct edge *edge);

/*
 * Move the use to the end of the block's only predecessor; false if control
 * may come to the block in any other way.
 */
bool values_only_before(const struct values *v, struct use *use);

/*
 * A search over predecessors, for the place's value plus an offset, of which a
 * limit is known.  search_pass is true if the search may go on into the block,
 * and false if it has been there for this place with a limit at least as high;
 * *clash is set if it has been there with another offset.
 */
struct search {
	struct stamps *stamps;
	uint32_t number;
};

struct search search_begin(struct values *v, enum search_level level);
bool search_pass(struct search *search, uint32_t block,
		 const struct place *place, uint64_t offset, uint64_t limit,
		 bool *clash);

enum constant {
	CONSTANT_NONE,		/* not known to be a constant */
	CONSTANT_FOUND,
	CONSTANT_UNREACHED,	/* no known path leads there: perhaps one over
				   a jump that is not resolved yet */
};

/*
 * Find the address that the place holds, if it is the same on every path.  The
 * address may come from constant data: a global offset table.
 */
enum constant values_constant(struct values *v, const struct use *use,
			      uint64_t *value);

/*
 * Where a value comes from, after following copies and additions of constants
 * backwards.  Values of one origin differ by their biases, whatever their
 * widths; what was cut off to one or two bytes, and added to, wraps.
 */
struct origin {
	struct use use;
	int64_t bias;		/* value = the value at use + bias */
	uint8_t width;		/* of the narrowest place that it passed */
	bool zeros, signs;	/* it was extended so from one or two bytes, */
	bool moved;		/* ... and all of the bias was added after */
};

struct origin values_origin(struct values *v, const struct use *use);
/* Whether two values have one origin, whatever their biases. */
bool origin_same(const struct origin *a, const struct origin *b);

#endif
