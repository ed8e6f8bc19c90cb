/*
 * The plan of one image: its functions, where each of them has counters, and
 * the counts.  pmon makes a function's graph and places its counters when the
 * function is first entered (or at once, if asked to); until then the function
 * has only a site at its entry.  All addresses are link addresses (addr).
 * Never touches a process.
 */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include "probe/counter_set.h"
#include "probe/func_plan.h"
#include "probe/plan_options.h"
#include "probe/sums.h"
#include "program/hook.h"

struct build;			/* see probe/build.h */

struct plan {
	struct image *image;	/* owned */
	struct plan_options options;
	unsigned units;		/* asked for and possible */
	struct func_plan *fplans;	/* functions ascending, then the
					   nameless */
	size_t nfplans;
	struct site *sites;	/* those placed at one time ascending */
	size_t nsites;
	uint32_t *woken;	/* sites that are no longer waiting, or active
				   again; the monitor empties this */
	size_t nwoken;
	uint32_t *reverted;	/* function plans whose relocated functions must
				   not be used any more; the monitor empties
				   this */
	size_t nreverted;
	char *stays;		/* why there are no (more) relocated functions,
				   or NULL */
	bool planted; /* relocated functions are planted in some process */
	bool attached;		/* stacks that no task is on may have frames
				   that are older than counting */
	uint32_t *relocated_fplans;	/* function plans with relocated
					   functions, in the order made */
	size_t nrelocated;
	uint32_t *reopened;	/* function plans that got former entry patches
				   or a new trap at their entry, in order */
	size_t nreopened;
	uint32_t nslots, relocated_size;	/* of all relocated functions so far */
	uint32_t ntables;	/* ... and of these slots, those of indirect
				   jumps' edges */
	struct switch_counter *switches;	/* ascending slot */
	size_t nswitches;
	uint32_t *guards;	/* ascending: slots between those of functions,
				   to which nothing adds */
	size_t nguards;
	struct hook *hooks;	/* the monitor's probes, see program/hook.h */
	size_t nhooks;
	unsigned hooked;	/* enum hooks_wanted: plan_hooks found these */
	struct hook *known;	/* those that it would find, and more, */
	size_t nknown;		/* if image->unsearched, see plan_know_hooks */
	bool maps_unseen;	/* with options.maps: the image may have system
				   calls that map code, and have no hook */
	struct counter_set **counter_sets;
	size_t ncounter_sets;
	struct skip *skips;	/* by plan_units */
	size_t nskips;
	bool calls_underivable;		/* some stacks are not known: nothing
					   may be derived behind calls */
	bool underivable; /* nor behind any other instruction */
	bool unfollowed;	/* a hook where stacks are left was dropped */
	bool strayed;		/* some function plan is */
	double tick_ns;		/* nanoseconds of a tick, in which counter sets
				   have times; 0: no times are measured */
	bool tampered;		/* counters of relocated functions cannot be
				   trusted */
	uint8_t calls_reason, underivable_reason; /* enum count_reason, the
						     first; 0: the usual one */
	bool inside;		/* the simulator counts at its sites, which are
				   no traps, but for hooks */
	bool unseen;		/* sites are lost because the program ran on
				   unseen by the host */
	uint32_t *index;	/* hash of addr -> site, see plan_site */
	uint32_t index_size;
	struct build *build;	/* probe/'s own */
};

/*
 * Plan the image.  The plan takes ownership of the image; everything that
 * options points to must outlive the plan.  progress is called as image_open
 * calls its own.  A plan may be empty; NULL with the message set, and the image
 * closed, is returned only if progress asks to stop.
 */
struct plan *plan_open(struct image *image, const struct plan_options *options,
		       bool (*progress)(void *), void *arg);
/* Free the plan, its image and its counter sets; plan may be NULL. */
void plan_close(struct plan *plan);

/* Are times measured of the plan's functions? */
static inline bool
plan_timed(const struct plan *plan)
{
	return plan->tick_ns > 0;
}

/* Which parts of the image the selection needs: IMAGE_LINES ... */
unsigned plan_wants(const struct selection *sel);

/* The site at addr, or NULL.  Sites move when new ones are added. */
struct site *plan_site(const struct plan *plan, uint64_t addr);

/*
 * A counter of stack switches that leave, and come to, the same places in the
 * plan's functions.
 */
struct switch_counter {
	uint32_t slot;
	struct abnormal_edge *edges;	/* of each such switch */
	size_t n;
};

/* Add one, with edges that it takes over.  Its slot is the plan's last. */
uint32_t plan_switch(struct plan *plan, struct abnormal_edge *edges, size_t n);
/*
 * Turn what the counter set has in the slots of switch counters into abnormal
 * edges.
 */
