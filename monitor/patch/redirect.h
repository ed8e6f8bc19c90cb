/*
 * Calls that lead to relocated functions at once.
 */
#ifndef MONITOR_PATCH_REDIRECT_H
#define MONITOR_PATCH_REDIRECT_H

#include "monitor/run.h"

/*
 * May calls lead to the function plan's relocated function? Not if there is a
 * trap at its entry.
 */
bool redirect_allowed(const struct plan *plan, const struct func_plan *fplan);
/*
 * A function plan's relocated function was planted: link calls in it, and of
 * it.
 */
void redirect_write(struct run *run, const struct space *space, pid_t tid,
		    const struct module *module, uint32_t fplan);
/* Calls of the function plan lead to its original again. */
void redirect_undo(struct run *run, const struct space *space, pid_t tid,
		   const struct module *module, uint32_t fplan);
/*
 * The plan's image may write or replace text: then nothing must go past the
 * beginning of a function, and from now on no call in the space does.
 */
void redirect_yield(struct run *run, struct space *space,
		    const struct plan *plan);
/* All that the program's start has loaded is known. */
void redirect_begin(struct space *space);
/*
 * Put what was written into the function plan's text [lo, lo + n) into its
 * bytes.
 */
void redirect_apply(const struct module *module, const struct func_plan *fplan,
		    uint64_t lo, size_t n, uint8_t *bytes);

#endif
