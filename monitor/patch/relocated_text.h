/*
 * The bytes of relocated functions and their entry patches in a process.
 */
#ifndef MONITOR_PATCH_RELOCATED_TEXT_H
#define MONITOR_PATCH_RELOCATED_TEXT_H

#include "monitor/run.h"

/*
 * Whether there is memory at the va, so that a write of text that failed there
 * was refused; if so, the message is set.
 */
bool text_refused(struct run *run, const struct space *space, pid_t tid,
		  uint64_t va);
/*
 * Write the relocated function's code.  HOST_OK, HOST_GONE if the process has
 * ended, or HOST_ERROR with the message set.
 */
int relocated_code_write(struct run *run, const struct space *space, pid_t tid,
			 const struct module *module,
			 const struct func_plan *fplan);
/* Whether the code is there as it was written; true if it cannot be read. */
bool relocated_code_written(struct run *run, const struct space *space,
			    pid_t tid, const struct module *module,
			    const struct func_plan *fplan);
/*
 * Write again what the range has of the module's relocated functions and
 * springboards, also of functions that were given up.
 */
void relocated_code_rewrite(struct run *run, const struct space *space,
			    pid_t tid, const struct module *module,
			    const struct range *range);
/*
 * Write the entry patches that are no traps, except a deferred one.  0, also if
 * the process has ended, or -1 with the message set.
 */
int entry_patches_write(struct run *run, const struct space *space, pid_t tid,
			const struct module *module,
			const struct func_plan *fplan);
/* Whether they are there as they were written; true if they cannot be read. */
bool entry_patches_written(struct run *run, const struct space *space,
			   pid_t tid, const struct module *module,
			   const struct func_plan *fplan);

/*
 * Whether the task's space still has the code of a relocated function with a
 * place for the site, even if the function was given up.
 */
bool relocated_stands(struct run *run, const struct task *task,
		      const struct module *module, const struct site *site);

#endif
