/*
 * The traps of a module's sites.
 */
#ifndef MONITOR_PATCH_TRAPS_H
#define MONITOR_PATCH_TRAPS_H

#include "monitor/patch/patched.h"
#include "monitor/run.h"

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

#endif
