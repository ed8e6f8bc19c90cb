/*
 * Makes control-flow graphs of an image's functions: hands to flow/ what the
 * image knows of its code.
 */
#ifndef PROGRAM_IMAGE_GRAPHS_H
#define PROGRAM_IMAGE_GRAPHS_H

#include "flow/cfg.h"
#include "symtab/image.h"

struct graphs;

/*
 * Begin making graphs of an image, which was opened with IMAGE_FLOW and must
 * outlive the result.
 */
struct graphs *graphs_open(const struct image *image);
void graphs_close(struct graphs *graphs);

/* Whether addr is in one of the n ranges. */
bool range_has(const struct range *ranges, size_t n, uint64_t addr);

/* The part, split off some function without a symbol, with addr, or NULL. */
const struct range *image_part(const struct image *image, uint64_t addr);

/* What a graph is to be made of. */
struct graph_input {
	const struct range *ranges;
	size_t n;
	bool entry;		/* the first range begins with the function */
	bool apart;		/* no parts are added to the ranges */
	const uint64_t *leaders;	/* as in struct cfg_input */
	size_t nleaders;
	const uint64_t *external;	/* ascending: mid-entries; those in
					   other code are ignored */
	size_t nexternal;
	bool calls_end;		/* as in struct cfg_input */
};

/*
 * Note that a function with code in the ranges returns after all.  Graphs do
 * not change: they depend on the file alone.
 */
void graphs_return(struct graphs *graphs, const struct range *ranges, size_t n);
/* Whether the call may come back, after all that was noted. */
bool graphs_comes_back(struct graphs *graphs, const struct insn *call);

/*
 * Make the graph of a function.  If input->entry is set, parts of the function
 * that were split off without a symbol are added as its code jumps to them.
 * The caller frees the graph with cfg_free.
 */
struct cfg *graph_make(struct graphs *graphs, const struct graph_input *input);

/* As constant_at, for an instruction of a function's graph. */
bool graph_constant(struct graphs *graphs, const struct cfg *cfg, size_t insn,
		    uint8_t reg, uint64_t *value);

#endif
