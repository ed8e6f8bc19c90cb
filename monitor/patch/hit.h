/*
 * Hits: a task has stopped at one of pmon's traps.  trap.c handles those
 * that were reported; unreported.c looks for those that were not.
 */
#ifndef MONITOR_PATCH_HIT_H
#define MONITOR_PATCH_HIT_H

#include "monitor/process/client.h"
#include "util/fail.h"

struct hit {
	struct module *module;
	struct site *site;
	const struct patched *patched;
	uint64_t va;
	bool still;		/* the space stands still until the instruction
				   is done: sigtrap_still */
};

/* Whether there is a trap at hit->va; if so, fill in the rest of *hit. */
bool hit_trapped(const struct task *task, struct hit *hit);

/*
 * Whether one of pmon's traps caused this stop.  Only such a trap leaves the pc
 * inside an instruction; elsewhere the signal may have been sent.  HOST_OK if
 * it did, HOST_ERROR if not, HOST_GONE if the task was killed.
 */
int hit_find(struct run *run, const struct task *task,
	     struct hit *hit) MUST_CHECK;

/* Whether the pc is where the trap of a site leaves it; if so, fill in *hit. */
bool hit_before(struct run *run, const struct task *task, struct hit *hit);

/* The number of the hit's site in the plan. */
uint32_t hit_number(const struct hit *hit);

/* Whether the trap is still in the text. */
bool hit_stands(struct run *run, const struct task *task,
		const struct hit *hit);

/*
 * Whether the trap is the program's own, and a patch has been written over it
 * since: the task has not gone through that patch.
 */
bool hit_overwritten(struct run *run, const struct task *task,
		     const struct hit *hit);

/* Tell clients what happened at the site. */
void hit_tell(struct run *run, const struct task *task, const struct hit *hit,
	      enum site_event what);

/*
 * The site's instruction has been stepped and led to pc: tell clients whether
 * its branch was taken, and its target.
 */
void hit_stepped(struct run *run, const struct task *task,
		 const struct hit *hit, uint64_t pc);

/* The site's jump or call went to va. */
void hit_target(struct run *run, const struct task *task, const struct hit *hit,
		uint64_t va);

/*
 * pmon has just attached to the task.  If the task is in a system call that it
 * will begin again, and there is a trap at the call, do not count the next hit:
 * the call began before counting did.
 */
void hit_again(struct run *run, struct task *task);

/*
 * The instruction of the hit was counted, but this event came before it was
 * done.  sp is the stack pointer at the site.
 */
void hit_undone(struct run *run, struct task *task, const struct hit *hit,
		uint64_t sp, const struct event *event);

#endif
