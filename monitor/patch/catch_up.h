/*
 * Brings the text of a forked child's space up to date.
 */
#ifndef MONITOR_PATCH_CATCH_UP_H
#define MONITOR_PATCH_CATCH_UP_H

#include "monitor/run.h"

/*
 * Bring a forked child's space up to date.  Its memory is a copy of its
 * maker's, made when extension number `since`, or a later one, was the next.
 */
void space_catch_up(struct run *run, struct space *space, pid_t tid,
		    uint64_t since);

#endif
