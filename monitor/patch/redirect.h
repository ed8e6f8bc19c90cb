/*
 * Direct-call redirection: calls between functions that have relocated
 * functions go there at once, not by the jump at the callee's entry.
 */
#ifndef MONITOR_PATCH_REDIRECT_H
#define MONITOR_PATCH_REDIRECT_H

#include "monitor/run.h"

/*
 * Whether calls of the address, the function's entry or a place in its middle,
 * may go straight to its relocated function: not if there is a trap that does
 * more than lead there.
 */
bool redirect_allowed(const struct plan *plan, const struct func_plan *fplan,
		      uint64_t target);
/*
 * A function's relocated function has been planted: redirect the calls that it
 * makes, and the calls to it from other relocated functions.
 */
void redirect_write(struct run *run, const struct space *space, pid_t tid,
		    const struct module *module, uint32_t fplan);
/*
 * The function has got other traps or patches: if any of its calls may be
 * redirected no more, all go to its original again.
 */
void redirect_review(struct run *run, const struct space *space, pid_t tid,
		     const struct module *module, uint32_t fplan);
/* Calls to the function go to its original again. */
void redirect_undo(struct run *run, const struct space *space, pid_t tid,
		   const struct module *module, uint32_t fplan);
/*
 * The plan's image is about to be planted.  If it may write or replace text, a
 * function's beginning must not be bypassed: redirect no call in the space from
 * now on, and undo those that are redirected.
 */
void redirect_yield(struct run *run, struct space *space,
		    const struct plan *plan);
/*
 * All libraries that the program is started with are known: calls may be
 * redirected, unless redirect_yield has forbidden it.  Those of functions that
 * were relocated before are redirected now, but for a process that pmon has
 * attached to, which is to stand still no longer than it must.
 */
void redirect_begin(struct run *run, struct space *space);
/*
 * Write the redirected calls of the function into `bytes`, the n bytes of its
 * text from lo on.
 */
void redirect_apply(const struct module *module, const struct func_plan *fplan,
		    uint64_t lo, size_t n, uint8_t *bytes);

#endif
