/*
 * Calls that come back although the graph says that they do not: a handler may
 * lead control on behind an instruction that stops.  For probe/ only.
 */
#ifndef PROBE_CAME_BACK_H
#define PROBE_CAME_BACK_H

#include "probe/propagation.h"

/* Whether no known flow leads to the block, which is given as a vertex. */
bool vert_unled(const struct func_plan *fplan, uint32_t vert);
/*
 * Note that control came to an instruction of the function plan, which has a
 * graph; if no known flow leads there, the function's calls may come back.
 */
void came_back_note(struct plan *plan, uint32_t index, long insn);
/* Find the functions whose calls may have come back so. */
void came_back_spread(const struct propagation *s);
/*
 * Mark the nodes where control may have come unseen because calls of the
 * function plan came back.
 */
void came_back_open(const struct func_plan *fplan, bool *open);

#endif
