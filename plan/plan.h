/*
 * The plan of one image: its functions, what of each gets a counter, and the
 * counts.  A function's graph is made and its counters are placed when it is
 * first entered (or at once, if asked for); until then it has a site at its
 * entry only.  Link addresses only; never touches a process.
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
	uint32_t fplan;		/* plan->fplans[fplan], whose code it is in */
	bool branch;		/* how often it is taken is wanted */
	bool targets;		/* where its jump or call goes is wanted */
	bool waiting;		/* entry of a function that is still to be
				   looked at */
	bool idle;		/* nothing is counted here any more */
	bool lost;		/* could not be planted somewhere */
	bool passed;		/* its one count is made: the trap is gone */
	bool leads;		/* a trap that leads into the function plan's
				   relocated function */
	bool skips;		/* its jump past a prefix is to go to where
				   that is: there is, or may be, a trap */
	uint32_t hook;		/* plan->hooks[hook - 1] is here; 0: none */
	uint64_t hits;		/* by plan_propagate */
};

/* How the counter of one arc of a placement is read. */
struct counter_ref {
	uint32_t site;
	uint8_t kind;		/* enum term_kind */
	uint64_t to;		/* TERM_TARGET */
};

/*
 * A counter behind a call, which says how often that came back, if it is
 * known how often its block was begun.
 */
struct pass {
	uint32_t insn;		/* the one behind, by its index in the cfg */
	uint32_t site;
	uint32_t first;		/* the site where the block begins */
	bool measured;		/* by plan_propagate: neither is lost */
};

struct relocated;			/* see relocate/relocate.h */

enum fplan_state {
	FPLAN_WAITING,		/* never entered: all its counts are 0 */
	FPLAN_READY,		/* its counters are placed */
	FPLAN_FAULTY,		/* it is not counted: see why */
};

/* Control left an instruction, or came to it, over no edge, so many times. */
struct abnormal_insn {
	uint32_t insn;		/* by its index in the cfg */
	bool during;		/* it was begun: a call; else it was not */
	uint64_t left, came;
};

/*
 * One function of the image, or nameless code.  cfg and flow are NULL until
 * the function is looked at, and stay so if nothing but its calls is
 * counted.
 */
struct func_plan {
	uint32_t func;		/* image->funcs[func], or FUNC_NONE */
	uint8_t state;		/* enum fplan_state */
	bool entry;		/* ranges[0] begins with its entry */
	bool guest; /* its entry is in another function plan's code */
	bool looked;		/* where its graph leads is known */
	bool named;		/* its calls are a unit */
	unsigned units;		/* asked for: 1 << enum unit_kind */
	const struct range *ranges;
	size_t nranges;
	bool lost;		/* its relocated function could not be planted
				   somewhere */
	bool differs;		/* ... since its text is not the file's: the
				   program, or another tool, changed it */
	bool mid_entered; /* control may come to its middle unseen */
	bool interrupted;	/* a signal came there, whose handler came back
				   if all stacks are known */
	bool missed;		/* it may have run before it was looked at */
	const char *why;	/* FPLAN_FAULTY; lent for ever, or NULL */
	uint32_t site;		/* at its entry, or SITE_NONE */
	struct cfg *cfg;
	struct flow *flow;
	struct placement *placement;
	struct counter_ref *counter_refs;	/* as placement->arcs; without a
						   placement, of its own jumps
						   to its entry */
	uint32_t ncounter_refs;
	struct relocated *relocated;	/* that counts, or NULL */
	char *stays;		/* why it has none though relocated functions
				   are wished, or NULL */
	struct entry_patch *former;	/* ways into the relocated function as
					   they were before they became traps */
	uint32_t nformer;
	uint32_t counter;	/* the relocated function's first counter, of
				   the plan's */
	uint32_t relocated_at;	/* where the relocated function is in its
				   module's thread page */
	struct direct_call *callers;	/* of copied functions: calls of this */
	uint32_t ncallers;
	struct pass *passes;	/* ascending */
	size_t npasses;
	/* By plan_propagate: */
	uint8_t doubt;		/* enum count_reason: why nothing is derived;
				   what was measured itself is known */
	struct count *counts;	/* per arc of the flow */
	struct abnormal_insn *abnormal_insns;	/* ascending insn */
	size_t nabnormal_insns;
	struct count calls;
	size_t nsites;		/* planted, hooks aside */
	size_t ncounters;	/* placed; several may share a site */
	uint64_t increments;	/* hits of its sites */
};

/* ---- what is measured */

struct counter {
	uint64_t hits;		/* how often the instruction was begun */
	uint64_t taken;		/* ... and its branch was taken */
};

