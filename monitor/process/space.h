/*
 * Address spaces.
 */
#ifndef MONITOR_PROCESS_SPACE_H
#define MONITOR_PROCESS_SPACE_H

#include "monitor/run.h"

/* An empty space with one reference; mem is the host's handle. */
struct space *space_new(int mem);
/*
 * The space of a fork's child, with the same modules planted.  Its memory may
 * lack what was done since extension number `since` (run->extended).
 */
struct space *space_copy(const struct space *space, int mem, uint64_t since);
/* Add a reference. */
void space_ref(struct space *space);
/* Drop a reference; the last one frees the module. */
void module_drop(struct module *module);
/* The module whose text has the va, or NULL. */
struct module *space_module(const struct space *space, uint64_t va);

/* What is at a va. */
struct code_at {
	struct module *module;		/* whose text it is, or NULL */
	struct func_plan *fplan;	/* the module's function there, or NULL;
					   valid until the plan gets more */
	uint32_t index;			/* of fplan in the plan, or FPLAN_NONE */
	uint64_t addr;			/* if there is a module */
};

struct code_at code_at(const struct space *space, uint64_t va);

/* Whether any count is derived in the images of the space. */
bool space_infers(const struct space *space);
/* The hooks where stacks are left that the space needs: see plan_follows. */
unsigned space_follows(const struct space *space);
/*
 * Whether counts are derived in the space, or it has relocated functions.  Then
 * pmon must know all files that the space runs, and which functions its tasks
 * are in.
 */
bool space_known(const struct space *space);
/*
 * Whether traps are planted in the space, so that some system calls must be
 * hooked.
 */
bool space_hooked(const struct space *space);
/*
 * From here on nothing is derived behind calls in the images of the space, for
 * this reason; the report says why.
 */
void space_calls_underivable(struct run *run, struct space *space,
			     enum count_reason reason, const char *why);
/*
 * The same, if a hook where stacks are left was dropped in one of the images:
 * so in a space to which an image is added after that.
 */
void space_unfollowed(struct run *run, struct space *space);

/*
 * The same behind any instruction of the space: it is not known where one of
 * its tasks was.
 */
void space_underivable(struct run *run, struct space *space,
		       enum count_reason reason, const char *why);

/*
 * A hook that counts depend on could not be planted in the space: nothing is
 * known of any function of its images, those that are added later included.
 */
void space_unhooked(struct space *space);
/* Add a module whose hooks are planted, or refused; it takes the reference. */
void space_add(struct space *space, struct module *module);

#endif
