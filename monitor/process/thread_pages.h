/*
 * Thread counter pages: the memory that tasks count in.  To drain counters is
 * to tell them to clients (client_drained) and set them to 0.
 */
#ifndef MONITOR_PROCESS_THREAD_PAGES_H
#define MONITOR_PROCESS_THREAD_PAGES_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * Begin thread pages for the space of the stopped task, with room for at least
 * `need` bytes of counters, and give each of its stopped tasks one.  0, or -1
 * with the message.
 */
int thread_pages_open(struct run *run, struct task *task,
		      uint64_t need) MUST_CHECK;
/*
 * The space is gone: drain the counters of tasks whose end was not seen, and
 * free its thread pages.
 */
void thread_pages_close(struct run *run, struct space *space);
/* May the image use the register that leads to thread pages? */
bool thread_pages_doubtful(const struct image *image);
/*
 * If the image may use the register that leads to thread pages, give the
 * register up for the whole space: true, and space->own_thread_reg says why.
 * The caller refuses relocated functions there (relocated_refuse_space).
 */
bool thread_pages_yield(struct run *run, struct space *space,
			const struct image *image);

/*
 * Give the stopped task a thread page if it needs one.  If there is none for
 * it, give the register up as thread_pages_yield does, and return true.
 */
bool thread_pages_task(struct run *run, struct task *task);

/*
 * Write the module's new guards in all thread pages of the space.  Guards are
 * known values between the counters, which show if the program writes there.
 */
void thread_pages_guard(const struct space *space, const struct module *module);
/*
 * The same for all modules, when the processes that pmon has attached to go on:
 * the kernel takes long to find memory for that many pages.
 */
void thread_pages_guard_late(const struct run *run);
/* The va of the task's thread page; it must have one. */
uint64_t thread_pages_va(const struct task *task);
/*
 * Does the stopped task's register lead to its thread page, and has it never
 * been set since?  true, too, for a task without a page.
 */
bool thread_pages_register(struct run *run, const struct task *task);
/*
 * Does the stopped task's thread page have the generation that it had when the
 * task stopped last?  Else the program has written there, perhaps an old copy
 * of the page.  Begins the next generation.
 */
bool thread_pages_renew(struct task *task);
/*
 * Does the stopped task see the same counters as pmon does?  Call this behind
 * thread_pages_renew: only then is a copy that the program counts in always of
 * an older generation.
 */
bool thread_pages_seen(struct run *run, const struct task *task);
/*
 * Have the stopped task map memory that stands for the page that its register
 * leads to: with the registers that a probe has saved there, all counters 0, and
 * no records.  Its va and *size, for inject_unmap; or 0.
 */
uint64_t thread_pages_spare(struct run *run, struct task *task, uint64_t *size);
/* Drain the counters of a task that stands still; the task keeps its page. */
void thread_pages_drain(struct run *run, struct task *task);
/*
 * Call peeked with each task's counters of the plan's relocated functions, as
 * they are about now, while the tasks run.
 */
typedef void thread_pages_peeked(void *ctx, const uint64_t *counters, size_t n);
void thread_pages_peek(struct run *run, const struct plan *plan,
		       thread_pages_peeked *peeked, void *ctx);
/* The space has unmapped the module: drain all tasks' counters of it. */
void thread_pages_unmapped(struct run *run, struct space *space,
			   const struct module *module);
/* The task has ended or does exec: drain its counters, and free its page. */
void thread_pages_end(struct run *run, struct task *task);
/*
 * pmon detaches from the task: clear its register, unless the program has set
 * that.  Nothing is drained.
 */
void thread_pages_leave(struct run *run, struct task *task);
#endif
