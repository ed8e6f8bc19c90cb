/*
 * Writes all counts as JSON, see pmon.json(5).  Holds one function at a time in
 * memory, so that the size of a report does not matter.
 */
#include "report/export/json_value.h"

#include <stdlib.h>

#include "report/callees.h"
#include "report/event_sums.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/outcome.h"
#include "report/printable.h"
#include "util/build_id.h"
#include "util/mem.h"

static const char *const unit_names[UNIT_KINDS] = {
	[UNIT_FUNC] = "func",	[UNIT_LINE] = "line", [UNIT_INLINE] = "inline",
	[UNIT_BLOCK] = "block", [UNIT_EDGE] = "edge", [UNIT_INSN] = "insn",
	[UNIT_CALL] = "call",
};

static const char *const ways[] = {
	[BY_NOTHING] = "other", [BY_LAST] = "only",   [BY_TAKEN] = "taken",
	[BY_FALL] = "fall",	[BY_TABLE] = "table", [BY_LEAK] = "leak",
};

static const char *const ends[] = {
	[DEATH_BEFORE] = "before",
	[DEATH_DURING] = "during",
	[DEATH_CALL] = "call",
};

static void
place_put(struct json_object *into, uint32_t file, uint32_t line)
{
	if (file == FILE_NONE || !line)
		return;
	json_number_put(into, "file", file);
	json_number_put(into, "line", line);
}

/* ---- the run */

static void
stops_put(struct json_object *run, const struct report_input *report_input)
{
	struct json_object *stops = json_array_put(run, "stops");

	json_number_put(run, "traps", report_input->events);
	for (size_t i = 0; i < report_input->nstops; i++) {
		struct json_object *stop = json_element_put(stops);

		json_text_put(stop, "cause", report_input->stops[i].cause);
		json_number_put(stop, "count", report_input->stops[i].n);
		json_number_put(stop, "nanoseconds", report_input->stops[i].ns);
	}
}

static void
death_put(struct json_object *run, const struct report_input *report_input)
{
	const struct death *death = &report_input->death;
	uint64_t times = death_times(report_input);
	struct json_object *end;

	for (size_t i = 0; death->plan && i < report_input->nplans; i++) {
		if (report_input->plans[i] != death->plan)
			continue;
		end = json_object_new_object();
		json_number_put(end, "object", i);
		json_addr_put(end, "address", death->addr);
		json_text_put(end, "how", ends[death->how]);
		if (times)
			json_number_put(end, "times", times);
		json_object_object_add(run, "end", end);
	}
}

static struct json_object *
run_make(const struct report_input *report_input)
{
	struct json_object *run = json_object_new_object(), *remarks;

	json_text_put(run, "command", report_input->command);
	if (report_input->outcome)
		json_text_put(run, "outcome", report_input->outcome);
	death_put(run, report_input);
	json_object_object_add(run, "seconds",
			       json_object_new_double(report_input->seconds));
	json_number_put(run, "processes", report_input->nprocesses);
	json_number_put(run, "threads", report_input->nthreads);
	stops_put(run, report_input);
	remarks = json_array_put(run, "remarks");
	for (size_t i = 0; i < report_input->nremarks; i++) {
		char *text = text_utf8(report_input->remarks[i]);

		json_object_array_add(remarks, json_object_new_string(text));
		free(text);
	}
	return run;
}

static struct json_object *
object_make(const struct plan *plan)
{
	struct json_object *object = json_object_new_object(), *units;
	const struct image *image = plan->image;
	char *id = build_id_text(image->build_id, image->build_id_len);

	json_text_put(object, "path", image->path);
	if (*id)
		json_text_put(object, "build_id", id);
	free(id);
	json_text_put(object, "arch", image->arch->name);
	units = json_array_put(object, "units");
	for (size_t i = 0; i < UNIT_KINDS; i++)
		if (plan->units & 1U << i)
			json_object_array_add(units, json_object_new_string(
							     unit_names[i]));
	if (plan->options.method == PLACE_ONCE)
		json_object_object_add(object, "once",
				       json_object_new_boolean(1));
	return object;
}

/* The events, if any are asked for. */
static void
events_json(struct table *table, FILE *out)
{
	const struct events *events = &table->opts->events;
	const struct event_sums *sums;
	struct json_object *array;

	if (!events->n)
		return;
	array = json_object_new_array();
	sums = event_sums(table, NULL);
	for (size_t i = 0; i < events->n; i++) {
		struct json_object *event = json_element_put(array);

		json_text_put(event, "name", events->events[i].name);
		json_figure_put(event, "count", &sums->all[i]);
	}
	json_member_write(out, "events", array);
}

