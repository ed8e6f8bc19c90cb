/*
 * Adds up events over a table: each element's count times its weight.  A sum
 * with a summand that is not known is not known.
 */
#include "report/event_sums.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "report/callees.h"
#include "report/names.h"
#include "report/view.h"
#include "util/mem.h"

/* The function that is being added. */
struct adding {
	const struct events *events;
	const struct view *view;
	const struct func *func;	/* or NULL */
	bool *chosen;		/* per event: it counts in this function, as
				   far as functions and objects tell */
	struct figure *sums;	/* per event */
	struct callees *callees;	/* empty, but for memory to use again */
};

static const char too_large[] = "the sum is too large";
static const char callee_not_known[] = "it is not known what was called";
static const char no_classes[] =
	"what instructions do is not known on this CPU";

/* Add weight * count. */
static void
sum_add(struct figure *sum, uint64_t weight, struct figure count)
{
	if (__builtin_mul_overflow(weight, count.n, &count.n)) {
		count.n = UINT64_MAX;
		count.why = too_large;
	}
	figure_add(sum, &count);
}

/* ---- where */

static bool
func_is(const struct selection *of, const struct func *func)
{
	return func ? select_func(of, func->name, func->aliases,
				  func->naliases) :
		      !of->funcs.n;
}

/* Whether the event may count in this function, whatever its files. */
static bool
where_func(const struct event_def *event, const struct plan *plan,
	   const struct func *func)
{
	const struct selection *where = &event->where;

	if (where->objects.n && !select_object(where, plan->image->path, false))
		return false;
	return func_is(where, func);
}

static bool
where_file(const struct event_def *event, const struct table *table,
	   uint32_t file)
{
	if (!event->where.files.n)
		return true;
	return file != FILE_NONE &&
	       select_file(&event->where, table->files[file].path);
}

static bool
where_insn(const struct event_def *event, const struct view *view,
	   uint32_t insn)
{
	const struct row *row = view->rows[insn];

	if (!event->where.files.n)
		return true;
	return row &&
	       where_file(event, view->table,
			  table_file(view->table, view->plan_index, row->file));
}

/* ---- instructions */

/* A set of enum insn_set. */
static unsigned
flow_classes(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_BRANCH:
		return INSNS_ALL | INSNS_BRANCH;
	case INSN_JUMP:
		return INSNS_ALL | INSNS_JUMP;
	case INSN_JUMP_INDIRECT:
		return INSNS_ALL | INSNS_JUMP | INSNS_INDIRECT;
	case INSN_CALL:
		return INSNS_ALL | INSNS_CALLS;
	case INSN_CALL_INDIRECT:
		return INSNS_ALL | INSNS_CALLS | INSNS_INDIRECT;
	case INSN_RETURN:
		return INSNS_ALL | INSNS_RETURN;
	case INSN_SYSCALL:
		return INSNS_ALL | INSNS_SYSCALL;
	default:
		return INSNS_ALL;
	}
}

static unsigned
insn_classes(const struct image *image, const struct insn *insn)
{
	size_t avail;
	const uint8_t *code = image_text(image, insn->addr, &avail);
	unsigned set = flow_classes(insn);

	if (code && image->arch->classes)
		set |= image->arch->classes(code, avail);
	return set;
}

static void
insn_add(const struct adding *adding, uint32_t insn)
{
	const struct view *view = adding->view;
	const struct image *image = view->plan->image;
	unsigned set = insn_classes(image, &view->fplan->cfg->insns[insn]);

	for (size_t e = 0; e < adding->events->n; e++) {
		const struct event_def *event = &adding->events->events[e];

		if (!adding->chosen[e] || !where_insn(event, view, insn))
			continue;
		for (size_t k = 0; k < event->nterms; k++) {
			const struct event_term *term = &event->terms[k];
			struct figure count = view_insn(view, insn);

			if (term->kind != ELEMENT_INSNS)
				continue;
			if (term->insns < INSNS_ALL && !image->arch->classes)
				count = (struct figure){ .why = no_classes };
			else if (!(term->insns & set))
				continue;
			sum_add(&adding->sums[e], term->weight, count);
		}
	}
}

static void
taken_add(const struct adding *adding, uint32_t block)
{
	uint32_t last = view_last(adding->view, block);
	struct figure taken, fall;

	if (adding->view->fplan->cfg->insns[last].kind != INSN_BRANCH)
		return;
	view_branch(adding->view, block, &taken, &fall);
	for (size_t e = 0; e < adding->events->n; e++) {
		const struct event_def *event = &adding->events->events[e];

		if (!adding->chosen[e] ||
		    !where_insn(event, adding->view, last))
			continue;
		for (size_t k = 0; k < event->nterms; k++)
			if (event->terms[k].kind == ELEMENT_TAKEN)
				sum_add(&adding->sums[e],
					event->terms[k].weight, taken);
	}
}

