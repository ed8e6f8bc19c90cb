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

	fprintf(out, "%s of ", title);
	text_print(out, command, strlen(command),
		   columns > used ? columns - used : 0);
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
	       const struct widths *widths, FILE *out, size_t room)
{
	char *place = table_place(table, func->file, func->line);
	char *name = name_shorten(func->name, room);

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
	text_print(out, name, strlen(name), room);
	free(name);
	text_note(out, func->count.why);
	putc('\n', out);
	free(place);
}

/* Functions that compilers and C libraries add to every program. */
static const char *const added[] = {
	"_init",
	"_fini",
	"_start",
	"frame_dummy",
	"register_tm_clones",
	"deregister_tm_clones",
	"__do_global_dtors_aux",
};

enum { ADDED = sizeof(added) / sizeof(added[0]) };

static bool
func_added(const struct table *table, const struct func_table *funcs,
	   const struct func_entry *entry)
{
	const struct image *image =
		table->report_input->plans[entry->plan]->image;

	for (size_t i = 0; i < ADDED; i++)
		if (funcs == &table->funcs &&
		    !strcmp(image->funcs[entry->ref].name, added[i]))
			return true;
	return false;
}

/* The functions that are called most, at most `max`; owned by the caller. */
static struct func_table
funcs_most(const struct table *table, const struct func_table *funcs,
	   size_t max)
{
	struct func_table most = { 0 };
	size_t n = 0, named = max + table->report_input->nplans * ADDED;

	while (n < funcs->n && figure_ran(&funcs->entries[n].count))
		n++;
	/* Those of equal counts are ordered by their names. */
	table_names(table, funcs, n < named ? n : named);
	for (size_t i = 0; i < n && most.n < max; i++)
		if (!func_added(table, funcs, &funcs->entries[i]))
			*vec_push(most.entries, most.n) = funcs->entries[i];
	return most;
}

/* In full if `all`, else as wide as a line of the report. */
static void
func_rows_write(const struct table *table, const struct func_table *funcs,
		FILE *out, bool all)
{
	size_t i, used, n = funcs->n, columns = table->columns;
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
		func_row_write(table, &funcs->entries[i], &widths, out,
			       all	      ? WIDTH_ALL :
			       columns > used ? columns - used :
						0);
}

void
funcs_most_write(const struct table *table, const struct func_table *funcs,
		 const char *title, FILE *out)
{
	struct func_table most = funcs_most(table, funcs, table->opts->top);

	if (most.n) {
		fprintf(out, "\n%s:\n", title);
		func_rows_write(table, &most, out, false);
	}
	free(most.entries);
}

static void
list_write(const struct table *table, const struct func_table *funcs, FILE *out,
	   const char *title, const char *none)
{
	struct totals totals = { 0 };
	size_t i;

	title_write(table, out, title);
	if (!funcs->n) {
		fprintf(out, "\n%s\n", none);
		return;
	}
	for (i = 0; i < funcs->n; i++)
		totals_add(&totals, &funcs->entries[i].count);
	fprintf(out, "  %zu of %zu called, %zu never", totals.run, totals.all,
		totals.never);
	if (totals.unknown)
		fprintf(out, ", %zu not known (?)", totals.unknown);
	fputs("\n\n", out);
	table_names(table, funcs, funcs->n);
	func_rows_write(table, funcs, out, true);
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