static void
files_json(const struct table *table, FILE *out)
{
	bool first = true;

	fputs("\"files\":[", out);
	for (size_t i = 0; i < table->nfiles; i++) {
		const struct file_entry *file = &table->files[i];
		struct json_object *object = json_object_new_object(), *lines;

		json_text_put(object, "path", file->path);
		lines = json_array_put(object, "lines");
		for (size_t l = 0; l < file->nlines; l++) {
			const struct line_entry *entry =
				&table->lines[file->line + l];
			struct json_object *line = json_element_put(lines);

			json_number_put(line, "line", entry->line);
			json_figure_put(line, "count", &entry->count);
		}
		json_element_write(out, object, &first);
	}
	fputs("],\n", out);
}

static void
inlines_json(const struct table *table, FILE *out)
{
	bool first = true;

	fputs("\"inlines\":[", out);
	table_names(table, &table->inlines, table->inlines.n);
	for (size_t i = 0; i < table->inlines.n; i++) {
		const struct func_entry *entry = &table->inlines.entries[i];
		struct json_object *object = json_object_new_object();

		json_number_put(object, "object", entry->plan);
		json_text_put(object, "name", entry->name);
		json_text_put(object, "linkage",
			      table->report_input->plans[entry->plan]
				      ->image->inlines[entry->ref]
				      .name);
		place_put(object, entry->file, entry->line);
		json_figure_put(object, "count", &entry->count);
		json_element_write(out, object, &first);
	}
	fputs("],\n", out);
}

/* ---- functions */

static void
insn_put(struct json_object *insns, const struct view *view, uint32_t i)
{
	const struct row *row = view->owners[i];
	struct figure count = view_insn(view, i);
	struct json_object *insn = json_element_put(insns);

	json_addr_put(insn, "addr", view->fplan->cfg->insns[i].addr);
	if (row)
		place_put(insn,
			  table_file(view->table, view->plan_index, row->file),
			  row->line);
	json_figure_put(insn, "count", &count);
}

static void
blocks_put(struct json_object *func, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	unsigned units = view->fplan->units & view->plan->units;
	struct json_object *blocks = json_array_put(func, "blocks");

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *end = &cfg->insns[view_last(view, b)];
		uint64_t addr = cfg->insns[block->first].addr;
		struct figure count = view_block(view, b);
		struct json_object *object = json_element_put(blocks);

		json_addr_put(object, "addr", addr);
		json_number_put(object, "size", end->addr + end->len - addr);
		if (view->padding[b])
			json_object_object_add(object, "padding",
					       json_object_new_boolean(true));
		json_figure_put(object, "count", &count);
		if (units & VIEW_INSNS && !view->padding[b]) {
			struct json_object *insns = json_array_put(object,
								   "insns");

			for (uint32_t i = 0; i < block->count; i++)
				insn_put(insns, view, block->first + i);
		}
	}
}

static void
edges_put(struct json_object *func, const struct view *view)
{
	const struct flow *flow = view->fplan->flow;
	struct json_object *edges = json_array_put(func, "edges");

	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		struct figure count = view_edge(view, e);
		struct json_object *object;

		if (e == flow->back || edge->by == BY_LEAK)
			continue;
		object = json_element_put(edges);
		if (edge->from >= FLOW_BLOCK)
			json_number_put(object, "from",
					edge->from - FLOW_BLOCK);
		if (edge->to >= FLOW_BLOCK)
			json_number_put(object, "to", edge->to - FLOW_BLOCK);
		json_text_put(object, "by", ways[edge->by]);
		json_figure_put(object, "count", &count);
	}
}

static void
callees_put(struct json_object *func, const struct view *view,
	    struct callees *callees)
{
	const struct report_input *report_input = view->table->report_input;
	struct json_object *calls = json_array_put(func, "calls_made");

	callees_find(callees, view);
	for (size_t i = 0; i < callees->n; i++) {
		const struct callee *call = &callees->calls[i];
		struct json_object *object = json_element_put(calls);

		json_addr_put(object, "addr",
			      view->fplan->cfg->insns[call->insn].addr);
		json_text_put(object, "how", *call->how ? call->how : "call");
		if (call->name)
			json_text_put(object, "name", call->name);
		if (call->where == CALLEE_AT)
			json_addr_put(object, "target", call->addr);
		for (size_t p = 0; p < report_input->nplans; p++)
			if (call->where == CALLEE_AT &&
			    report_input->plans[p] == call->plan)
				json_number_put(object, "object", p);
		json_figure_put(object, "count", &call->count);
	}
}

