/*
 * How each site of a module is patched: the choice, by the options and by the
 * text that is found there.  Writes nothing to a space.
 */
#ifndef MONITOR_PATCH_PATCHED_H
#define MONITOR_PATCH_PATCHED_H

#include "monitor/run.h"

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
/* The site with number i in the batch. */
struct site *batch_site(const struct module *module, const struct batch *batch,
			size_t i);
/* The end of the batch's sites, from `first` on, that lie in one page. */
size_t batch_page(const struct module *module, const struct batch *batch,
		  size_t first);
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
 * The site's trap should be gone but could not be removed: choose how its
 * instruction is done, without a change of the text if possible.
 */
void patched_force(struct run *run, struct module *module, uint32_t i);
/* The plan has new sites: make room in module->patched for them. */
void module_grow(struct module *module);
/*
 * There is no trap at the site: if it has a hook that counts depend on, or if
 * such hooks would have been found there, nothing is known of any function in
 * the space.
 */
void site_unhooked(struct space *space, const struct module *module,
		   uint32_t site);
/*
 * Whether the site's trap leads into a relocated function, which it needs then.
 */
bool site_leads(const struct plan *plan, const struct site *site);

#endif