/* Where an indirect jump or call went. */
struct arrival {
	uint32_t site;
	const struct plan *plan;	/* NULL: somewhere not counted */
	uint64_t addr;
	uint64_t n;
};

/*
 * Control left a function, or came into it, over no edge: at a call, before
 * it came back (addr is where it would have), or before the instruction at
 * addr had begun.
 */
struct abnormal_edge {
	uint64_t addr;
	bool during;
	uint64_t left, came;
};

/* The counters of one process or thread, or of all. */
struct counter_set {
	struct counter *counters;	/* per site; those behind the end: 0 */
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
 * for it.  why, if set, says why its count is not known.
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
	bool summed;		/* some of its code can be counted */
};

/* A row, function or site that could not be planted. */
struct skip {
	uint64_t addr;
	const char *why;	/* static string */
};

struct plan;

struct plan_wish {
	const struct selection *sel;	/* NULL: nothing but hooks */
	enum placement_method method;
	bool eager;		/* look at all functions at once */
	bool early; /* ... if then there are fewer traps: nothing
				   but calls is counted, in relocated functions */
	bool relocated;		/* count in relocated functions where that can
				   be done */
	bool no_traps;		/* nothing may have a site that is not idle:
				   there are no hooks, so nothing is derived,
				   and what only a trap counts is not */
	bool counted;		/* elsewhere: nothing is placed, function plans
				   are filled in by who knows the counts */
	/*
	 * How often its edges are expected to run: the function plan has a cfg
	 * and a flow.  Owned by the plan; NULL: not known.  The function may be
	 * NULL itself.
	 */
	struct weights *(*weigh)(void *ctx, const struct plan *plan,
				 const struct func_plan *fplan);
	void *ctx;
	bool leaks;		/* stacks cannot be relied on to be walked: no
				   call is taken to come back, but counted
				   behind */
	bool unhooked;		/* nobody walks stacks: there are no hooks for
				   that */
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
	uint32_t *woken;	/* sites that waited and do not any more; the
				   monitor empties this */
	size_t nwoken;
	uint32_t *reverted;	/* function plans whose relocated functions are
				   not to be used any more; the monitor empties
				   this */
	size_t nreverted;
	char *stays;		/* why there are no (more) relocated functions,
				   or NULL */
	bool planted; /* its relocated functions have been, somewhere */
	uint32_t *relocated_fplans;	/* function plans that have relocated
					   functions, as they came */
	size_t nrelocated;
	uint32_t *reopened;	/* those with former entry patches or, at their
				   entry, a trap that was not there; as these
				   came */
	size_t nreopened;
	uint32_t ncounters, relocated_size;	/* of all relocated functions so
						   far */
	uint32_t *guards;	/* those of them, ascending, that are between
				   functions' counters: nothing adds to them */
	size_t nguards;
	struct hook *hooks;	/* where the monitor looks at stacks */
	size_t nhooks;
	unsigned hooked;	/* plan_hooks has found these: enum
				   hooks_wanted */
	struct counter_set **counter_sets;
	size_t ncounter_sets;
	struct skip *skips;	/* by plan_units */
	size_t nskips;
	bool calls_underivable;		/* some stacks are not known: nothing
					   may be derived behind calls */
	bool underivable; /* nor may behind any other instruction */
	bool tampered;		/* what was counted in relocated functions is
				   not known */
	uint8_t calls_reason, underivable_reason; /* enum count_reason: why
						     first; 0: as usual */
	bool unseen;		/* sites are lost since the host says so */
	uint32_t *index;	/* hash of addr -> site, see plan_site */
	uint32_t index_size;
	struct build *build;	/* plan/'s own */
};

/*
 * Plan the image, of which the plan takes ownership; what wish points to must
 * outlive it.  progress as for image_open.  NULL with the message set, and the
 * image closed, only if it says that this is to stop: a plan may be empty.
 */
struct plan *plan_open(struct image *image, const struct plan_wish *wish,
		       bool (*progress)(void *), void *arg);
void plan_close(struct plan *plan);

/* What of the image must be read for the selection: IMAGE_LINES ... */
unsigned plan_wants(const struct selection *sel);

/* The site at addr, or NULL.  Sites move when new ones are added. */
struct site *plan_site(const struct plan *plan, uint64_t addr);

/*
 * Find the hooks of an image of which nothing is counted, if that is not done
 * yet; where stacks are left only if something is derived.  False if there are
 * none, or nothing has changed.
 */
bool plan_hooks(struct plan *plan, bool infers);

/* Add a hook of the monitor's own; none where there is no instruction. */
void plan_hook(struct plan *plan, const struct hook *hook);

