/*
 * Writes all counts as CSV (RFC 4180), one row for each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/callees.h"
#include "report/event_sums.h"
#include "report/kinds.h"
#include "report/printable.h"
#include "util/mem.h"

/* One row.  Fields that are NULL, FILE_NONE or line 0 are left empty. */
struct row_out {
	const char *what;
	uint32_t plan;
	const char *name;
	bool at;		/* addr is to be written */
	uint64_t addr;
	uint32_t file, line;
	const char *to;
	struct figure count;
};

struct page {
	const struct table *table;
	FILE *out;
	struct callees callees;
	bool once;		/* see report_input_once */
};

/*
 * Write a text field, always in quotes.  An apostrophe comes before a text that
 * a spreadsheet would take for a formula.
 */
static void
field_put(FILE *out, const char *s)
{
	char *text = text_line(s);

	putc('"', out);
	if (*text && strchr("=+-@", *text))
		putc('\'', out);
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			putc('"', out);
		putc(*c, out);
	}
	putc('"', out);
	free(text);
}

static void
row_put(const struct page *page, const struct row_out *row)
{
	const struct table *table = page->table;

	fprintf(page->out, "%s,", row->what);
	if (row->plan < table->report_input->nplans)
		field_put(page->out,
			  table->report_input->plans[row->plan]->image->path);
	putc(',', page->out);
	if (row->name)
		field_put(page->out, row->name);
	putc(',', page->out);
	if (row->at)
		fprintf(page->out, "0x%" PRIx64, row->addr);
	putc(',', page->out);
	if (row->file != FILE_NONE && row->line) {
		field_put(page->out, table->files[row->file].path);
		fprintf(page->out, ",%u,", row->line);
	} else {
		fputs(",,", page->out);
	}
	if (row->to)
		field_put(page->out, row->to);
	putc(',', page->out);
	if (!row->count.why)
		fprintf(page->out, "%" PRIu64, row->count.n);
	putc(',', page->out);
	if (row->count.why)
		field_put(page->out, row->count.why);
	else if (page->once && row->count.n)
		field_put(page->out, "or more");
	fputs("\r\n", page->out);
}

static void
units_put(const struct page *page)
{
	const struct table *table = page->table;

	for (size_t i = 0; i < table->nlines; i++)
		row_put(page, &(struct row_out){
				      .what = "line",
				      .plan = UINT32_MAX,
				      .file = table->lines[i].file,
				      .line = table->lines[i].line,
				      .count = table->lines[i].count,
			      });
	table_names(table, &table->funcs, table->funcs.n);
	for (size_t i = 0; i < table->funcs.n; i++) {
		const struct func_entry *func = &table->funcs.entries[i];
		const struct image *image =
			table->report_input->plans[func->plan]->image;

		row_put(page, &(struct row_out){
				      "func",
				      func->plan,
				      image->funcs[func->ref].name,
				      true,
				      image->funcs[func->ref].addr,
				      func->file,
				      func->line,
				      NULL,
				      func->count,
			      });
	}
	table_names(table, &table->inlines, table->inlines.n);
	for (size_t i = 0; i < table->inlines.n; i++) {
		const struct func_entry *func = &table->inlines.entries[i];
		const struct image *image =
			table->report_input->plans[func->plan]->image;

		row_put(page, &(struct row_out){
				      "inline",
				      func->plan,
				      image->inlines[func->ref].name,
				      false,
				      0,
				      func->file,
				      func->line,
				      NULL,
				      func->count,
			      });
	}
}

/* ---- code */

static struct row_out
insn_row(const struct page *page, const struct view *view, const char *what,
	 uint32_t insn, struct figure count)
{
	const struct func_plan *fplan = view->fplan;
	const struct row *row = view->owners[insn];

	return (struct row_out){
		.what = what,
		.plan = view->plan_index,
		.name = fplan->func == FUNC_NONE ?
				NULL :
				view->plan->image->funcs[fplan->func].name,
		.at = true,
		.addr = fplan->cfg->insns[insn].addr,
		.file = row ? table_file(page->table, view->plan_index,
					 row->file) :
			      FILE_NONE,
		.line = row ? row->line : 0,
		.count = count,
	};
}

