/*
 * Adds up events over a table: each element's count times its weight.  A sum
 * with a summand that is not known is not known.
 */
#include "report/event_inner.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "util/mem.h"

static const char no_classes[] =
	"what instructions do is not known on this CPU";
static const char not_there[] = "what it names was not counted";

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

unsigned
event_insn_classes(const struct image *image, const struct insn *insn)
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
	unsigned set = event_insn_classes(image,
					  &view->fplan->cfg->insns[insn]);

	for (size_t e = 0; e < adding->events->n; e++) {
		const struct event_def *event = &adding->events->events[e];

		if (!adding->chosen[e] || !event_where_insn(event, view, insn))
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
			event_sum_add(&adding->sums[e], term->weight, count);
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
		    !event_where_insn(event, adding->view, last))
			continue;
		for (size_t k = 0; k < event->nterms; k++)
			if (event->terms[k].kind == ELEMENT_TAKEN)
				event_sum_add(&adding->sums[e],
					      event->terms[k].weight, taken);
	}
}

/* Older data files do not have the stubs. */
static bool
target_outside(const struct plan *plan, uint64_t target)
{
	uint32_t fplan = plan_func(plan, target);

	return fplan == FPLAN_NONE ||
	       (plan->fplans[fplan].stub && !plan->fplans[fplan].units);
}

/* Calls of and jumps to what is not counted as it is in no function. */
static void
outside_add(const struct adding *adding, uint32_t insn, struct figure *outside)
{
	const struct view *view = adding->view;
	const struct insn *i = &view->fplan->cfg->insns[insn];
	struct figure count, fall;

	if ((i->kind != INSN_CALL && i->kind != INSN_JUMP &&
	     i->kind != INSN_BRANCH) ||
	    !target_outside(view->plan, i->target))
		return;
	if (i->kind == INSN_BRANCH)
		view_branch(view, cfg_block_of(view->fplan->cfg, insn), &count,
			    &fall);
	else
		count = view_insn(view, insn);
	figure_add(outside, &count);
}

/*
 * Blocks that never ran add nothing, and to decode them takes long; but control
 * may have come to their middle over no edge.
 */
static void
blocks_add(const struct adding *adding, struct figure *outside)
{
	const struct cfg *cfg = adding->view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		struct figure count = view_block(adding->view, b);

		if (adding->view->padding[b] ||
		    (!count.why && !count.n &&
		     !adding->view->fplan->nabnormal_insns))
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

	if (insn >= 0 && event_where_insn(&adding->events->events[e],
					  adding->view, (uint32_t)insn))
		event_sum_add(&adding->sums[e], term->weight,
			      view_insn(adding->view, (uint32_t)insn));
}

static void
edge_add(const struct adding *adding, size_t e, const struct event_term *term)
{
	const struct view *view = adding->view;
	const struct flow *flow = view->fplan->flow;

	for (uint32_t k = 0;
	     event_edge_next(view->fplan, adding->func, term, &k); k++)
		if (event_where_insn(&adding->events->events[e], view,
				     view_last(view, flow->edges[k].from -
							     FLOW_BLOCK)))
			event_sum_add(&adding->sums[e], term->weight,
				      view_edge(view, k));
}

/* Whether an event counts calls that the function makes. */
static bool
calls_wanted(const struct adding *adding)
{
	for (size_t e = 0; e < adding->events->n; e++) {
		const struct event_def *event = &adding->events->events[e];

		for (size_t k = 0; adding->chosen[e] && k < event->nterms; k++)
			if (event->terms[k].kind == ELEMENT_CALL &&
			    event_func_is(&event->terms[k].of, adding->func))
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

			if (!event_func_is(&term->of, adding->func))
				continue;
			if (term->kind == ELEMENT_BLOCK)
				place_add(adding, e, term);
			else if (term->kind == ELEMENT_EDGE &&
				 event_func_is(&term->to, adding->func))
				edge_add(adding, e, term);
			else if (term->kind == ELEMENT_CALL)
				event_calls_add(adding, e, term);
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
		adding->chosen[e] = event_where_func(&adding->events->events[e],
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
		const struct adding adding = {
			.events = events,
			.view = view,
			.func = fplan_func(view->fplan, view->plan->image),
			.chosen = mem_alloc(events->n),
			.sums = mem_alloc(events->n * sizeof(struct figure)),
			.callees = &callees,
		};

		view_add(sums, &adding);
		free(adding.chosen);
	}
	callees_free(&callees);
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

		if (event_func_is(&term->of, func) &&
		    event_where_func(event, plan, func) &&
		    event_where_file(event, table, entry->file))
			event_sum_add(sum, term->weight, entry->count);
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
		    event_where_file(event, table, line->file))
			event_sum_add(sum, term->weight, line->count);
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

/* Make the sums of events unknown that name what neither table has. */
static void
missing_add(struct event_sums *sums, const struct table *table,
	    const struct table *other, const struct events *events)
{
	for (size_t e = 0; e < events->n; e++)
		if (event_missing(&events->events[e], table, other))
			figure_add(&sums->all[e],
				   &(struct figure){ .why = not_there });
}

const struct event_sums *
event_sums(struct table *table, const struct table *other)
{
	const struct events *events = &table->opts->events;
	struct event_sums *sums = table->event_sums;

	if (sums)
		return sums;
	table->event_sums = sums = mem_alloc(sizeof(*sums));
	sums->all = mem_alloc(events->n * sizeof(*sums->all));
	while (sums->by < events->n &&
	       !event_in_funcs(&events->events[sums->by]))
		sums->by++;
	views_add(sums, table, events);
	event_unknown_add(sums, table, events);
	table_add(sums, table, events);
	missing_add(sums, table, other, events);
	if (sums->nfuncs)
		qsort_r(sums->funcs, sums->nfuncs, sizeof(*sums->funcs),
			by_event, &sums->by);
	return sums;
}
