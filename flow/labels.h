/*
 * Which of the addresses that a function's code takes are labels: places that
 * its own jumps with unknown targets go to, although nothing else leads there.
 * For flow/ only.  Pure.
 */
#ifndef FLOW_LABELS_H
#define FLOW_LABELS_H

#include "flow/cfg.h"

/*
 * Add to labels, *n ascending addresses, those that the code takes and that are
 * labels; true if any is new.  The graph has blocks that begin at the addresses
 * that its proven code takes.
 */
bool labels_find(const struct cfg *cfg, const struct cfg_input *in,
		 uint64_t **labels, size_t *n);

#endif
