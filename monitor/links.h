/*
 * Calls that lead to copies at once.
 */
#ifndef MONITOR_LINKS_H
#define MONITOR_LINKS_H

#include "monitor/run.h"

/* May calls lead to the body's copy?  Not if there is a trap at its entry. */
bool links_lead(const struct plan *plan, const struct body *body);
/* A body's copy was planted: link calls in it, and of it. */
void links_write(struct run *run, const struct space *space, pid_t tid,
		 const struct module *module, uint32_t body);
/* Calls of the body lead to its original again. */
void links_undo(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, uint32_t body);
/*
 * The plan's image may write or replace text: then nothing must go past the
 * beginning of a function, and from now on no call in the space does.
 */
void links_yield(struct run *run, struct space *space,
		 const struct plan *plan);
/* All that the program's start has loaded is known. */
void links_begin(struct space *space);
/* Put what was written into the body's text [lo, lo + n) into its bytes. */
void links_apply(const struct module *module, const struct body *body,
		 uint64_t lo, size_t n, uint8_t *bytes);

#endif
