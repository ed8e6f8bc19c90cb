/*
 * Traps that go while programs run: for good, or until counts are reset.
 */
#ifndef MONITOR_PATCH_LIFT_H
#define MONITOR_PATCH_LIFT_H

#include "monitor/run.h"

/*
 * The site's instruction cannot be done anywhere but in its place: remove the
 * trap.  The site's count is unknown then, and its hook sees nothing more.
 */
void site_retire(struct run *run, struct space *space, struct module *module,
		 uint32_t site);
/* Remove the trap of a site that has counted once and is not to count again. */
void plan_lift(struct run *run, struct plan *plan, uint32_t site);
/* Remove the traps of sites that plan_drop has dropped. */
void plan_dropped(struct run *run, struct plan *plan);
/* Remove the trap at addr if it is there for a hook alone. */
void plan_unhook(struct run *run, struct plan *plan, uint64_t addr);
/*
 * All counts have been reset: plant again the traps that plan_lift removed.
 * All tasks stand still.
 */
void plan_again(struct run *run, struct plan *plan);

#endif