/* Calls of and jumps to what is not counted as it is in no function. */
static void
outside_add(const struct adding *adding, uint32_t insn, struct figure *outside)
{
	const struct view *view = adding->view;
	const struct insn *i = &view->fplan->cfg->insns[insn];
	struct figure count = view_insn(view, insn), fall;

	if (i->kind == INSN_BRANCH)
		view_branch(view, cfg_block_of(view->fplan->cfg, insn), &count,
			    &fall);
	if ((i->kind == INSN_CALL || i->kind == INSN_JUMP ||
	     i->kind == INSN_BRANCH) &&
	    plan_func(view->plan, i->target) == FPLAN_NONE)
		figure_add(outside, &count);
}

/* Blocks that never ran add nothing, and to decode them takes long. */
static void
blocks_add(const struct adding *adding, struct figure *outside)
{
	const struct cfg *cfg = adding->view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		struct figure count = view_block(adding->view, b);

		if (adding->view->padding[b] || (!count.why && !count.n))
			continue;
		for (uint32_t i = 0; i < cfg->blocks[b].count; i++) {
			insn_add(adding, cfg->blocks[b].first + i);
			outside_add(adding, cfg->blocks[b].first + i, outside);
		}
		taken_add(adding, b);
	}
}

/* ---- elements of one function */

static void
place_add(const struct adding *adding, size_t e, const struct event_term *term)
{
	long insn = cfg_insn(adding->view->fplan->cfg,
			     adding->func->addr + term->offset);

	if (insn >= 0 && where_insn(&adding->events->events[e], adding->view,
				    (uint32_t)insn))
		sum_add(&adding->sums[e], term->weight,
			view_insn(adding->view, (uint32_t)insn));
}

bool
event_edge_next(const struct func_plan *fplan, const struct func *func,
		const struct event_term *term, uint32_t *edge)
{
	const struct cfg *cfg = fplan->cfg;
	const struct flow *flow = fplan->flow;
	long last = cfg_insn(cfg, func->addr + term->offset);
	long to = cfg_block(cfg, func->addr + term->to_offset);
	uint32_t from;

	if (last < 0 || to == BLOCK_NONE)
		return false;
	from = FLOW_BLOCK + cfg_block_of(cfg, (size_t)last);
	if (*edge < flow->out[from])
		*edge = flow->out[from];
	while (*edge < flow->out[from + 1] &&
	       flow->edges[*edge].to != FLOW_BLOCK + (uint32_t)to)
		++*edge;
	return *edge < flow->out[from + 1];
}

static void
edge_add(const struct adding *adding, size_t e, const struct event_term *term)
{
	const struct view *view = adding->view;
	const struct flow *flow = view->fplan->flow;

	for (uint32_t k = 0;
	     event_edge_next(view->fplan, adding->func, term, &k); k++)
		if (where_insn(&adding->events->events[e], view,
			       view_last(view,
					 flow->edges[k].from - FLOW_BLOCK)))
			sum_add(&adding->sums[e], term->weight,
				view_edge(view, k));
}

/* ---- calls */

enum callee_match { CALLEE_OTHER, CALLEE_MEANT, CALLEE_UNKNOWN };

/*
 * Whether a call is of a function that is meant: by the name through which the
 * program imports it, or by where it went.  One through a stub of a static
 * program goes to what the program has chosen at its start.
 */
static enum callee_match
callee_match(const struct view *view, const struct callee *callee,
	     const struct selection *to)
{
	const struct image *image = view->plan->image;
	const struct insn *insn = &view->fplan->cfg->insns[callee->insn];
	bool indirect = insn->kind == INSN_CALL_INDIRECT ||
			insn->kind == INSN_JUMP_INDIRECT;
	const char *import = indirect ? name_imported(image, insn) :
					stub_import(image, insn->target);
	const struct func *func = NULL;
	uint32_t fplan = FPLAN_NONE;

	if (!import && callee->plan)
		import = stub_import(callee->plan->image, callee->addr);
	/* An empty name: all functions are meant. */
	if (select_func(to, import ? import : "", NULL, 0))
		return CALLEE_MEANT;
	if (callee->plan)
		func = func_entered(callee->plan->image, callee->addr);
	if (func)
		return func_is(to, func) ? CALLEE_MEANT : CALLEE_OTHER;
	if (import)
		return CALLEE_OTHER;
	/* Into the middle of a function, which is no call of it. */
	if (callee->plan)
		fplan = plan_func(callee->plan, callee->addr);
	return fplan != FPLAN_NONE &&
			       callee->plan->fplans[fplan].func != FUNC_NONE ?
		       CALLEE_OTHER :
		       CALLEE_UNKNOWN;
}

