/*
 * The reports of functions and of inlined functions, with their calls; and the
 * title of all reports.
 */
#include "report/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { PLACE_MAX = 28, COUNT_MIN = 9, OBJECT_MAX = 20 };

void
title_write(const struct table *table, FILE *out, const char *title)
{
	const char *command = table->report_input->command;
	size_t used = strlen(title) + 4, columns = table->columns;

	text_colour(out, TEXT_TITLE);
	fprintf(out, "%s of ", title);
	text_print(out, command, strlen(command),
		   columns > used ? columns - used : 0);
	text_colour(out, TEXT_PLAIN);
	putc('\n', out);
	if (report_input_once(table->report_input))
		fputs("  A count of 1 means that the code ran at least once "
		      "(--once).\n",
		      out);
}

bool
lines_present(const struct table *table, FILE *out)
{
	if (table->nlines)
		return true;
	fputs("\nNo lines were counted: there is no line information, or no "
	      "line was chosen.\n",
	      out);
	return false;
}

struct widths {
	size_t count, object, place;
};

static struct widths
widths_find(const struct table *table, const struct func_table *funcs, size_t n)
{
	struct widths widths = { .count = COUNT_MIN };
	size_t i;

	for (i = 0; i < n; i++) {
		const struct func_entry *func = &funcs->entries[i];
		char *place = table_place(table, func->file, func->line);

		text_widen(&widths.place, place,
			   table_widest(table, PLACE_MAX));
		if (text_digits(func->count.n) > widths.count)
			widths.count = text_digits(func->count.n);
		if (table->report_input->nplans > 1)
			text_widen(&widths.object,
				   table_object(table, func->plan),
				   table_widest(table, OBJECT_MAX));
		free(place);
	}
	text_head(&widths.object, "OBJECT");
	text_head(&widths.place, "DECLARED AT");
	return widths;
}

static void
func_row_write(const struct table *table, const struct func_entry *func,
	       const struct widths *widths, FILE *out, size_t columns,
	       size_t used)
{
	char *place = table_place(table, func->file, func->line);

	figure_write(out, &func->count, widths->count);
	fputs("  ", out);
	if (widths->object) {
		text_column(out, table_object(table, func->plan),
			    widths->object);
		fputs("  ", out);
	}
	if (widths->place) {
		text_column(out, place, widths->place);
		fputs("  ", out);
	}
	name_fit(out, func->name, columns, used);
	text_note(out, func->count.why);
	putc('\n', out);
	free(place);
}

static const char *
entry_symbol(const struct table *table, const struct func_entry *entry)
{
	return table->report_input->plans[entry->plan]
		->image->funcs[entry->ref]
		.name;
}

/* The functions that are called most, at most `max`; owned by the caller. */
static struct func_table
funcs_most(const struct table *table, const struct func_table *funcs,
	   size_t max)
{
	struct func_table most = { 0 };
	size_t n = 0, named = max + table->report_input->nplans * NAMES_ADDED;

	while (n < funcs->n && figure_ran(&funcs->entries[n].count))
		n++;
	/* Those of equal counts are ordered by their names. */
	table_names(table, funcs, n < named ? n : named);
	for (size_t i = 0; i < n && most.n < max; i++)
		if (funcs != &table->funcs ||
		    !name_added(entry_symbol(table, &funcs->entries[i])))
			*vec_push(most.entries, most.n) = funcs->entries[i];
	return most;
}

/* In full if `all`, else as wide as a line of the report. */
static void
func_rows_write(const struct table *table, const struct func_table *funcs,
		FILE *out, bool all)
{
	size_t i, used, n = funcs->n;
	size_t columns = all ? WIDTH_ALL : table->columns;
	struct widths widths;

	widths = widths_find(table, funcs, n);
	fprintf(out, "%*s  ", (int)widths.count, "CALLS");
	used = widths.count + 2;
	if (widths.object) {
		text_column(out, "OBJECT", widths.object);
		fputs("  ", out);
		used += widths.object + 2;
	}
	if (widths.place) {
		text_column(out, "DECLARED AT", widths.place);
		fputs("  ", out);
		used += widths.place + 2;
	}
	fputs("FUNCTION\n", out);
	for (i = 0; i < n; i++)
		func_row_write(table, &funcs->entries[i], &widths, out, columns,
			       used);
}

void
funcs_most_write(const struct table *table, const struct func_table *funcs,
		 const char *title, FILE *out)
{
	struct func_table most = funcs_most(table, funcs, table->opts->top);

	if (most.n) {
		text_section(out, title);
		func_rows_write(table, &most, out, false);
	}
	free(most.entries);
}

static int
by_name(const void *va, const void *vb)
{
	const struct func_entry *a = va, *b = vb;
	int order = strcmp(a->name, b->name);

	return order ? order : a->plan < b->plan ? -1 : a->plan > b->plan;
}

static int
by_place(const void *va, const void *vb)
{
	const struct func_entry *a = va, *b = vb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return by_name(va, vb);
}

/* As --sort says; they are in the order of calls.  Owned by the caller. */
static struct func_table
funcs_sort(const struct table *table, const struct func_table *funcs)
{
	enum sort_key sort = table->opts->sort;
	struct func_table sorted = {
		.entries = mem_alloc(funcs->n * sizeof(*sorted.entries)),
		.n = funcs->n,
	};

	memcpy(sorted.entries, funcs->entries,
	       funcs->n * sizeof(*sorted.entries));
	if (sort == SORT_NAME || sort == SORT_FILE)
		qsort(sorted.entries, sorted.n, sizeof(*sorted.entries),
		      sort == SORT_NAME ? by_name : by_place);
	return sorted;
}

static void
list_write(const struct table *table, const struct func_table *funcs, FILE *out,
	   const char *title, const char *none)
{
	struct totals totals = { 0 };
	struct func_table sorted;
	size_t i;

	title_write(table, out, title);
	if (!funcs->n) {
		fprintf(out, "\n%s\n", none);
		return;
	}
	for (i = 0; i < funcs->n; i++)
		totals_add(&totals, &funcs->entries[i].count);
	fputs("  ", out);
	text_count(out, totals.run, 0);
	fputs(" of ", out);
	text_count(out, totals.all, 0);
	fputs(" called, ", out);
	totals_rest_write(&totals,
			  table->report_input->attached ?
				  " not since attaching" :
				  " never",
			  out);
	putc('\n', out);
	table_names(table, funcs, funcs->n);
	sorted = funcs_sort(table, funcs);
	func_rows_write(table, &sorted, out, true);
	free(sorted.entries);
}

void
funcs_write(struct table *table, FILE *out)
{
	for (size_t i = 0; i < table->report_input->nplans; i++)
		if (table->report_input->plans[i]->units & 1U << UNIT_INSN) {
			funcs_executed_write(table, out);
			return;
		}
	list_write(table, &table->funcs, out, "Functions",
		   "No functions were counted.");
}

void
inlines_write(struct table *table, FILE *out)
{
	list_write(table, &table->inlines, out, "Inlined functions",
		   "No inlined functions were counted (see --units=inline).");
}
