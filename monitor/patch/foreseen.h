/*
 * Modules that are rendered, or undone, before their process is stopped.
 */
#ifndef MONITOR_PATCH_FORESEEN_H
#define MONITOR_PATCH_FORESEEN_H

#include "monitor/patch/room.h"
#include "monitor/run.h"

/*
 * Render the module, of which nothing is mapped or planted, for the process as
 * it is now, whose memory is the host's handle mem; for foreseen_find.  If that
 * cannot be done, foreseen_find will find nothing.
 */
void foreseen_make(struct room *room, pid_t pid, int mem,
		   const struct module *module);
/* Undo all modules of the process's space as they are now; for foreseen_find. */
void foreseen_undo(struct run *run, pid_t pid, const struct space *space);
/* What was foreseen for this module of the process, or NULL. */
struct foreseen *foreseen_find(const struct run *run, pid_t pid,
			       const struct module *module);
/* The process has been attached to, or let go: forget what was foreseen. */
void foreseen_end(struct run *run);

#endif
