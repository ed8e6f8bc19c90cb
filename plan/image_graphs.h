/*
 * Control-flow graphs of an image's functions: what the image knows of code,
 * handed to flow/.
 */
#ifndef PLAN_IMAGE_GRAPHS_H
#define PLAN_IMAGE_GRAPHS_H

#include "flow/cfg.h"
#include "symtab/image.h"

struct graphs;

/* The image, opened with IMAGE_FLOW, must outlive it. */
struct graphs *graphs_open(const struct image *image);
void graphs_close(struct graphs *graphs);

/* Is addr in one of the n ranges? */
bool range_has(const struct range *ranges, size_t n, uint64_t addr);

/* What a graph is made of. */
struct graph_wish {
	const struct range *ranges;
	size_t n;
	bool entry;		/* the first range begins with the function */
	const uint64_t *leaders;	/* as in struct cfg_input */
	size_t nleaders;
	const uint64_t *external;	/* ascending: entered from elsewhere;
					   those in other code do not matter */
	size_t nexternal;
	bool calls_end;		/* as in struct cfg_input */
};

/*
 * The graph of a function.  Parts split off that no symbol speaks of are
 * added where the function (with an entry) jumps to them.
 */
struct cfg *graph_make(struct graphs *graphs, const struct graph_wish *wish);

#endif
