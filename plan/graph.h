/*
 * Control-flow graphs of an image's functions: what the image knows of code,
 * handed to flow/.
 */
#ifndef PLAN_GRAPH_H
#define PLAN_GRAPH_H

#include "flow/cfg.h"
#include "symtab/image.h"

struct graphs;

/* The image, opened with IMAGE_FLOW, must outlive it. */
struct graphs *graphs_open(const struct image *image);
void graphs_close(struct graphs *graphs);

/*
 * The graph of code in n ranges, the first of which begins with the function
 * (if `entry`); leaders as in struct cfg_input.  Parts split off that no
 * symbol speaks of are added where the function jumps to them.
 */
struct cfg *graph_make(struct graphs *graphs, const struct range *ranges,
		       size_t n, bool entry, const uint64_t *leaders,
		       size_t nleaders);

#endif