static const char *
callee_why(const struct callee *callee)
{
	return callee->where == CALLEE_UNSEEN	  ? callees_unseen :
	       callee->where == CALLEE_UNRECORDED ? callees_unrecorded :
						    callee_not_known;
}

static void
calls_add(const struct adding *adding, size_t e, const struct event_term *term)
{
	for (size_t i = 0; i < adding->callees->n; i++) {
		const struct callee *callee = &adding->callees->calls[i];
		struct figure count = callee->count;
		enum callee_match match;

		if ((!count.why && !count.n) ||
		    !where_insn(&adding->events->events[e], adding->view,
				callee->insn))
			continue;
		match = callee_match(adding->view, callee, &term->to);
		if (match == CALLEE_OTHER)
			continue;
		if (match == CALLEE_UNKNOWN)
			count = (struct figure){
				.why = count.why ? count.why :
						   callee_why(callee),
			};
		sum_add(&adding->sums[e], term->weight, count);
	}
}

/* Whether an event counts calls that the function makes. */
static bool
calls_wanted(const struct adding *adding)
{
	for (size_t e = 0; e < adding->events->n; e++) {
		const struct event_def *event = &adding->events->events[e];

		for (size_t k = 0; adding->chosen[e] && k < event->nterms; k++)
			if (event->terms[k].kind == ELEMENT_CALL &&
			    func_is(&event->terms[k].of, adding->func))
				return true;
	}
	return false;
}

/* Add what terms name in the function. */
static void
elements_add(const struct adding *adding)
{
	if (calls_wanted(adding))
		callees_find(adding->callees, adding->view);
	for (size_t e = 0; e < adding->events->n; e++) {
		const struct event_def *event = &adding->events->events[e];

		for (size_t k = 0; adding->chosen[e] && k < event->nterms;
		     k++) {
			const struct event_term *term = &event->terms[k];

			if (!func_is(&term->of, adding->func))
				continue;
			if (term->kind == ELEMENT_BLOCK)
				place_add(adding, e, term);
			else if (term->kind == ELEMENT_EDGE &&
				 func_is(&term->to, adding->func))
				edge_add(adding, e, term);
			else if (term->kind == ELEMENT_CALL)
				calls_add(adding, e, term);
		}
	}
	callees_clear(adding->callees);
}

/* ---- all code */

static void
view_add(struct event_sums *sums, const struct adding *adding)
{
	const struct figure *by;

	for (size_t e = 0; e < adding->events->n; e++)
		adding->chosen[e] = where_func(&adding->events->events[e],
					       adding->view->plan,
					       adding->func);
	blocks_add(adding, &sums->outside);
	if (adding->func)
		elements_add(adding);
	for (size_t e = 0; e < adding->events->n; e++)
		figure_add(&sums->all[e], &adding->sums[e]);
	by = sums->by < adding->events->n ? &adding->sums[sums->by] : NULL;
	if (by && (by->n || by->why))
		*vec_push(sums->funcs, sums->nfuncs) = (struct event_func){
			.plan = adding->view->plan_index,
			.fplan = adding->view->fplan_index,
			.name = view_name(adding->view),
			.sums = adding->sums,
		};
	else
		free(adding->sums);
}

static void
views_add(struct event_sums *sums, struct table *table,
	  const struct events *events)
{
	struct callees callees = { 0 };
	struct view *view = NULL;

	while ((view = view_next(table, view, VIEW_ALL))) {
		uint32_t func = view->fplan->func;
		const struct adding adding = {
			.events = events,
			.view = view,
			.func = func == FUNC_NONE ?
					NULL :
					&view->plan->image->funcs[func],
			.chosen = mem_alloc(events->n),
			.sums = mem_alloc(events->n * sizeof(struct figure)),
			.callees = &callees,
		};

		view_add(sums, &adding);
		free(adding.chosen);
	}
	callees_free(&callees);
}

/* ---- functions without counts */

static const char not_counted[] = "units that it needs were not counted";
static const char left_out[] = "a program or library was left out";

/* Does the term count in this function, as far as names tell? */
static bool
term_in(const struct event_term *term, const struct func *func)
{
	return term->kind != ELEMENT_LINE && func_is(&term->of, func);
}

/*
 * Why the events in a function are not known, if it may have run: it was not
 * counted, or not by the units that the term needs.  NULL: they are known.
 */
static const char *
term_why(const struct event_term *term, const struct plan *plan,
	 const struct func_plan *fplan)
{
	if (term_unit(term) & ~plan->units)
		return not_counted;
	return fplan->state == FPLAN_FAULTY && term->kind != ELEMENT_FUNC ?
		       fplan->why :
		       NULL;
}

