/*
 * The log of what was changed in modules while programs ran, from which a
 * forked child's space catches up.
 */
#ifndef MONITOR_PATCH_EXTENSIONS_H
#define MONITOR_PATCH_EXTENSIONS_H

#include "monitor/run.h"

/*
 * One change to a module while programs run: the sites planted, the traps taken
 * out, and the slots from number `first` up to but not including `last`.
 */
struct extension {
	uint64_t number;
	struct module *module;	/* a reference */
	uint32_t *planted, *retired;	/* site indices, by address */
	size_t nplanted, nretired;
	size_t first, last;
	/* The relocated functions with these numbers in the plan. */
	size_t relocated_first, relocated_end;
};

struct extensions {
	struct extension *list;	/* ascending number */
	size_t n, max, room;	/* above max, list is pruned */
};

/*
 * Append to the log, which takes over the arrays and takes a reference to the
 * module.
 */
void extension_log(struct run *run, struct extension ext);
/* Free the log, at the end of the run. */
void extensions_free(struct run *run);

#endif