void plan_switched(const struct plan *plan, struct counter_set *counter_set);

/*
 * Find the hooks of an image of which nothing is counted (no selection), unless
 * an earlier call found them.  `follows` says which hooks are needed where
 * stacks are left: those of plan_follows of the plans that share a space with
 * this one.  True if there are new hooks.
 */
bool plan_hooks(struct plan *plan, unsigned follows);
/*
 * Tell a plan without a selection, whose image is unsearched, all hooks that
 * plan_hooks could find, with HOOKS_MAPS if the plan's options have `maps`, and
 * maps_unseen, from an earlier search.  The plan takes over the array.
 */
void plan_know_hooks(struct plan *plan, struct hook *hooks, size_t n,
		     bool maps_unseen);
/*
 * Whether the code of this function plan may need hooks where stacks are left
 * that are not known yet: they are found when the function is first entered.
 */
bool plan_hooks_wait(const struct plan *plan, uint32_t index);

/*
 * Add a hook of the monitor's own.  Does nothing where there is no instruction
 * or with --no-traps.
 */
void plan_hook(struct plan *plan, const struct hook *hook);

/*
 * Note that control may come to addr from elsewhere, unseen: if the code there
 * was relocated, a trap at addr leads into the relocated function.
 */
void plan_enter(struct plan *plan, uint64_t addr);

/*
 * Note that control came to addr over no edge.  If no known flow leads there,
 * calls of that function may come back that were taken not to.
 */
void plan_came(struct plan *plan, uint64_t addr);

/*
 * Make no relocated functions from now on.  plan->stays is `why`, or the reason
 * of an earlier call.
 */
void plan_relocation_refuse(struct plan *plan, const char *why);

/*
 * How many edges of indirect jumps may have counters in the relocated functions
 * of an image: a quarter of what other counters may need, and some.
 */
uint32_t plan_tables_max(const struct image *image);

/*
 * Withdraw all relocated functions after plan_relocation_refuse, and look at
 * their functions again.  No task may ever have been in one of them, and they
 * must not be planted in any process.
 */
void plan_relocation_withdraw(struct plan *plan);

/*
 * A task has come to addr, a byte that a function's jump to a springboard
 * overwrites: have a trap in place of the jump from now on, and another one at
 * addr if the relocated function counts there; if it cannot, it is lost.
 */
void plan_unspring(struct plan *plan, uint32_t fplan, uint64_t addr);

/* The function plan whose code contains addr, or FPLAN_NONE. */
uint32_t plan_func(const struct plan *plan, uint64_t addr);
/* The function whose plan has the address; NULL if none, or nameless code. */
const struct func *plan_func_at(const struct plan *plan, uint64_t addr);

/*
 * Look at a waiting function plan and place its counters.  New sites are
 * appended to plan->sites; the site at the entry becomes idle if it is not
 * needed.  Functions into whose middle this one jumps are looked at, too.
 */
void plan_ready(struct plan *plan, uint32_t fplan);

/*
 * Mark all waiting function plans as missed: control may be in them since
 * before counting began, or may come back to frames as old, and it is not known
 * where.
 */
void plan_miss(struct plan *plan);

/*
 * Drop the site's counter, or its hook where stacks are left, because its trap
 * costs too much: what is counted there is unknown.  If the trap leads into a
 * relocated function, that is lost.
 * `why` is a text for reports.  The monitor has to remove the traps, and to
 * undo what has been reverted.
 */
void plan_drop(struct plan *plan, uint32_t site, const char *why);

/* Mark all sites as lost: their counts are not known. */
void plan_lose(struct plan *plan);
/* The same for the functions with code in [lo, hi). */
void plan_lose_range(struct plan *plan, uint64_t lo, uint64_t hi);

/*
 * Make the function plan's cfg and flow if it has none.  False if it cannot
 * have any, or counts at its beginning alone.
 */
bool plan_graph(struct plan *plan, uint32_t fplan);

/*
 * Whether the instruction is an indirect call, or an indirect jump that may be
 * a tail call.
 */
bool insn_calls_indirect(const struct insn *insn);

/* Whether the plan counts more than calls, and so needs graphs. */
bool plan_graphs(const struct plan *plan);

/* Whether any count of the plan may be derived from others. */
bool plan_infers(const struct plan *plan);

/* The hooks where stacks are left that the plan's counts need, in all code. */
unsigned plan_follows(const struct plan *plan);

/*
 * Whether the image may write or replace text, so that no call may be
 * redirected.  A library of which nothing is counted is trusted not to map
 * anything over text.
 */
bool plan_rewrites(const struct plan *plan);

#endif
