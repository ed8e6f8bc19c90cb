/*
 * The plan of one image: its functions, where each of them has counters, and
 * the counts.  pmon makes a function's graph and places its counters when the
 * function is first entered (or at once, if asked to); until then the function
 * has only a site at its entry.  All addresses are link addresses (addr).
 * Never touches a process.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "flow/propagate.h"
#include "plan/hook.h"
#include "plan/select.h"
#include "symtab/image.h"

static const uint32_t FUNC_NONE = UINT32_MAX;
static const uint32_t FPLAN_NONE = UINT32_MAX;
static const uint32_t SITE_NONE = UINT32_MAX;

/* ---- what is planned */

struct site {
	uint64_t addr;
	struct insn insn;
	uint32_t fplan;		/* plan->fplans[fplan] contains it; or
				   FPLAN_NONE: a hook alone */
	bool branch;		/* count how often it is taken */
	bool targets;		/* count where its jump or call goes */
	bool waiting;		/* entry of a function that is still to be
				   looked at */
	bool idle;		/* nothing is counted here any more */
	bool lost;		/* could not be planted in some process */
	bool passed;		/* it has counted once: its trap is gone */
	bool leads;		/* its trap leads into the function plan's
				   relocated function */
	bool skips;		/* it jumps past a prefix at which there is, or
				   may be, a trap: it is to go to the prefix */
	uint32_t hook;		/* plan->hooks[hook - 1] is here; 0: none */
	uint64_t hits;		/* by plan_propagate */
};

/* How to read the counter of one arc of a placement. */
struct counter_ref {
	uint32_t site;
	uint8_t kind;		/* enum term_kind */
	uint64_t to;		/* TERM_TARGET */
};

/*
 * A counter behind a call.  With the counter of the call's block it tells how
 * often the call did not come back, or came back twice.
 */
struct pass {
	uint32_t insn;		/* behind the call, by its index in the cfg */
	uint32_t site;
	uint32_t first;		/* the site where the call's block begins */
	bool measured;		/* by plan_propagate: neither is lost */
};

struct relocated;		/* see relocate/relocate.h */

enum fplan_state {
	FPLAN_WAITING,		/* never entered: all its counts are 0 */
	FPLAN_READY,		/* its counters are placed */
	FPLAN_FAULTY,		/* it is not counted: see `why` */
};

/* How often control left an instruction, or came to it, over no edge. */
struct abnormal_insn {
	uint32_t insn;		/* by its index in the cfg */
	bool during;		/* after it began (a call); else before */
	uint64_t left, came;
};

/*
 * One function of the image, or nameless code.  cfg and flow are NULL until
 * the function is looked at, and stay NULL if only its calls are counted, by
 * traps.
 */
struct func_plan {
	uint32_t func;		/* image->funcs[func], or FUNC_NONE */
	uint8_t state;		/* enum fplan_state */
	bool entry;		/* ranges[0] begins with its entry */
	bool guest; /* its entry is in another function plan's code */
	bool looked;		/* its mid-entries into others are noted */
	bool named;		/* its calls are a unit */
	unsigned units;		/* asked for: 1 << enum unit_kind */
	const struct range *ranges;
	size_t nranges;
	bool lost;		/* its relocated function could not be planted
				   somewhere */
	bool differs;		/* it is lost because its text is not the
				   file's: the program, or a tool, changed it */
	bool mid_entered; /* control may come to its middle unseen */
	bool interrupted;	/* a signal interrupted it; the handler came
				   back if all stacks are known */
	bool missed;		/* it may have run before it was looked at */
	const char *why;	/* if FPLAN_FAULTY; outlives the plan */
	uint32_t site;		/* at its entry, or SITE_NONE */
	struct cfg *cfg;
	struct flow *flow;
	struct placement *placement;
	struct counter_ref *counter_refs;	/* as placement->arcs; without a
						   placement, of its own jumps
						   to its entry */
	uint32_t ncounter_refs;
	struct relocated *relocated;	/* counts in its place, or NULL */
	char *stays;		/* why it has none though the plan wishes
				   relocated functions, or NULL */
	struct entry_patch *former;	/* entry patches as they were before
					   they became traps */
	uint32_t nformer;
	uint32_t counter;	/* the relocated function's first counter, as a
				   number among the plan's */
	uint32_t relocated_at;	/* offset of the relocated function in the
				   module's memory for them */
	struct direct_call *callers;	/* calls of it in relocated functions */
	uint32_t ncallers;
	struct pass *passes;	/* ascending */
	size_t npasses;
	/* By plan_propagate: */
	uint8_t doubt;		/* enum count_reason: why not everything is
				   derived; measured counts are known */
	struct count *counts;	/* per arc of the flow */
	struct abnormal_insn *abnormal_insns;	/* ascending insn */
	size_t nabnormal_insns;
	struct count calls;
	size_t nsites;		/* not idle, hooks aside */
	size_t ncounters;	/* placed; several may share a site */
	uint64_t increments;	/* of its sites and its relocated function */
};

