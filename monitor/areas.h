/*
 * The memory that tasks count in.
 */
#ifndef MONITOR_AREAS_H
#define MONITOR_AREAS_H

#include "monitor/run.h"

/*
 * Make areas of `need` bytes for the task's space, of which it gets one; 0 or
 * -1 with the message if that cannot be.
 */
int areas_open(struct run *run, struct task *task, uint64_t need);
void areas_close(struct space *space);
/* Set part of all areas aside; 0, or -1 with the message. */
int areas_reserve(struct space *space, uint64_t need, uint64_t *offset);
/* A fork's child shares the memory; its tasks take areas of their own. */
struct areas *areas_copy(const struct areas *areas);
/*
 * The image may use the register that areas are found by: nothing of the
 * space is to be counted in copies, before it does.
 */
void areas_yield(struct run *run, struct space *space,
		 const struct image *image);
/* The task's first stop, or its process was attached to. */
void areas_task(struct run *run, struct task *task);
/*
 * Write what is between the module's counters, in all areas of the space, as
 * far as it is new: what is there may show that the program wrote over it.
 */
void areas_guard(const struct space *space, const struct module *module);
/* Where its area is, which it has. */
uint64_t areas_va(const struct task *task);
/* Does the stopped task's register still lead to its area, as it always did? */
bool areas_register(struct run *run, const struct task *task);
/* Does the stopped task see the same memory there as pmon does? */
bool areas_seen(struct run *run, const struct task *task);
/* The task stands still: its counts go to the meters. */
void areas_fold(struct run *run, struct task *task);
/*
 * All that was counted up to about now, of all tasks, while they run; owned by
 * the caller.
 */
struct meter *areas_peek(struct run *run, const struct plan *plan);
/* A module is no more: what was counted in it goes to the meters. */
void areas_forget(struct run *run, struct space *space,
		  const struct module *module);
/* It counts no more. */
void areas_end(struct run *run, struct task *task);
/* It is let go. */
void areas_leave(struct run *run, struct task *task);
/*
 * Call fn for all memory of a space that areas are in, until it returns other
 * than 0: that, or 0.
 */
int areas_each(const struct space *space,
	       int (*fn)(void *ctx, uint64_t va, uint64_t size), void *ctx);

#endif