static void
view_put(struct json_object *func, const struct view *view,
	 struct callees *callees)
{
	unsigned units = view->fplan->units & view->plan->units;

	if (units & (VIEW_BLOCKS | VIEW_EDGES | VIEW_INSNS))
		blocks_put(func, view);
	if (units & VIEW_EDGES)
		edges_put(func, view);
	if (units & VIEW_CALLS)
		callees_put(func, view, callees);
}

/* The times of a function's calls, or their events. */
static void
times_put(struct json_object *func, const struct func_plan *fplan)
{
	const struct times *times = fplan->times;
	const char *why = fplan_untimed(fplan);
	struct json_object *object, *bins;

	object = json_object_new_object();
	json_object_object_add(func, times->event ? "per_call" : "times",
			       object);
	if (times->event)
		json_text_put(object, "event", times->event);
	if (why)
		json_text_put(object, "why", why);
	json_number_put(object, "calls", times->calls);
	json_number_put(object, "ended", times->ended);
	json_number_put(object, "self", times->self);
	json_number_put(object, "total", times->total);
	json_number_put(object, "sum", times->sum);
	json_number_put(object, "min", times->min);
	json_number_put(object, "max", times->max);
	bins = json_array_put(object, "histogram");
	for (unsigned i = time_bin_next(times, 0); i < TIME_BINS;
	     i = time_bin_next(times, i + 1)) {
		struct json_object *bin = json_element_put(bins);

		json_number_put(bin, "up_to", time_bin_end(i));
		json_number_put(bin, "calls", times->bins[i]);
	}
}

static struct json_object *
func_make(const struct table *table, uint32_t plan_index,
	  const struct func_plan *fplan)
{
	const struct image *image =
		table->report_input->plans[plan_index]->image;
	const struct func *func = fplan_func(fplan, image);
	struct figure calls = figure_of(&fplan->calls);
	struct json_object *object = json_object_new_object(), *aliases;
	char *name;

	json_number_put(object, "object", plan_index);
	json_addr_put(object, "addr", func ? func->addr : fplan->ranges[0].lo);
	if (!func)
		return object;
	name = name_shown(func->name, table->opts->demangle);
	json_text_put(object, "name", name);
	free(name);
	json_text_put(object, "linkage", func->name);
	aliases = json_array_put(object, "aliases");
	for (size_t i = 0; i < func->naliases; i++) {
		name = text_utf8(func->aliases[i]);
		json_object_array_add(aliases, json_object_new_string(name));
		free(name);
	}
	place_put(object, table_file(table, plan_index, func->file),
		  func->line);
	if (fplan->named)
		json_figure_put(object, "calls", &calls);
	if (fplan->times)
		times_put(object, fplan);
	return object;
}

/* Write the functions that have a graph to show, and then the others. */
static void
funcs_json(struct table *table, FILE *out)
{
	const struct report_input *report_input = table->report_input;
	struct callees callees = { 0 };
	struct view *view = NULL;
	bool first = true,
	     **done = mem_alloc(report_input->nplans * sizeof(*done));

	for (size_t p = 0; p < report_input->nplans; p++)
		done[p] = mem_alloc(report_input->plans[p]->nfplans);
	fputs("\"functions\":[", out);
	while ((view = view_next(table, view, VIEW_ALL))) {
		struct json_object *func = func_make(table, view->plan_index,
						     view->fplan);

		done[view->plan_index][view->fplan_index] = true;
		view_put(func, view, &callees);
		json_element_write(out, func, &first);
	}
	for (uint32_t p = 0; p < report_input->nplans; p++) {
		const struct plan *plan = report_input->plans[p];

		for (size_t b = 0; b < plan->nfplans; b++)
			if (!done[p][b] && plan->fplans[b].named)
				json_element_write(out,
						   func_make(table, p,
							     &plan->fplans[b]),
						   &first);
		free(done[p]);
	}
	fputs("]}\n", out);
	free(done);
	callees_free(&callees);
}

void
json_write(struct table *table, FILE *out)
{
	struct json_object *objects = json_object_new_array();

	for (size_t i = 0; i < table->report_input->nplans; i++)
		json_object_array_add(
			objects, object_make(table->report_input->plans[i]));
	fputs("{\"format\":\"pmon\",\"version\":1,\n", out);
	json_member_write(out, "run", run_make(table->report_input));
	json_member_write(out, "objects", objects);
	events_json(table, out);
	files_json(table, out);
	inlines_json(table, out);
	funcs_json(table, out);
}
