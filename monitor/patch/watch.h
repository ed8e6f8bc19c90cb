/*
 * Spaces whose tasks stop at all system calls, as hooks may not see which of
 * them map code.
 */
#ifndef MONITOR_PATCH_WATCH_H
#define MONITOR_PATCH_WATCH_H

#include "monitor/run.h"

/* Stop the space's tasks at all their system calls from now on, for ever. */
void space_watch(struct run *run, struct space *space);
/* Whether that is so: not only as long as a library is being loaded. */
bool space_watched(const struct space *space);
/*
 * Watch the space unless hooks see all system calls by which the code that is
 * mapped there (maps, n of them) can map more.  While more of a library than its
 * text can be executed, do so until the look that finds that at an end.
 */
void watch_check(struct run *run, struct space *space,
		 const struct mapping *maps, size_t n);
/* The same for all spaces that have a module of the plan, which has changed. */
void watch_extended(struct run *run, const struct plan *plan);

#endif
