/*
 * The memory that tasks count in.
 */
#ifndef MONITOR_PROCESS_THREAD_PAGES_H
#define MONITOR_PROCESS_THREAD_PAGES_H

#include "monitor/run.h"

/*
 * Make thread pages of `need` bytes for the task's space, of which it gets one;
 * 0 or -1 with the message if that cannot be.
 */
int thread_pages_open(struct run *run, struct task *task, uint64_t need);
void thread_pages_close(struct run *run, struct space *space);
/* Set part of all thread pages aside; 0, or -1 with the message. */
int thread_pages_reserve(struct space *space, uint64_t need, uint64_t *offset);
/*
 * A fork's child shares the memory; its tasks take thread pages of their own.
 */
struct thread_pages *thread_pages_copy(const struct thread_pages *thread_pages);
/*
 * The image may use the register that thread pages are found by: nothing of the
 * space is to be counted in relocated functions, before it does.
 */
void thread_pages_yield(struct run *run, struct space *space,
			const struct image *image);
/* The task's first stop, or its process was attached to. */
void thread_pages_task(struct run *run, struct task *task);
/*
 * Write what is between the module's counters, in all thread pages of the
 * space, as far as it is new: what is there may show that the program wrote
 * over it.
 */
void thread_pages_guard(const struct space *space, const struct module *module);
/* Where its thread page is, which it has. */
uint64_t thread_pages_va(const struct task *task);
/*
 * Does the stopped task's register still lead to its thread page, as it always
 * did?
 */
bool thread_pages_register(struct run *run, const struct task *task);
/* Does the stopped task see the same memory there as pmon does? */
bool thread_pages_seen(struct run *run, const struct task *task);
/* The task stands still: its counts go to the counter sets. */
void thread_pages_fold(struct run *run, struct task *task);
/*
 * Call peeked for what each task has counted in the plan's relocated functions
 * up to about now, while the tasks run.
 */
typedef void thread_pages_peeked(void *ctx, const uint64_t *counters,
				 size_t n);
void thread_pages_peek(struct run *run, const struct plan *plan,
		       thread_pages_peeked *peeked, void *ctx);
/* A module is no more: what was counted in it goes to the counter sets. */
void thread_pages_forget(struct run *run, struct space *space,
			 const struct module *module);
/* It counts no more. */
void thread_pages_end(struct run *run, struct task *task);
/* It is let go. */
void thread_pages_leave(struct run *run, struct task *task);
/*
 * Call fn for all memory of a space that thread pages are in, until it returns
 * other than 0: that, or 0.
 */
int thread_pages_each(const struct space *space,
		      int (*fn)(void *ctx, uint64_t va, uint64_t size),
		      void *ctx);

#endif
