/*
 * Where a signal ended a process: a place in a plan.
 */
#ifndef PROBE_DEATH_H
#define PROBE_DEATH_H

#include <stdint.h>

struct plan;

/* What the instruction at the place has to do with the end. */
enum death_how {
	DEATH_BEFORE,		/* it was about to begin */
	DEATH_DURING,		/* it faulted */
	DEATH_CALL,		/* it had called code that is not counted */
};

struct death {
	const struct plan *plan;	/* NULL: the place is not known */
	uint64_t addr;		/* of the instruction, or of its last byte */
	enum death_how how;
};

#endif
