/*
 * Filters of stack switches: a jump at the hook leads to code that compares the
 * stacks with patterns of switches that pmon has followed, and counts those that
 * are the same (struct switch_filter).
 */
#ifndef MONITOR_PATCH_SWITCH_SITES_H
#define MONITOR_PATCH_SWITCH_SITES_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * Give the module's site number i, which has a hook, a filter, if it can have
 * one.  Nothing of the module is planted yet.
 */
bool switch_filters(struct run *run, struct task *task, struct module *module,
		    uint32_t i);
/* The filter of the module's site number i, or NULL. */
struct switch_site *switch_of(const struct module *module, size_t i);
struct switch_entry *entry_of(const struct module *module, size_t i);
/* Make the filter as it is at va.  0, or -1 if there is no room for it. */
int switch_make(const struct module *module, struct switch_site *sw,
		uint64_t va) MUST_CHECK;
int entry_make(const struct module *module, struct switch_entry *entry,
	       uint64_t va) MUST_CHECK;
/*
 * Move a task out of a filter, in which its pc is at an offset: to before the
 * switch, or behind.
 */
void switch_leave(struct run *run, struct task *task,
		  const struct module *module, const struct switch_site *sw,
		  uint32_t offset);
void entry_leave(struct run *run, struct task *task,
		 const struct module *module, const struct switch_entry *entry,
		 uint32_t offset);
/*
 * The registers that a function of the module was entered with when the stack
 * pointer was sp, as far as a filter has recorded them (*known: 1 << index); the
 * pc is the return address.  The last such entry.  False if there is none.
 */
bool entry_recorded(struct run *run, const struct task *task,
		    const struct module *module, uint64_t sp, struct regs *regs,
		    uint32_t *known);

#endif
