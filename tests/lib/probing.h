/*
 * A client that chooses probes of its own at every element of every function,
 * and compares what they say with what the client that counts derives.
 */
#ifndef TESTS_LIB_PROBING_H
#define TESTS_LIB_PROBING_H

#include "monitor/process/client.h"

extern const struct client client_probing;

/* What the client has seen since probing_begin. */
struct probing {
	size_t asked, shared, refused;	/* probes of its own, shared with
					   counting, and not to be had */
	size_t relocated, in_place;	/* counts that were compared */
	size_t unequal;			/* ... and were not the same */
	size_t tripled;			/* ... by probes that add 3 */
};

extern struct probing probing;

void probing_begin(void);
/* Compare, once the run has ended; and free what the client has. */
void probing_compare(struct run *run);

#endif
