/*
 * Springboards: jumps to relocated functions, at a distance from the entries
 * that lead there such that all bytes but the first of an entry's jump stop
 * whoever comes to them (arch->emit.springs).
 */
#ifndef MONITOR_PATCH_SPRINGS_H
#define MONITOR_PATCH_SPRINGS_H

#include "monitor/patch/room.h"
#include "monitor/process/space.h"
#include "monitor/run.h"

/*
 * Map the memory for the module's springboards.  Without it module->springs
 * stays 0, and the plan's further functions with unknown jumps count by traps.
 */
void springs_map(struct room *room, struct module *module);
/* If pc is at a springboard, the va of the entry that leads there; else 0. */
uint64_t spring_from(const struct space *space, uint64_t pc);
/*
 * If the task stands where a byte of an entry's jump, other than the first,
 * leaves it by raising the signal (SIGTRAP or SIGILL): the va of that byte,
 * with *at set to the code there.  Else 0.
 */
uint64_t spring_before(struct run *run, const struct task *task, int signal,
		       struct code_at *at);
/* The same, if the task has stopped because of that. */
uint64_t spring_reached(struct run *run, const struct task *task, int signal,
			struct code_at *at);
/* Whether the text at that va no longer has the byte of the jump. */
bool spring_removed(struct run *run, const struct task *task,
		    const struct code_at *at, uint64_t va);

#endif
