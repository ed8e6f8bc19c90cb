/*
 * The changes of events between two runs, and the functions that account for
 * most of the first event's.
 */
#include "report/event_limits.h"

#include <stdlib.h>
#include <string.h>

#include "report/event_sums.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { WIDTH = 14, PERCENT_WIDTH = 9 };

/* An event, or that of a function, in both runs. */
struct change {
	const char *object, *name;	/* lent; an event has no object */
	struct figure before, after;
};

/* Write "+1.25%" of before; nothing can be said of a change from 0. */
static void
share_write(FILE *out, uint64_t before, uint64_t after)
{
	double share = 100 * ((double)after - (double)before) / (double)before;

	if (!before || before == after)
		fprintf(out, " %*s", PERCENT_WIDTH,
			before == after ? "0" : "-");
	else if (share < 0.005 && share > -0.005)
		fprintf(out, " %*s", PERCENT_WIDTH,
			share < 0 ? "> -0.01%" : "< +0.01%");
	else
		fprintf(out, " %+*.2f%%", PERCENT_WIDTH - 1, share);
}

static void
change_write(FILE *out, const struct change *change, size_t columns)
{
	const struct figure *before = &change->before, *after = &change->after;
	size_t used = 3 * WIDTH + PERCENT_WIDTH + 5 +
		      text_width(change->name, strlen(change->name));

	if (before->why || after->why) {
		fprintf(out, "%*s %*s", WIDTH, "?", PERCENT_WIDTH, "?");
	} else {
		text_change(out, before->n, after->n, WIDTH);
		share_write(out, before->n, after->n);
	}
	putc(' ', out);
	figure_write(out, before, WIDTH);
	putc(' ', out);
	figure_write(out, after, WIDTH);
	fputs("  ", out);
	text_put(out, change->name);
	text_note_below(out, before->why ? before->why : after->why, used,
			columns);
}

/* ---- functions */

static void
funcs_gather(struct change **changes, size_t *n, const struct table *table,
	     const struct event_sums *sums, bool after)
{
	for (size_t i = 0; i < sums->nfuncs; i++) {
		struct change change = {
			.object = table_object(table, sums->funcs[i].plan),
			.name = sums->funcs[i].name,
		};

		if (after)
			change.after = sums->funcs[i].sums[sums->by];
		else
			change.before = sums->funcs[i].sums[sums->by];
		*vec_push(*changes, *n) = change;
	}
}

static int
by_name(const void *va, const void *vb)
{
	const struct change *a = va, *b = vb;
	int order = strcmp(a->object, b->object);

	return order ? order : strcmp(a->name, b->name);
}

static int
by_size(const void *va, const void *vb)
{
	const struct change *a = va, *b = vb;
	uint64_t da = change_size(a->before.n, a->after.n);
	uint64_t db = change_size(b->before.n, b->after.n);

	if (da != db)
		return da > db ? -1 : 1;
	return by_name(va, vb);
}

/* Functions of one name in one object are taken together. */
static size_t
changes_join(struct change *changes, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(changes, n, sizeof(*changes), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept && !by_name(&changes[kept - 1], &changes[i])) {
			figure_add(&changes[kept - 1].before,
				   &changes[i].before);
			figure_add(&changes[kept - 1].after, &changes[i].after);
		} else {
			changes[kept++] = changes[i];
		}
	}
	return kept;
}

static void
funcs_write(struct table *const tables[2], const struct event_sums *sums[2],
	    const char *event, FILE *out)
{
	struct change *changes = NULL;
	size_t n = 0, shown = 0;

	for (int i = 0; i < 2; i++)
		funcs_gather(&changes, &n, tables[i], sums[i], i);
	n = changes_join(changes, n);
	if (n)
		qsort(changes, n, sizeof(*changes), by_size);
	for (size_t i = 0; i < n && shown < tables[1]->opts->top; i++) {
		if (changes[i].before.n == changes[i].after.n)
			break;
		if (!shown++) {
			char *title = mem_printf("Functions whose %s changed "
						 "most",
						 event);

			text_section(out, title);
			free(title);
			fprintf(out, "%*s %*s %*s %*s  FUNCTION\n", WIDTH,
				"CHANGE", PERCENT_WIDTH, "%", WIDTH, "BEFORE",
				WIDTH, "AFTER");
		}
		change_write(out, &changes[i], tables[1]->columns);
	}
	free(changes);
}

int
events_diff_write(const struct report_options *opts,
		  const struct report_input *before,
		  const struct report_input *after, FILE *out)
{
	const struct events *events = &opts->events;
	struct table *first = table_make(opts, before);
	struct table *second = table_make(opts, after);
	struct table *const tables[2] = { first, second };
	const struct event_sums *sums[2] = {
		event_sums(first, second),
		event_sums(second, first),
	};
	int result = events_matched(second, first);

	first->columns = second->columns = report_style(opts, out);
	fprintf(out, "%*s %*s %*s %*s  EVENT\n", WIDTH, "CHANGE", PERCENT_WIDTH,
		"%", WIDTH, "BEFORE", WIDTH, "AFTER");
	for (size_t e = 0; e < events->n; e++)
		change_write(out,
			     &(struct change){
				     .name = events->events[e].name,
				     .before = sums[0]->all[e],
				     .after = sums[1]->all[e],
			     },
			     second->columns);
	if (sums[0]->by < events->n && !sums[0]->all[sums[0]->by].why &&
	    !sums[1]->all[sums[1]->by].why)
		funcs_write(tables, sums, events->events[sums[0]->by].name,
			    out);
	if (!result)
		result = event_limits_judge(events, sums[0]->all, sums[1]->all);
	table_free(first);
	table_free(second);
	return result;
}
