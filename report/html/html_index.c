/*
 * Writes the overview of a page: the run, and tables of all files and functions
 * with their figures.
 */
#include "report/html/html.h"

#include <stdlib.h>

#include "report/outcome.h"
#include "report/reasons.h"
#include "report/remarks.h"
#include "util/mem.h"

/* ---- the run */

static void
strings_write(struct script *script, char *const *strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		script_string(script, strings[i]);
}

static void
run_write(struct script *script, const struct table *table)
{
	const struct report_input *report_input = table->report_input;
	char *outcome = outcome_text(table);
	char *seconds = mem_printf("%.2f s", report_input->seconds);
	char **remarks;
	size_t nremarks;

	script_key(script, "version");
	script_string(script, PMON_VERSION);
	script_key(script, "command");
	script_string(script, report_input->command);
	script_key(script, "outcome");
	script_string(script, outcome);
	script_key(script, "time");
	script_string(script, seconds);
	script_key(script, "processes");
	script_number(script, report_input->nprocesses);
	script_key(script, "threads");
	script_number(script, report_input->nthreads);
	script_key_begin(script, "remarks", '[');
	remarks = report_remarks(report_input, &nremarks);
	strings_write(script, remarks, nremarks);
	report_remarks_free(remarks, nremarks);
	if (report_input_once(report_input))
		script_string(script, "A count of 1 means that the code ran at "
				      "least once (--once).");
	script_end(script, ']');
	script_key_begin(script, "objects", '[');
	for (size_t i = 0; i < report_input->nplans; i++)
		script_string(script, report_input->plans[i]->image->path);
	script_end(script, ']');
	free(seconds);
	free(outcome);
}

/*
 * Add up functions, lines and inlined functions; html_funcs.c did the other
 * units.
 */
static void
units_total(struct html *html)
{
	for (size_t i = 0; i < html->table->report_input->nplans; i++) {
		const struct units *units = &html->table->units[i];

		for (size_t k = 0; k < units->n; k++)
			totals_add(&html->totals[i][units->units[k].kind],
				   &(struct figure){ units->units[k].n,
						     units->units[k].why });
	}
}

/* Write [what, object, all, run, never run, not known] of each unit. */
static void
totals_write(struct html *html, struct script *script)
{
	script_key_begin(script, "totals", '[');
	for (int kind = 0; kind < UNIT_KINDS; kind++) {
		for (size_t i = 0; i < html->table->report_input->nplans; i++) {
			const struct totals *totals = &html->totals[i][kind];

			if (!totals->all)
				continue;
			script_begin(script, '[');
			script_string(script, unit_word(kind, 0));
			script_number(script, i);
			script_number(script, totals->all);
			script_number(script, totals->run);
			script_number(script, totals->never);
			script_number(script, totals->unknown);
			script_end(script, ']');
		}
	}
	script_end(script, ']');
}

/* ---- files */

static struct totals
file_totals(const struct table *table, const struct file_entry *file,
	    struct figure *most)
{
	struct totals totals = { 0 };

	*most = (struct figure){ 0 };
	for (size_t i = file->line; i < file->line + file->nlines; i++) {
		const struct figure *count = &table->lines[i].count;

		totals_add(&totals, count);
		if (!count->why && count->n > most->n)
			*most = *count;
	}
	return totals;
}

/*
 * Write [name, path, lines, run, not known, count of the line run most,
 * instructions executed, instructions, never executed]; the last three are left
 * out if instructions were not counted.
 */
static void
file_write(struct script *script, const struct table *table,
	   const struct file_entry *file, const struct work *work)
{
	struct figure most;
	struct totals totals = file_totals(table, file, &most);

	script_begin(script, '[');
	script_string(script, file->shown);
	script_string(script, file->path);
	script_number(script, totals.all);
	script_number(script, totals.run);
	script_number(script, totals.unknown);
	script_figure(script, &most);
	if (work) {
		script_figure(script, &work->ie);
		script_number(script, work->i);
		script_number(script, work->ine);
	}
	script_end(script, ']');
}

static void
files_write(struct html *html, struct script *script)
{
	struct table *table = html->table;
	struct work rest,
		*works = html->insns ? work_by_file(table, &rest) : NULL;

	script_key_begin(script, "files", '[');
	for (size_t i = 0; i < table->nfiles; i++)
		file_write(script, table, &table->files[i],
			   works ? &works[i] : NULL);
	script_end(script, ']');
	free(works);
}

/* ---- functions */

static void
file_number(struct script *script, uint32_t file)
{
	if (file == FILE_NONE)
		script_minus(script);
	else
		script_number(script, file);
}

/*
 * Write [name, object, file or -1, line, calls or null, instructions executed,
 * instructions, never executed, blocks, never entered, data file or -1]; only
 * up to the calls if the function's instructions were not counted.
 */
static void
func_write(struct script *script, const struct html_func *func)
{
	script_begin(script, '[');
	script_string(script, func->name ? func->name : func->entry->name);
	script_number(script, func->plan);
	file_number(script, func->file);
	script_number(script, func->line);
	if (func->entry)
		script_figure(script, &func->entry->count);
	else
		script_null(script);
	if (func->coded) {
		script_figure(script, &func->work.ie);
		script_number(script, func->work.i);
		script_number(script, func->work.ine);
		script_number(script, func->work.bb);
		script_number(script, func->work.bbne);
		if (func->ran)
			script_number(script, func->pack);
		else
			script_minus(script);
	}
	script_end(script, ']');
}

static void
funcs_write(struct html *html, struct script *script)
{
	script_key_begin(script, "funcs", '[');
	for (size_t i = 0; i < html->nfuncs; i++)
		func_write(script, &html->funcs[i]);
	script_end(script, ']');
}

/*
 * Write [name, object, file or -1, line, count, instructions executed,
 * instructions, never executed] of inlined functions; only up to the count if
 * instructions were not counted.
 */
static void
inlines_write(struct html *html, struct script *script)
{
	const struct func_table *inlines = &html->table->inlines;

	script_key_begin(script, "inlines", '[');
	for (size_t i = 0; i < inlines->n; i++) {
		const struct func_entry *entry = &inlines->entries[i];
		const struct work *work = &html->inlines.works[i];

		script_begin(script, '[');
		script_string(script, entry->name);
		script_number(script, entry->plan);
		file_number(script, entry->file);
		script_number(script, entry->line);
		script_figure(script, &entry->count);
		if (html->insns) {
			script_figure(script, &work->ie);
			script_number(script, work->i);
			script_number(script, work->ine);
		}
		script_end(script, ']');
	}
	script_end(script, ']');
}

void
html_index_write(struct html *html)
{
	struct script script;

	units_total(html);
	script_open(&script, html->dir, &html->reasons, "index");
	script_begin(&script, '{');
	run_write(&script, html->table);
	script_key(&script, "calls");
	script_number(&script, html->calls.counted);
	script_key(&script, "compared");
	if (html->before)
		script_string(&script, html->before->command);
	else
		script_null(&script);
	totals_write(html, &script);
	files_write(html, &script);
	funcs_write(html, &script);
	inlines_write(html, &script);
	script_key_begin(&script, "reasons", '[');
	for (size_t i = 0; i < html->reasons.n; i++)
		script_string(&script, html->reasons.whys[i]);
	script_end(&script, ']');
	script_end(&script, '}');
	script_close(&script);
}
