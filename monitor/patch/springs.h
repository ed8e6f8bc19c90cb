/*
 * Springboards: jumps to relocated functions, at a distance from the entries
 * that lead there such that all bytes but the first of an entry's jump trap
 * (arch->spring).
 */
#ifndef MONITOR_PATCH_SPRINGS_H
#define MONITOR_PATCH_SPRINGS_H

#include "monitor/process/space.h"
#include "monitor/run.h"

/*
 * Map the memory for the module's springboards.  Without it module->springs
 * stays 0, and the plan's further functions with unknown jumps count by traps.
 */
void springs_map(struct run *run, struct task *task, struct module *module);
/* If pc is at a springboard, the va of the entry that leads there; else 0. */
uint64_t spring_from(const struct space *space, uint64_t pc);
/*
 * If the task has stopped because it came to a byte of an entry's jump but the
 * first, the va of that byte, and where it is; else 0.
 */
uint64_t spring_trapped(struct run *run, const struct task *task,
			struct code_at *at);

#endif
