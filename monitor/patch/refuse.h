/*
 * Refusing relocated functions: their plans' functions are counted by traps.
 */
#ifndef MONITOR_PATCH_REFUSE_H
#define MONITOR_PATCH_REFUSE_H

#include "monitor/patch/room.h"
#include "monitor/run.h"

/*
 * Make no more relocated functions for the plan, and stop using those there
 * are; the report says why.
 */
void relocated_refuse(struct run *run, struct plan *plan, const char *why);

/*
 * The same for the plans of all modules of the space, in which the thread
 * register has been given up (space->own_thread_reg).
 */
void relocated_refuse_space(struct run *run, const struct space *space);
/* Reserve memory for the module's counters.  0, or -1 with the message. */
int relocated_counters(struct room *room, struct module *module) MUST_CHECK;
/*
 * Map the memory for the module's relocated functions, and reserve its part of
 * the thread counter pages, as far as that is not done.  0, or -1 with the
 * message.
 */
int relocated_room(struct room *room, struct module *module) MUST_CHECK;
/*
 * The same, if the plan is to have relocated functions; if it fails, call
 * relocated_refuse.
 */
void relocated_map(struct room *room, struct module *module);

#endif
