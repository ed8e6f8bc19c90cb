/*
 * Text of the program, read and written.
 */
#ifndef MONITOR_PATCH_TEXT_EDIT_H
#define MONITOR_PATCH_TEXT_EDIT_H

#include "monitor/run.h"

/* As host->mem_read and host->mem_write, by way of what is held. */
int text_read(struct run *run, const struct space *space, pid_t tid,
	      uint64_t va, void *buf, size_t n);
int text_write(struct run *run, const struct space *space, pid_t tid,
	       uint64_t va, const void *buf, size_t n);

/*
 * Until text_release, memory in [lo, hi) is read once, and written in the end.
 * What is held first is written first.  All tasks of the space stand still
 * meanwhile, and nothing else is done there.
 */
void text_hold(struct space *space, uint64_t lo, uint64_t hi);
/* HOST_OK, or HOST_GONE if not all could be written. */
int text_release(struct run *run, struct space *space, pid_t tid);

#endif
