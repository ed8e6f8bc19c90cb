/*
 * The report of lines that never ran, as ranges.
 */
#include "report/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { PLACE_WIDTH = 28, NAME_WIDTH = 32 };

/* Per plan, per function of its image: whether it was never called. */
struct idle {
	bool **plans;
};

static struct idle
idle_find(const struct table *table)
{
	const struct report_input *report_input = table->report_input;
	struct idle idle;
	size_t i;

	idle.plans = mem_alloc(report_input->nplans * sizeof(*idle.plans));
	for (i = 0; i < report_input->nplans; i++)
		idle.plans[i] = mem_alloc(
			report_input->plans[i]->image->nfuncs);
	for (i = 0; i < table->funcs.n; i++) {
		const struct func_entry *func = &table->funcs.entries[i];

		idle.plans[func->plan][func->ref] = !func->count.why &&
						    !func->count.n;
	}
	return idle;
}

static void
idle_free(const struct table *table, struct idle *idle)
{
	size_t i;

	for (i = 0; i < table->report_input->nplans; i++)
		free(idle->plans[i]);
	free(idle->plans);
}

static char *
range_name(const struct table *table, const struct func *func)
{
	char *name = name_shown(func->name, table->opts->demangle);
	char *shorter = name_shorten(name, NAME_WIDTH);

	free(name);
	return shorter;
}

/*
 * The names of the functions of the lines [from, to), none twice in a row;
 * owned by the caller.
 */
static char *
range_functions(const struct table *table, const struct idle *idle, size_t from,
		size_t to)
{
	char *names = NULL;
	size_t size;
	FILE *out = open_memstream(&names, &size);
	uint32_t last = FUNC_NONE;

	must(out != NULL);
	for (; from < to; from++) {
		const struct line_entry *line = &table->lines[from];
		const struct image *image;
		char *name;

		if (line->func == FUNC_NONE || line->func == last)
			continue;
		last = line->func;
		image = table->report_input->plans[line->plan]->image;
		name = range_name(table, &image->funcs[last]);
		fprintf(out, "%s%s", ftell(out) ? ", " : "", name);
		if (idle->plans[line->plan][last])
			fprintf(out, " (%s)",
				report_input_never(table->report_input));
		free(name);
	}
	must(!fclose(out));
	return names;
}

static void
range_write(const struct table *table, const struct idle *idle, size_t from,
	    size_t to, FILE *out)
{
	const struct file_entry *file = &table->files[table->lines[from].file];
	uint32_t lo = table->lines[from].line, hi = table->lines[to - 1].line;
	char *names = range_functions(table, idle, from, to);
	char *place = lo == hi ? mem_printf("%s:%u", file->shown, lo) :
				 mem_printf("%s:%u-%u", file->shown, lo, hi);
	size_t wide = text_width(place, strlen(place));
	size_t columns = table->columns;

	text_print(out, place, strlen(place), WIDTH_ALL);
	if (*names) {
		size_t pad = wide < PLACE_WIDTH ? PLACE_WIDTH - wide : 0;

		fprintf(out, "%*s  ", (int)pad, "");
		wide += pad + 2;
		text_print(out, names, strlen(names),
			   columns > wide ? columns - wide : 0);
	}
	putc('\n', out);
	free(place);
	free(names);
}

void
line_ranges_write(const struct table *table, const bool *chosen, FILE *out)
{
	struct idle idle = idle_find(table);
	size_t i, j;

	for (i = 0; i < table->nlines; i = j) {
		j = i + 1;
		if (!chosen[i])
			continue;
		while (j < table->nlines && chosen[j] &&
		       table->lines[j].file == table->lines[i].file)
			j++;
		range_write(table, &idle, i, j, out);
	}
	idle_free(table, &idle);
}

void
uncovered_write(struct table *table, FILE *out)
{
	struct totals totals = { 0 };
	bool *never;

	title_write(table, out,
		    table->report_input->attached ?
			    "Lines not run since attaching" :
			    "Lines never run");
	if (!lines_present(table, out))
		return;
	never = mem_alloc(table->nlines * sizeof(*never));
	for (size_t i = 0; i < table->nlines; i++) {
		const struct figure *count = &table->lines[i].count;

		totals_add(&totals, count);
		never[i] = !count->why && !count->n;
	}
	fputs("  ", out);
	text_count(out, totals.never, 0);
	fputs(" of ", out);
	text_count(out, totals.all, 0);
	fputs(" lines with code\n", out);
	foreign_write(table, "  ", out);
	putc('\n', out);
	line_ranges_write(table, never, out);
	free(never);
}