static void
edges_put(const struct page *page, const struct view *view)
{
	const struct flow *flow = view->fplan->flow;
	const struct cfg *cfg = view->fplan->cfg;

	for (uint32_t e = 0; e < flow->nedges; e++) {
		struct row_out row;
		uint32_t from, to;
		char *target;

		if (!view_edge_inner(view, e))
			continue;
		from = view_last(view, flow->edges[e].from - FLOW_BLOCK);
		to = cfg->blocks[flow->edges[e].to - FLOW_BLOCK].first;
		target = mem_printf("0x%" PRIx64, cfg->insns[to].addr);
		row = insn_row(page, view, "edge", from, view_edge(view, e));
		row.to = target;
		row_put(page, &row);
		free(target);
	}
}

static void
calls_put(struct page *page, const struct view *view)
{
	callees_find(&page->callees, view);
	for (size_t i = 0; i < page->callees.n; i++) {
		const struct callee *call = &page->callees.calls[i];
		struct row_out row = insn_row(page, view, "call", call->insn,
					      call->count);

		row.to = call->name ? call->name : "?";
		row_put(page, &row);
	}
}

static void
events_put(const struct page *page, struct table *table)
{
	const struct events *events = &table->opts->events;
	const struct event_sums *sums = event_sums(table, NULL);

	for (size_t i = 0; i < events->n; i++)
		row_put(page, &(struct row_out){
				      .what = "event",
				      .plan = UINT32_MAX,
				      .name = events->events[i].name,
				      .file = FILE_NONE,
				      .count = sums->all[i],
			      });
}

/* The times of a function, in nanoseconds, or its events. */
static void
times_put(const struct page *page, uint32_t plan, const struct func_plan *fplan)
{
	const struct func *func = &page->table->report_input->plans[plan]
					   ->image->funcs[fplan->func];
	const struct times *times = fplan->times;
	const struct {
		const char *what, *of_event;
		uint64_t n;
	} rows[] = {
		{ "time-calls", "per-calls", times->calls },
		{ "time-self", "per-self", times->self },
		{ "time-total", "per-total", times->total },
		{ "time-sum", "per-sum", times->sum },
		{ "time-min", "per-min", times->min },
		{ "time-max", "per-max", times->max },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_put(page, &(struct row_out){
				      .what = times->event ? rows[i].of_event :
							     rows[i].what,
				      .plan = plan,
				      .name = func->name,
				      .at = true,
				      .addr = func->addr,
				      .file = FILE_NONE,
				      .count = { .n = rows[i].n,
						 .why = fplan_untimed(fplan) },
			      });
}

static void
all_times_put(const struct page *page)
{
	const struct report_input *report_input = page->table->report_input;

	for (size_t i = 0; i < report_input->nplans; i++)
		for (size_t k = 0; k < report_input->plans[i]->nfplans; k++)
			if (report_input->plans[i]->fplans[k].times)
				times_put(page, (uint32_t)i,
					  &report_input->plans[i]->fplans[k]);
}

static void
view_put(struct page *page, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	unsigned units = view->fplan->units & view->plan->units;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		uint32_t first = cfg->blocks[b].first;
		struct row_out row = insn_row(page, view, "block", first,
					      view_block(view, b));

		if (view->padding[b])
			continue;
		if (units & VIEW_BLOCKS)
			row_put(page, &row);
		for (uint32_t i = 0;
		     units & VIEW_INSNS && i < cfg->blocks[b].count; i++) {
			row = insn_row(page, view, "insn", first + i,
				       view_insn(view, first + i));
			row_put(page, &row);
		}
	}
	if (units & VIEW_EDGES)
		edges_put(page, view);
	if (units & VIEW_CALLS)
		calls_put(page, view);
}

void
csv_write(struct table *table, FILE *out)
{
	struct page page = {
		.table = table,
		.out = out,
		.once = report_input_once(table->report_input),
	};
	struct view *view = NULL;

	fputs("what,object,function,address,file,line,to,count,why\r\n", out);
	if (table->opts->events.n)
		events_put(&page, table);
	units_put(&page);
	all_times_put(&page);
	while ((view = view_next(table, view, VIEW_ALL)))
		view_put(&page, view);
	callees_free(&page.callees);
}