/* From here on nothing is copied, for this reason (or an earlier one). */
void plan_relocation_refuse(struct plan *plan, const char *why);

/*
 * After that, if nobody has ever been in a relocated function and they are not
 * in any process: the functions that had some are looked at again.
 */
void plan_copies_withdraw(struct plan *plan);

/* The function plan whose code addr is in, or FPLAN_NONE. */
uint32_t plan_func(const struct plan *plan, uint64_t addr);

/*
 * Look at a waiting function plan and place its counters: new sites are behind
 * the old, its entry's is idle if it is not needed.  Others may have to be
 * looked at with it, into which it jumps.
 */
void plan_ready(struct plan *plan, uint32_t fplan);

/*
 * Counting begins, and it is not known what functions control is in: those
 * that wait may be among them.
 */
void plan_miss(struct plan *plan);

/* What was counted at its sites is not known. */
void plan_lose(struct plan *plan);

/*
 * Make the function plan's cfg and flow if it has none.  false if it cannot
 * have any.
 */
bool plan_graph(struct plan *plan, uint32_t fplan);

/*
 * The same for a function plan that was counted elsewhere: external are the
 * addresses, ascending, to which control came from outside, leaders those where
 * blocks begin that the code does not show.
 */
bool plan_graph_as(struct plan *plan, uint32_t fplan, const uint64_t *leaders,
		   size_t nleaders, const uint64_t *external,
		   size_t nexternal);

/*
 * Where such a function plan's indirect calls go has been recorded: give them
 * sites, for arrivals.
 */
void plan_targets(struct plan *plan, uint32_t fplan);

/*
 * Whether it is wanted where the instruction goes: a call, or a jump that may
 * be one.
 */
bool insn_calls_indirect(const struct insn *insn);

/* Whether the plan has to do with more than calls: with graphs. */
bool plan_graphs(const struct plan *plan);

/* Whether any count of the plan may be derived from others. */
bool plan_infers(const struct plan *plan);

/* ---- counter sets: the monitor counts */

/* Number `counter_set` of the plan, made when first asked for. */
struct counter_set *plan_counter_set(struct plan *plan, size_t counter_set);
/* The site's counter; valid until the next call. */
struct counter *counter_set_site(struct counter_set *counter_set, uint32_t site,
				 size_t nsites);
/* What of (site, plan, addr) was counted; room for it if add is set. */
struct arrival *counter_set_arrival(struct counter_set *counter_set,
				    uint32_t site, const struct plan *plan,
				    uint64_t addr, bool add);
/* Add to the counters of relocated functions from number first on. */
void counter_set_slots(struct counter_set *counter_set, uint32_t first,
		       const uint64_t *counters, size_t n);
/* The abnormal edge of this kind at addr, made if there is none. */
struct abnormal_edge *counter_set_abnormal(struct counter_set *counter_set,
					   uint64_t addr, bool during);
void counter_set_add(struct counter_set *to, const struct counter_set *from,
		     size_t nsites);
/* Nothing was counted. */
void counter_set_clear(struct counter_set *counter_set);
void counter_set_free(struct counter_set *counter_set);

/* ---- propagation: counts of blocks and edges from what was measured */

/*
 * Derive the counts of all function plans from the counter set, or from all
 * counter sets together (NULL).  Function plans that wait have no counts unless
 * they get a graph: then theirs are 0.
 */
void plan_propagate(struct plan *plan, const struct counter_set *counter_set);

/* The same without graphs for function plans that wait. */
void plan_propagate_entered(struct plan *plan,
			    const struct counter_set *counter_set);

/*
 * How often an instruction of a propagated function plan, by its index, was
 * begun.
 */
struct count fplan_insn(const struct func_plan *fplan, uint32_t insn);

/*
 * How often control came to it over an edge or from the instruction before,
 * whether or not it was then begun.
 */
struct count fplan_arrivals(const struct func_plan *fplan, uint32_t insn);

/* Why a count is not known, as text. */
const char *count_why(const struct count *count);

/*
 * The counts of functions, lines and inlined functions, from propagated
 * function plans; by kind; lines by file, line; functions by addr.  Owned by
 * the caller.
 * A function counts arrivals at its entry other than by its own jumps.  A line
 * counts how often control enters its code from that of another line or from
 * outside the function, and how often it goes round a loop within: each
 * instruction belongs to the last row that begins a statement (is_stmt) at or
 * before it; a row that others at the same address leave empty counts arrivals
 * there from other lines.  An inlined function counts arrivals at the entries
 * of its copies from outside each.
 */
struct unit *plan_units(struct plan *plan, size_t *n);

#endif
