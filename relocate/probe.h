/*
 * Probes: one operation each at one element of a function's flow graph.  What
 * an operation means is the client's business (monitor/client); relocate/ puts
 * it where control passes the element, and arch/ emits it.
 */
#ifndef RELOCATE_PROBE_H
#define RELOCATE_PROBE_H

#include "arch/arch.h"

struct probe {
	uint32_t element;	/* an arc of the flow graph: an edge, or a
				   block's beginning */
	uint32_t slot;		/* number of its 8 bytes in the thread page;
				   only PROBE_ADD uses them */
	int32_t operand;	/* see enum probe_op */
	uint32_t before;	/* index, from 1 on, of another probe of the
				   element, to be done before this one; 0: there
				   is none */
	uint8_t op;		/* enum probe_op */
};

/* At most, one behind the other by `before`. */
enum { PROBES_PER_ELEMENT = 8 };

#endif
