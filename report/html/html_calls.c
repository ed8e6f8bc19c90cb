/*
 * Writes the call graph of a page to a data file: callers, callees and counts.
 */
#include "report/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* The callee's name, for the case that it is no function of the page. */
static const char *
name_outside(const struct callee *callee)
{
	if (callee->name)
		return callee->name;
	return callee->where == CALLEE_UNSEEN ? callees_unseen :
						callees_unrecorded;
}

/* Index into report_input->plans, or nplans. */
static uint32_t
plan_index(const struct html *html, const struct plan *plan)
{
	const struct report_input *report_input = html->table->report_input;
	uint32_t p = 0;

	while (p < report_input->nplans && report_input->plans[p] != plan)
		p++;
	return p;
}

void
html_calls_add(struct html *html, const struct view *view, uint32_t id)
{
	struct html_calls *calls = &html->calls;

	if (!(view->fplan->units & view->plan->units & VIEW_CALLS))
		return;
	calls->counted = true;
	callees_find(&calls->callees, view);
	for (size_t i = 0; i < calls->callees.n; i++) {
		const struct callee *callee = &calls->callees.calls[i];
		struct html_call *call = vec_push(calls->calls, calls->n);

		*call = (struct html_call){
			.from = id,
			.how = callee->how,
			.count = callee->count,
			.fplan = FPLAN_NONE,
		};
		if (callee->where == CALLEE_AT)
			call->plan = plan_index(html, callee->plan);
		if (callee->where == CALLEE_AT &&
		    call->plan < html->table->report_input->nplans)
			call->fplan = plan_func(callee->plan, callee->addr);
		call->name = mem_strdup(name_outside(callee));
	}
}

/* ---- when all functions are numbered */

static void
calls_resolve(struct html *html)
{
	struct html_calls *calls = &html->calls;

	for (size_t i = 0; i < calls->n; i++) {
		struct html_call *call = &calls->calls[i];

		call->to = call->fplan == FPLAN_NONE ?
				   FUNC_NONE :
				   html->ids[call->plan][call->fplan];
	}
}

/* Callees on the page first; then by name. */
static int
by_ends(const void *va, const void *vb)
{
	const struct html_call *a = va, *b = vb;
	int order;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->to == FUNC_NONE) {
		order = strcmp(a->name, b->name);
		if (order)
			return order;
	}
	return strcmp(a->how, b->how);
}

/* Add up the calls of one kind from one function to another. */
static void
calls_merge(struct html_calls *calls)
{
	size_t n = 0;

	if (calls->n)
		qsort(calls->calls, calls->n, sizeof(*calls->calls), by_ends);
	for (size_t i = 0; i < calls->n; i++) {
		struct html_call *call = &calls->calls[i];

		if (n && by_ends(&calls->calls[n - 1], call) == 0) {
			figure_add(&calls->calls[n - 1].count, &call->count);
			free(call->name);
		} else {
			calls->calls[n++] = *call;
		}
	}
	calls->n = n;
}

/* Write [caller, callee's number or name, count, how]; how may be missing. */
static void
call_write(struct script *script, const struct html_call *call)
{
	script_begin(script, '[');
	script_number(script, call->from);
	if (call->to == FUNC_NONE)
		script_string(script, call->name);
	else
		script_number(script, call->to);
	script_figure(script, &call->count);
	if (*call->how)
		script_string(script, call->how);
	script_end(script, ']');
}

void
html_calls_write(struct html *html)
{
	struct html_calls *calls = &html->calls;
	struct script script;

	if (!calls->counted)
		return;
	calls_resolve(html);
	calls_merge(calls);
	script_open(&script, html->dir, &html->reasons, "calls");
	script_begin(&script, '[');
	for (size_t i = 0; i < calls->n; i++)
		call_write(&script, &calls->calls[i]);
	script_end(&script, ']');
	script_close(&script);
}

void
html_calls_free(struct html_calls *calls)
{
	for (size_t i = 0; i < calls->n; i++)
		free(calls->calls[i].name);
	free(calls->calls);
	callees_free(&calls->callees);
}
