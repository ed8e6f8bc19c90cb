/*
 * Edits of a module's text in every space that has the module.
 */
#ifndef MONITOR_PATCH_SPACES_H
#define MONITOR_PATCH_SPACES_H

#include "monitor/patch/extensions.h"
#include "monitor/patch/traps.h"

/*
 * The first process from p on whose space has the module, or NULL.  Processes
 * that share a space by vfork both have the module: nothing that is done to a
 * space here does harm twice.
 */
struct process *process_with(struct process *p, const struct module *module);
/*
 * All modules of a plan that some space has, each once.  The caller frees the
 * list.
 */
struct module **plan_modules(const struct run *run, const struct plan *plan,
			     size_t *n);

/* One of the space's tasks, preferably a stopped one; or NULL. */
struct task *space_task(struct run *run, const struct space *space);

/* Edit the text of each space that has the module. */
void spaces_edit(struct run *run, const struct module *module,
		 const struct batch *batch, site_edit *fn);
/*
 * Choose patches by the text of any space that can still be read: some
 * processes may be ending.  If no space can be read, choose by the file, for
 * children that pmon has not heard of yet.
 */
void spaces_choose(struct run *run, struct module *module,
		   const struct batch *batch);
/* Write the module's slots with these numbers. */
void spaces_slots(struct run *run, struct module *module, size_t first,
		  size_t last);
/* Stop all tasks of those spaces. */
void spaces_pause(struct run *run, const struct module *module);

/* The next extension, of the module as it is: nothing is planted or retired. */
struct extension extension_begin(struct run *run, struct module *module);

#endif
