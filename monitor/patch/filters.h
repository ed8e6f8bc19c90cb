/*
 * Filters: instead of a trap at a hook, a jump leads to code that decides in the
 * program whether the hook matters, and traps only then (struct hook.filter).
 * At a system call whose number its caller names it looks at the number, and at
 * one that sets a signal's action, at the signal (struct call_filter); those at
 * stack switches are switch_sites.h's.
 */
#ifndef MONITOR_PATCH_FILTERS_H
#define MONITOR_PATCH_FILTERS_H

#include "monitor/patch/patched.h"
#include "util/fail.h"

/*
 * Give filters to those sites of a batch that can have one, in a module of which
 * nothing is planted yet.  Not where the task may be about to come to the middle
 * of a jump: in a process that is attached to, or has more tasks.
 */
void filters_choose(struct run *run, struct task *task, struct module *module,
		    const struct batch *batch);
/*
 * Write the part of a filter that is in slot `number` to `bytes`, of SLOT_MAX.
 * 0, or -1 if the filter is too far from the hook.
 */
int filter_fill(struct module *module, size_t number,
		uint8_t *bytes) MUST_CHECK;
/* If va is where the trap of a filter is, the va of its hook; else va. */
uint64_t filter_call(const struct space *space, uint64_t va);
/* Whether the module's site with number i has a filter, or had one. */
bool site_filtered(const struct module *module, size_t i);
/*
 * Where a task goes to come to the trap of the module's site again: if it has a
 * filter, to the jump.
 */
uint64_t site_again(const struct module *module, const struct site *site);
/* Where a task goes on that the filter's trap has stopped. */
uint64_t filter_onward(const struct module *module, const struct site *site);
/* Take a task out of the filter of site number i, in which its pc is. */
void filter_leave(struct run *run, struct task *task,
		  const struct module *module, size_t i, uint64_t pc);
/*
 * What is written for the module's site number i: a trap, or a jump to its
 * filter, and at which address.  Returns the length, at most SITE_PATCH.
 */
enum { SITE_PATCH = 8 };
unsigned site_patch(const struct arch *arch, const struct module *module,
		    size_t i, uint64_t *addr, uint8_t *bytes);

#endif
