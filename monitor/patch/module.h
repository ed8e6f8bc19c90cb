/*
 * Modules: chooses how each site of an image is patched in a space, and writes
 * the traps, slots and relocated functions there.  Never decides which images
 * are planted (plant.c), nor what is added later (extend.c).
 */
#ifndef MONITOR_PATCH_MODULE_H
#define MONITOR_PATCH_MODULE_H

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

/* Sites of a module, as indices into the plan's sites, ascending by address. */
struct batch {
	uint32_t *sites;	/* owned by the batch's maker */
	size_t n;
};

/*
 * All sites from number `first` on, except idle ones and those that have made
 * their one count.  The caller frees batch.sites.
 */
struct batch batch_make(const struct module *module, size_t first);
/* Sort the batch by address, after sites have been added to it. */
void batch_sort(const struct module *module, struct batch *batch);
/*
 * Read the text under the sites and choose each one's patch.  HOST_OK, or
 * HOST_GONE if the text cannot be read.
 */
int batch_choose(struct run *run, struct space *space, pid_t tid,
		 struct module *module, const struct batch *batch);
/* The same, but by the text in the file instead of that in memory. */
void batch_choose_unread(struct run *run, struct module *module,
			 const struct batch *batch);
/* Choose again how the site is patched; the text under it is as in the file. */
void patched_choose(struct run *run, struct module *module, uint32_t i);
/*
 * Choose how the site's instruction is done though its trap was to be gone:
 * without a change of its text, if that can be.
 */
void patched_force(struct run *run, struct module *module, uint32_t i);
/* The plan has new sites: make room in module->patched for them. */
void module_grow(struct module *module);

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

/* The plan's relocated functions from number `first` up to but not including
 * `last`. */
struct span {
	size_t first, last;
};
/* Apply fn to these relocated functions of the plan, except lost ones. */
void relocated_each(struct run *run, struct space *space, pid_t tid,
		    const struct module *module, struct span which,
		    relocated_edit *fn);

#endif
