/*
 * Which sites at functions' entries get a trap and which lose theirs when a
 * module is extended.  The caller frees the sites of each batch returned.
 */
#ifndef MONITOR_PATCH_ENTRY_SITES_H
#define MONITOR_PATCH_ENTRY_SITES_H

#include "monitor/patch/patched.h"
#include "monitor/run.h"

/*
 * The entries wait no longer: choose the patch of each for good, or retire it.
 * With `defers` the traps at the entries of relocated functions stay, and lead
 * there.  Returns the entries retired.
 */
struct batch entries_choose(struct run *run, struct module *module,
			    const struct batch *entries, bool defers);
/*
 * Add to *fresh those entries among the first `nsites` sites that are to have
 * traps and have none: they were given up, or began with the program's own.
 */
void entries_revive(const struct module *module, const struct batch *entries,
		    size_t nsites, struct batch *fresh);
/*
 * Retire the entries that need a slot and have found no room for one, and add
 * them to *retired.
 */
void entries_refused(struct module *module, const struct batch *entries,
		     struct batch *retired);
/*
 * Retire and return the entries whose jumps were deferred and that lead into
 * relocated functions without a trap from now on, or that are lost.
 */
struct batch entries_undeferred(struct module *module);

#endif
