/*
 * Modules: images planted in a space, and how their text is edited.
 */
#ifndef MONITOR_PATCH_MODULE_H
#define MONITOR_PATCH_MODULE_H

#include "monitor/run.h"

/* Plant all sites in the task's space; HOST_GONE if that is gone. */
int module_fill(struct run *run, struct task *task, struct module *module);
void module_unplant(struct run *run, struct space *space, pid_t tid,
		    const struct module *module);

/* How many traps it has in its text. */
size_t module_traps(const struct module *module);

/* Sites of a module, by index, ascending by address. */
struct batch {
	uint32_t *sites;	/* owned by who made it */
	size_t n;
};

/* All sites, or those from number `first` on; not idle ones. */
struct batch batch_make(const struct module *module, size_t first);
void batch_sort(const struct module *module, struct batch *batch);
/* Read the text under the sites and choose each one's patch; HOST_GONE. */
int batch_choose(struct run *run, struct space *space, pid_t tid,
		 struct module *module, const struct batch *batch);
/* The same by the text that the file has. */
void batch_choose_unread(struct run *run, struct module *module,
			 const struct batch *batch);
/* Choose anew how the site is patched, whose code in the file is known. */
void patched_choose(struct run *run, struct module *module, uint32_t i);
/* The plan has new sites: there is room for how they are patched. */
void module_grow(struct module *module);

/* Change the bytes at a site, the module's by its index. */
typedef void site_edit(const struct arch *arch, const struct module *module,
		       size_t site, uint8_t *bytes);

site_edit trap_write;
/* A program that wrote there itself keeps what it wrote. */
site_edit trap_remove;
/* HOST_OK; HOST_GONE if some of the text, or the process, is gone. */
int module_edit(struct run *run, struct space *space, pid_t tid,
		const struct module *module, const struct batch *batch,
		site_edit *fn);
/* Write the relocated functions from one number up to another. */
void relocated_plant_new(struct run *run, struct space *space, pid_t tid,
			 const struct module *module, size_t first,
			 size_t last);

#endif
