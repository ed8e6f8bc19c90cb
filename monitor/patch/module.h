/*
 * Modules: writes an image's traps, slots and relocated functions to a space.
 * Never decides which images are planted (plant.c), how a site is patched
 * (patched.c), nor what is added later (extend.c).
 */
#ifndef MONITOR_PATCH_MODULE_H
#define MONITOR_PATCH_MODULE_H

#include "monitor/patch/patched.h"
#include "monitor/run.h"

/*
 * Plant all sites and relocated functions in the task's space.  HOST_OK, or
 * HOST_GONE if the process is gone.
 */
int module_fill(struct run *run, struct task *task, struct module *module);
/*
 * Take all traps and patches of the module out of the space's text.  The module
 * itself stays: see module_drop.  HOST_OK, or HOST_ERROR if the kernel has
 * refused to remove some.
 */
int module_unplant(struct run *run, struct space *space, pid_t tid,
		   const struct module *module);

/* The number of traps in the module's text. */
size_t module_traps(const struct module *module);

/* Changes the bytes at a site of the module, given by its index. */
typedef void site_edit(const struct arch *arch, const struct module *module,
		       size_t site, uint8_t *bytes);

site_edit trap_write;
/* Puts the original bytes back, unless the program has overwritten the trap. */
site_edit trap_remove;
/*
 * Apply fn to the text of all sites of the batch.  HOST_OK, or HOST_GONE if
 * some of the text, or the process, is gone; the rest is edited anyway.
 */
int module_edit(struct run *run, struct space *space, pid_t tid,
		const struct module *module, const struct batch *batch,
		site_edit *fn);
/*
 * Not all traps of the batch could be written.  Those that are missing though
 * there is memory are lost, and nothing is known of their functions.
 */
void module_unwritten(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, const struct batch *batch);
/* Does something to a relocated function: see relocated.h. */
typedef void relocated_edit(struct run *run, struct space *space, pid_t tid,
			    const struct module *module, uint32_t fplan);

/*
 * The plan's relocated functions from number `first` up to but not including
 * `last`.
 */
struct span {
	size_t first, last;
};
/* Apply fn to these relocated functions of the plan, except lost ones. */
void relocated_each(struct run *run, struct space *space, pid_t tid,
		    const struct module *module, struct span which,
		    relocated_edit *fn);

#endif
