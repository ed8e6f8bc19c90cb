/*
 * The report of events: what each sums up to, and the functions that have most
 * of the first.
 */
#include "report/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "report/event_sums.h"
#include "report/names.h"
#include "report/printable.h"
#include "report/reasons.h"
#include "util/mem.h"

enum {
	COUNT_MIN = 12,
	COLUMN_MIN = 9,
	COLUMN_MAX = 24,	/* of an event's name */
	NAME_MIN = 24,		/* columns that are left for functions' names */
};

/* Whether an event counts instructions of some class, in all that is chosen. */
static bool
counts_insns(const struct event_def *event)
{
	return event->nterms == 1 && event->terms[0].weight == 1 &&
	       event->terms[0].kind <= ELEMENT_TAKEN && !event->where.funcs.n &&
	       !event->where.files.n && !event->where.objects.n;
}

/* The event that counts all instructions, or -1. */
static long
whole_find(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (counts_insns(&events->events[i]) &&
		    events->events[i].terms[0].insns == INSNS_ALL)
			return (long)i;
	return -1;
}

static void
event_write(const struct table *table, const struct event_sums *sums, size_t i,
	    size_t width, FILE *out)
{
	const struct events *events = &table->opts->events;
	const struct event_def *event = &events->events[i];
	long whole = whole_find(events);
	size_t used = width + 2 + text_width(event->name, strlen(event->name));

	figure_write(out, &sums->all[i], width);
	if (whole >= 0 && whole != (long)i && counts_insns(event)) {
		figure_share(out, &sums->all[i], &sums->all[whole]);
		fputs(" %", out);
	} else if (whole >= 0) {
		fprintf(out, "%*s", SHARE_WIDTH + 4, "");
	}
	used += whole >= 0 ? SHARE_WIDTH + 4 : 0;
	fputs("  ", out);
	text_put(out, event->name);
	if (sums->all[i].why) {
		fputs("  (", out);
		figure_say(out, &sums->all[i]);
		fputs(")", out);
		used += strlen("  (at least )") + text_digits(sums->all[i].n);
	}
	text_note_below(out, sums->all[i].why, used, table->columns);
}

/* ---- by function */

/* Set the widths of the columns of events; how many there is room for. */
static size_t
columns_find(const struct table *table, const struct events *events,
	     const struct event_sums *sums, size_t *widths)
{
	size_t used = NAME_MIN;

	for (size_t e = sums->by; e < events->n; e++) {
		const char *name = events->events[e].name;

		if (!event_in_funcs(&events->events[e]))
			continue;
		widths[e] = COLUMN_MIN;
		text_widen(&widths[e], name, COLUMN_MAX);
		for (size_t i = 0; i < sums->nfuncs; i++)
			figure_widen(&widths[e], &sums->funcs[i].sums[e]);
		used += widths[e] + 1;
		if (used > table->columns && e > sums->by)
			return e;
	}
	return events->n;
}

static void
func_write(const struct table *table, const struct event_func *func, size_t n,
	   const size_t *widths, FILE *out)
{
	size_t used = 1;

	for (size_t e = 0; e < n; e++) {
		if (!widths[e])
			continue;
		figure_write(out, &func->sums[e], widths[e]);
		putc(' ', out);
		used += widths[e] + 1;
	}
	putc(' ', out);
	name_fit(out, func->name, table->columns, used);
	putc('\n', out);
}

/* The event's name, at the right of its column; its end if it is too wide. */
static void
head_write(FILE *out, const char *name, size_t width)
{
	size_t used = text_width(name, strlen(name));

	if (used < width)
		fprintf(out, "%*s", (int)(width - used), "");
	text_column(out, name, used < width ? used : width);
	putc(' ', out);
}

static void
funcs_most(const struct table *table, const struct events *events,
	   const struct event_sums *sums, FILE *out)
{
	size_t *widths = mem_alloc(events->n * sizeof(*widths));
	size_t n = columns_find(table, events, sums, widths);
	char *title = mem_printf("Functions with most %s",
				 events->events[sums->by].name);

	text_section(out, title);
	free(title);
	for (size_t e = 0; e < n; e++)
		if (widths[e])
			head_write(out, events->events[e].name, widths[e]);
	fputs(" FUNCTION\n", out);
	for (size_t i = 0; i < sums->nfuncs && i < table->opts->top; i++)
		func_write(table, &sums->funcs[i], n, widths, out);
	free(widths);
}

static bool
of_insns(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		for (size_t k = 0; k < events->events[i].nterms; k++)
			if (events->events[i].terms[k].kind <= ELEMENT_TAKEN)
				return true;
	return false;
}

/* Say what the numbers of instructions leave out. */
static void
outside_write(const struct table *table, const struct events *events,
	      const struct figure *outside, FILE *out)
{
	char *times, *text;

	if (!outside->n || !of_insns(events) || table->opts->quiet)
		return;
	times = text_number(outside->n, "time");
	text = mem_printf("%s%s functions went to code that is in no function; "
			  "the instructions there are not counted",
			  outside->why ? "at least " : "", times);
	putc('\n', out);
	text_paragraph(out, "Note: ", text, table->columns);
	free(text);
	free(times);
}

void
events_write(struct table *table, FILE *out)
{
	const struct events *events = &table->opts->events;
	const struct event_sums *sums = event_sums(table, NULL);
	size_t width = COUNT_MIN;

	title_write(table, out, "Events");
	run_line_write(table, out);
	putc('\n', out);
	for (size_t e = 0; e < events->n; e++)
		figure_widen(&width, &sums->all[e]);
	for (size_t e = 0; e < events->n; e++)
		event_write(table, sums, e, width, out);
	if (sums->nfuncs)
		funcs_most(table, events, sums, out);
	outside_write(table, events, &sums->outside, out);
}
