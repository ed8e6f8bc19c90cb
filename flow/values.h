/*
 * Following a value backwards through a function: where a register's or a
 * stack slot's contents come from.  For flow/ only.  Pure.
 */
#ifndef FLOW_VALUES_H
#define FLOW_VALUES_H

#include "flow/cfg.h"

/* A place before instruction insn of a block, or behind its last. */
struct spot {
	struct place place;
	uint32_t block, insn;
};

/* A whole register where `at` is. */
struct spot spot_reg(uint8_t reg, const struct spot *at);

/* The part of the index that counts in a place's address, where `at` is. */
struct spot spot_index(const struct place *place, const struct spot *at);


/* One search may be made inside another. */
enum search_level {
	SEARCH_OUTER, SEARCH_INNER, SEARCH_CONSTANT, SEARCH_BASE, SEARCHES,
};

struct values {
	const struct cfg *cfg;
	const struct cfg_input *in;
	struct effect *effects;	/* per instruction, once asked for */
	bool *known;
	bool frame;		/* the frame pointer is one, see below */
	struct stamps {		/* a hash of where a search has been */
		struct stamp *stamps;
		size_t n, size;
	} stamps[SEARCHES];
	uint32_t search;
	long budget;		/* steps left */
};

/* The graph may change between searches, but not its instructions. */
void values_open(struct values *v, const struct cfg *cfg,
		 const struct cfg_input *in);
void values_close(struct values *v);
const struct effect *values_effect(struct values *v, uint32_t insn);

/* An address that was added up, as the CPU has it. */
uint64_t values_address(const struct values *v, uint64_t sum);

enum back {
	BACK_START,		/* came to the start of the block */
	BACK_MADE,		/* spot->insn makes it, in a way known */
	BACK_LOST,		/* spot->insn changes it, or too many steps */
};

/*
 * Go back in the block to what makes the value.  The place changes its name
 * with the stack pointer.  That memory on the stack is not changed through
 * pointers or by calls is assumed: what is looked for are spilled registers
 * and variables that were just compared.
 */
enum back values_back(struct values *v, struct spot *spot);

/*
 * The place is on the stack: by the stack pointer, or by the frame pointer
 * where v->frame says that the function sets it to the stack pointer.
 */
bool values_on_stack(const struct values *v, const struct place *place);

/* The place before the block: in its only predecessor, if that is so. */
bool values_only_before(const struct values *v, struct spot *spot);

/*
 * A search over predecessors.  search_pass is true if it may go on into the
 * block, looking for what is offset from the place, and false if it has been
 * there; *clash is set if it was there with another offset.
 */
struct search {
	struct stamps *stamps;
	uint32_t number;
};

struct search search_begin(struct values *v, enum search_level level);
bool search_pass(struct search *search, uint32_t block,
		 const struct place *place, uint64_t offset, bool *clash);

enum constant {
	CONSTANT_NONE,		/* it is none, or not known to be one */
	CONSTANT_FOUND,
	CONSTANT_UNREACHED,	/* no way that is known leads there: perhaps
				   that of a jump that is not resolved yet */
};

/*
 * Whether the place holds the same address whatever way control came.  It may
 * come out of constant data: a global offset table.
 */
enum constant values_constant(struct values *v, const struct spot *spot,
			      uint64_t *value);

/*
 * Follow copies and additions of constants to where the value is made.
 * Values of one origin differ by their biases, whatever their widths.
 */
struct origin {
	struct spot spot;
	int64_t bias;		/* value = that at spot + bias */
};

struct origin values_origin(struct values *v, const struct spot *spot);
bool origin_same(const struct origin *a, const struct origin *b);

#endif
