/*
 * Counter sets: what was counted in the sites and relocated functions of one
 * plan, by one process or thread or by all.  Nothing here derives anything.
 */
#ifndef PROBE_COUNTER_SET_H
#define PROBE_COUNTER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/times.h"

struct plan;

struct counter {
	uint64_t hits;		/* how often the instruction was begun */
	uint64_t taken;		/* how often its branch was taken */
};

/* How often an indirect jump or call went to one place. */
struct arrival {
	uint32_t site;
	const struct plan *plan;	/* NULL: somewhere not counted */
	uint64_t addr;
	uint64_t n;
};

/*
 * How often control left a function, or came into it, over no edge: during a
 * call (addr is the call's return address), or before the instruction at addr
 * had begun.
 */
struct abnormal_edge {
	uint64_t addr;
	bool during;
	uint64_t left, came;
	uint64_t sp;		/* as clients are told: the stack pointer there,
				   or 0 */
	bool apart;		/* as clients are told: control went to another
				   stack, and the one that it left stays */
};

/* The counters of one process or thread, or of all. */
struct counter_set {
	struct counter *counters;	/* per site; 0 for sites behind these */
	size_t ncounters;
	struct arrival *arrivals;
	size_t narrivals;
	uint32_t *arrival_index;	/* a hash, see counter_set_arrival */
	size_t arrival_size;
	struct abnormal_edge *abnormals;
	size_t nabnormals;
	uint64_t *slots;	/* counters of relocated functions, by number */
	size_t nslots;
	struct times **times;	/* per function plan, or NULL ... */
	size_t ntimes;		/* ... for those before this one */
};

/* The plan's counter set of this number, made when first asked for. */
struct counter_set *plan_counter_set(struct plan *plan, size_t counter_set);
/* How often the site was hit, in all the plan's counter sets. */
uint64_t plan_hits(const struct plan *plan, size_t site);
/*
 * The site's counter, of nsites sites in the plan.  The pointer is valid until
 * the next call.
 */
struct counter *counter_set_site(struct counter_set *counter_set, uint32_t site,
				 size_t nsites);
/*
 * How often the jump or call at site went to (plan, addr).  If there is no
 * record, makes one if `add` is set, else returns NULL.
 */
struct arrival *counter_set_arrival(struct counter_set *counter_set,
				    uint32_t site, const struct plan *plan,
				    uint64_t addr, bool add);
/* Add n numbers to the counters of relocated functions from `first` on. */
void counter_set_slots(struct counter_set *counter_set, uint32_t first,
		       const uint64_t *counters, size_t n);
/*
 * The times of a function plan, of nfplans in the plan.  The pointer is valid as
 * long as the counter set.
 */
struct times *counter_set_times(struct counter_set *counter_set, uint32_t fplan,
				size_t nfplans);
/* The abnormal edge of this kind at addr, made if there is none. */
struct abnormal_edge *counter_set_abnormal(struct counter_set *counter_set,
					   uint64_t addr, bool during);
/* Add everything in `from` to `to`.  The plan has nsites sites. */
void counter_set_add(struct counter_set *to, const struct counter_set *from,
		     size_t nsites);
/* Empty the counter set, as if nothing had been counted; it can be reused. */
void counter_set_clear(struct counter_set *counter_set);
void counter_set_free(struct counter_set *counter_set);

#endif