/* Make sums of lines unknown if the plan has lines that were not counted. */
static void
lines_uncounted_add(struct event_sums *sums, const struct plan *plan,
		    const struct events *events)
{
	if (!plan->image->nrows || plan->units & 1U << UNIT_LINE)
		return;
	for (size_t e = 0; e < events->n; e++)
		for (size_t k = 0; k < events->events[e].nterms; k++)
			if (events->events[e].terms[k].kind == ELEMENT_LINE)
				figure_add(&sums->all[e],
					   &(struct figure){
						   .why = not_counted,
					   });
}

/* Make sums unknown that a function may add to without being counted. */
static void
uncounted_add(struct event_sums *sums, const struct plan *plan,
	      const struct func_plan *fplan, const struct events *events)
{
	const struct func *func = fplan->func == FUNC_NONE ?
					  NULL :
					  &plan->image->funcs[fplan->func];
	struct figure calls = figure_of(&fplan->calls);

	/* Inlined functions do not tell which others ran, nor does code. */
	if (plan->units & ~(1U << UNIT_INLINE) &&
	    (fplan->state == FPLAN_WAITING ||
	     (fplan->named && !calls.why && !calls.n)))
		return;
	for (size_t e = 0; e < events->n; e++) {
		const struct event_def *event = &events->events[e];

		for (size_t k = 0; k < event->nterms; k++) {
			const struct event_term *term = &event->terms[k];
			const char *why = term_why(term, plan, fplan);

			if (why && term_in(term, func) &&
			    where_func(event, plan, func))
				figure_add(&sums->all[e],
					   &(struct figure){ .why = why });
		}
	}
}

static void
all_uncounted_add(struct event_sums *sums, const struct table *table,
		  const struct events *events)
{
	const struct report_input *report_input = table->report_input;

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; k < plan->nfplans; k++)
			uncounted_add(sums, plan, &plan->fplans[k], events);
		lines_uncounted_add(sums, plan, events);
	}
	for (size_t e = 0; report_input->partial && e < events->n; e++)
		figure_add(&sums->all[e], &(struct figure){ .why = left_out });
}

/* ---- calls and lines, which the table has */

static void
func_calls_add(const struct table *table, const struct event_def *event,
	       const struct event_term *term, struct figure *sum)
{
	for (size_t i = 0; i < table->funcs.n; i++) {
		const struct func_entry *entry = &table->funcs.entries[i];
		const struct plan *plan =
			table->report_input->plans[entry->plan];
		const struct func *func = &plan->image->funcs[entry->ref];

		if (func_is(&term->of, func) && where_func(event, plan, func) &&
		    where_file(event, table, entry->file))
			sum_add(sum, term->weight, entry->count);
	}
}

static void
line_add(const struct table *table, const struct event_def *event,
	 const struct event_term *term, struct figure *sum)
{
	for (size_t i = 0; i < table->nlines; i++) {
		const struct line_entry *line = &table->lines[i];

		if (line->line == term->line &&
		    select_file(&term->of, table->files[line->file].path) &&
		    where_file(event, table, line->file))
			sum_add(sum, term->weight, line->count);
	}
}

static void
table_add(struct event_sums *sums, const struct table *table,
	  const struct events *events)
{
	for (size_t e = 0; e < events->n; e++) {
		const struct event_def *event = &events->events[e];

		for (size_t k = 0; k < event->nterms; k++) {
			const struct event_term *term = &event->terms[k];

			if (term->kind == ELEMENT_FUNC)
				func_calls_add(table, event, term,
					       &sums->all[e]);
			else if (term->kind == ELEMENT_LINE)
				line_add(table, event, term, &sums->all[e]);
		}
	}
}

/* ---- together */

static int
by_event(const void *va, const void *vb, void *ctx)
{
	const struct event_func *a = va, *b = vb;
	const size_t *by = ctx;
	int order = figure_compare(&a->sums[*by], &b->sums[*by]);

	if (!order)
		order = strcmp(a->name, b->name);
	if (order)
		return order;
	if (a->plan != b->plan)
		return a->plan < b->plan ? -1 : 1;
	return a->fplan < b->fplan ? -1 : a->fplan > b->fplan;
}

struct event_sums *
event_sums_make(struct table *table, const struct events *events)
{
	struct event_sums *sums = mem_alloc(sizeof(*sums));

	sums->all = mem_alloc(events->n * sizeof(*sums->all));
	while (sums->by < events->n &&
	       !event_in_funcs(&events->events[sums->by]))
		sums->by++;
	views_add(sums, table, events);
	all_uncounted_add(sums, table, events);
	table_add(sums, table, events);
	if (sums->nfuncs)
		qsort_r(sums->funcs, sums->nfuncs, sizeof(*sums->funcs),
			by_event, &sums->by);
	return sums;
}

void
event_sums_free(struct event_sums *sums)
{
	for (size_t i = 0; i < sums->nfuncs; i++) {
		free(sums->funcs[i].name);
		free(sums->funcs[i].sums);
	}
	free(sums->funcs);
	free(sums->all);
	free(sums);
}