/* ---- what is measured */

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
};

/* ---- what is derived */

/*
 * One unit.  A line of a file is one unit however many functions have code
 * for it.  `why`, if set, says why the unit's count is not known.
 */
struct unit {
	uint8_t kind;		/* UNIT_FUNC, UNIT_LINE or UNIT_INLINE */
	uint32_t ref;		/* UNIT_FUNC: plan->image->funcs[ref];
				   UNIT_INLINE: image->inlines[ref], the first
				   of all copies of one function;
				   UNIT_LINE: file, image->files[ref] */
	uint32_t line;		/* UNIT_LINE, UNIT_INLINE's declaration */
	uint32_t func;		/* UNIT_LINE: image->funcs[func] has code of
				   it (others may, too), or FUNC_NONE */
	uint64_t n;
	const char *why;	/* static string or NULL */
	bool summed;		/* some of its code could be counted */
};

/* A row, function or inlined copy that could not be counted. */
struct skip {
	uint64_t addr;
	const char *why;	/* static string */
};

struct plan;

struct plan_wish {
	const struct selection *sel;	/* NULL: nothing but hooks */
	enum placement_method method;
	bool eager;		/* look at all functions at once */
	bool early; /* the same if only calls are counted, in relocated
				   functions: that saves the entries' traps */
	bool relocated;		/* count in relocated functions if possible */
	bool no_traps;		/* every site stays idle: there are no hooks,
				   so nothing is derived, and counts that need
				   a trap are unknown */
	bool counted;		/* counted elsewhere: the plan places nothing,
				   the caller fills in the function plans */
	/*
	 * How often the edges of a function plan, which has a cfg and a flow,
	 * are expected to run.  The plan frees the result; NULL: not known.
	 * The pointer itself may be NULL.
	 */
	struct weights *(*weigh)(void *ctx, const struct plan *plan,
				 const struct func_plan *fplan);
	void *ctx;
	bool leaks;		/* stack walks cannot be relied on: any call
				   may not come back, and there are counters
				   behind calls */
	bool unhooked;		/* nobody walks stacks: code is not searched for
				   hooks */
};

struct build;			/* see plan/build.h */

struct plan {
	struct image *image;	/* owned */
	struct plan_wish wish;
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
	uint32_t *relocated_fplans;	/* function plans with relocated
					   functions, in the order made */
	size_t nrelocated;
	uint32_t *reopened;	/* function plans that got former entry patches
				   or a new trap at their entry, in order */
	size_t nreopened;
	uint32_t ncounters, relocated_size;	/* of all relocated functions so
						   far */
	uint32_t *guards;	/* ascending: counters between those of
				   functions, to which nothing adds */
	size_t nguards;
	struct hook *hooks;	/* the monitor's probes, see plan/hook.h */
	size_t nhooks;
	unsigned hooked;	/* enum hooks_wanted: plan_hooks found these */
	struct counter_set **counter_sets;
	size_t ncounter_sets;
	struct skip *skips;	/* by plan_units */
	size_t nskips;
	bool calls_underivable;		/* some stacks are not known: nothing
					   may be derived behind calls */
	bool underivable; /* nor behind any other instruction */
	bool tampered;		/* counters of relocated functions cannot be
				   trusted */
	uint8_t calls_reason, underivable_reason; /* enum count_reason, the
						     first; 0: the usual one */
	bool unseen;		/* sites are lost because the program ran on
				   unseen by the host */
	uint32_t *index;	/* hash of addr -> site, see plan_site */
	uint32_t index_size;
	struct build *build;	/* plan/'s own */
};

/*
 * Plan the image.  The plan takes ownership of the image; everything that wish
 * points to must outlive the plan.  progress is called as image_open does.  A
 * plan may be empty; NULL with the message set, and the image closed, is
 * returned only if progress asks to stop.
 */
struct plan *plan_open(struct image *image, const struct plan_wish *wish,
		       bool (*progress)(void *), void *arg);
void plan_close(struct plan *plan);

/* Which parts of the image the selection needs: IMAGE_LINES ... */
unsigned plan_wants(const struct selection *sel);

/* The site at addr, or NULL.  Sites move when new ones are added. */
struct site *plan_site(const struct plan *plan, uint64_t addr);

/*
 * Find the hooks of an image of which nothing is counted (no selection), unless
 * an earlier call found them: those where stacks are left only if `infers` says
 * that something is derived.  True if there are new hooks.
 */
bool plan_hooks(struct plan *plan, bool infers);

/*
 * Add a hook of the monitor's own.  Does nothing where there is no instruction
 * or with --no-traps.
 */
void plan_hook(struct plan *plan, const struct hook *hook);

/*
 * Make no relocated functions from now on.  plan->stays is `why`, or the reason
 * of an earlier call.
 */
void plan_relocation_refuse(struct plan *plan, const char *why);

/*
 * Withdraw all relocated functions after plan_relocation_refuse, and look at
 * their functions again.  No task may ever have been in one of them, and they
 * must not be planted in any process.
 */
void plan_copies_withdraw(struct plan *plan);

/* The function plan whose code contains addr, or FPLAN_NONE. */
uint32_t plan_func(const struct plan *plan, uint64_t addr);

/*
 * Look at a waiting function plan and place its counters.  New sites are
 * appended to plan->sites; the site at the entry becomes idle if it is not
 * needed.  Functions into whose middle this one jumps are looked at, too.
 */
void plan_ready(struct plan *plan, uint32_t fplan);

/*
 * Mark all waiting function plans as missed: counting begins while it is not
 * known which functions control is in.
 */
void plan_miss(struct plan *plan);

/* Mark all sites as lost: their counts are not known. */
void plan_lose(struct plan *plan);

/*
 * Make the function plan's cfg and flow if it has none.  False if it cannot
 * have any.
 */
bool plan_graph(struct plan *plan, uint32_t fplan);

/*
 * Make the cfg and flow of a function plan that was counted elsewhere.  Both
 * arrays are ascending: `external` has the addresses to which control came from
 * outside, `leaders` the beginnings of blocks that the code does not show.
 * False if the function plan cannot have a graph.
 */
bool plan_graph_as(struct plan *plan, uint32_t fplan, const uint64_t *leaders,
		   size_t nleaders, const uint64_t *external,
		   size_t nexternal);

/*
 * Give sites to the indirect calls of a function plan that was counted
 * elsewhere, so that recorded arrivals can refer to them.
 */
void plan_targets(struct plan *plan, uint32_t fplan);

/*
 * Whether the instruction is an indirect call, or an indirect jump that may be
 * a tail call.
 */
bool insn_calls_indirect(const struct insn *insn);

/* Whether the plan counts more than calls, and so needs graphs. */
bool plan_graphs(const struct plan *plan);

/* Whether any count of the plan may be derived from others. */
bool plan_infers(const struct plan *plan);

/* ---- counter sets: the monitor counts */

/* The plan's counter set of this number, made when first asked for. */
struct counter_set *plan_counter_set(struct plan *plan, size_t counter_set);
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
/* The abnormal edge of this kind at addr, made if there is none. */
struct abnormal_edge *counter_set_abnormal(struct counter_set *counter_set,
					   uint64_t addr, bool during);
/* Add everything in `from` to `to`.  The plan has nsites sites. */
void counter_set_add(struct counter_set *to, const struct counter_set *from,
		     size_t nsites);
/* Empty the counter set, as if nothing had been counted; it can be reused. */
void counter_set_clear(struct counter_set *counter_set);
void counter_set_free(struct counter_set *counter_set);

/* ---- propagation: counts of blocks and edges from what was measured */

/*
 * Derive the counts of all function plans from the counter set, or from all
 * counter sets together (NULL).  If the plan has graphs, function plans that
 * wait get theirs now; their counts are 0 or, if in doubt, unknown.
 */
void plan_propagate(struct plan *plan, const struct counter_set *counter_set);

/*
 * The same, but function plans that wait get no graph and no counts, unless
 * their counts may not be 0.
 */
void plan_propagate_entered(struct plan *plan,
			    const struct counter_set *counter_set);

/*
 * How often the instruction with this index began, in a propagated function
 * plan.
 */
struct count fplan_insn(const struct func_plan *fplan, uint32_t insn);

/*
 * How often control came to the instruction over an edge or from the
 * instruction before it, whether or not it then began.
 */
struct count fplan_arrivals(const struct func_plan *fplan, uint32_t insn);

/* Why a count is unknown, as a static string; NULL if it is known. */
const char *count_why(const struct count *count);

/*
 * Add up the counts of functions, lines and inlined functions in propagated
 * function plans.  Returns *n units, sorted by kind, then lines by file and
 * line, functions by addr; the caller frees the array.
 *
 * A function's count is the arrivals at its entry other than by its own jumps.
 * A line's count is how often control enters its code from another line's or
 * from outside the function, and how often it goes round a loop within the
 * line.  Each instruction belongs to the last row that begins a statement
 * (is_stmt) at or before it; a row that is empty because of others at the same
 * address counts arrivals there from other lines.  An inlined function's count
 * is the arrivals at the entry of each of its copies from outside that copy.
 */
struct unit *plan_units(struct plan *plan, size_t *n);

#endif
