/*
 * Writes the data files that compare a page with an earlier run: one of the
 * functions whose counts changed, and one per source file with such lines.
 */
#include "report/html/html_diff.h"

#include <stdlib.h>
#include <string.h>

#include "report/html/html.h"
#include "report/names.h"
#include "util/mem.h"

/* ---- functions */

static struct plan *const *
plan_find(const struct report_input *report_input, const char *path)
{
	for (size_t i = 0; i < report_input->nplans; i++)
		if (strcmp(report_input->plans[i]->image->path, path) == 0)
			return &report_input->plans[i];
	return NULL;
}

/* The number on the page of the later function, or FUNC_NONE. */
static uint32_t
func_find(const struct html *html, const struct diff_func *diff)
{
	const struct report_input *report_input = html->table->report_input;
	struct plan *const *plan = plan_find(report_input, diff->object->path);
	uint32_t fplan;

	if (!plan)
		return FUNC_NONE;
	fplan = plan_func(*plan, diff->after->addr);
	return fplan == FPLAN_NONE ?
		       FUNC_NONE :
		       html->ids[plan - report_input->plans][fplan];
}

/*
 * Write [number on the page or -1, name, 1 for instructions or 0 for calls,
 * number before, number after].
 */
static void
func_write(const struct html *html, struct script *script,
	   const struct diff_func *diff)
{
	char *name = name_shown(diff->after->name, html->table->opts->demangle);
	uint32_t id = func_find(html, diff);

	if (!*name) {
		free(name);
		name = mem_printf("%#llx",
				  (unsigned long long)diff->after->addr);
	}
	script_begin(script, '[');
	if (id == FUNC_NONE)
		script_minus(script);
	else
		script_number(script, id);
	script_string(script, name);
	script_number(script, diff->insns);
	script_number(script, diff->before_n);
	script_number(script, diff->after_n);
	script_end(script, ']');
	free(name);
}

static void
count_write(struct script *script, const char *key, size_t n)
{
	script_key(script, key);
	script_number(script, n);
}

static void
funcs_write(struct html *html, struct script *script)
{
	const struct profile_diff *diff = html->before->diff;

	script_key_begin(script, "funcs", '[');
	for (size_t i = 0; i < diff->nfuncs; i++)
		func_write(html, script, &diff->funcs[i]);
	script_end(script, ']');
	count_write(script, "same", diff->same);
	count_write(script, "unknown", diff->unknown);
	count_write(script, "before", diff->only_before);
	count_write(script, "after", diff->only_after);
	count_write(script, "rebuilt", diff->rebuilt);
}

/* ---- lines */

/* Numbers of lines of a file that changed. */
struct file_change {
	size_t won, lost;	/* ran only now, only before */
	size_t changed;		/* different count, or not known in one */
	size_t alone;		/* not counted before */
};

static uint32_t
file_find(const struct table *table, const char *path)
{
	size_t lo = 0, hi = table->nfiles;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(table->files[mid].path, path);

		if (!order)
			return (uint32_t)mid;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return FILE_NONE;
}

/*
 * Whether a line's count changed.  `before` is NULL if the line was not counted
 * then.
 */
static bool
line_change(struct file_change *change, const struct figure *before,
	    const struct figure *after)
{
	if (!before) {
		change->alone++;
		return true;
	}
	if (!before->why && !after->why) {
		change->won += !before->n && after->n;
		change->lost += before->n && !after->n;
		if (before->n == after->n)
			return false;
	} else if (before->why && after->why) {
		return false;
	}
	change->changed++;
	return true;
}

/*
 * Write [line, count before or null] of the lines that changed; only count them
 * if script is NULL.
 */
static struct file_change
file_lines_write(struct html *html, struct script *script, size_t index)
{
	const struct file_entry *file = &html->table->files[index];
	uint32_t old = file_find(html->before_table, file->path);
	struct file_change change = { 0 };

	for (size_t i = file->line; i < file->line + file->nlines; i++) {
		const struct line_entry *line = &html->table->lines[i];
		const struct line_entry *before = table_line(html->before_table,
							     old, line->line);

		if (!line_change(&change, before ? &before->count : NULL,
				 &line->count) ||
		    !script)
			continue;
		script_begin(script, '[');
		script_number(script, line->line);
		if (before)
			script_figure(script, &before->count);
		else
			script_null(script);
		script_end(script, ']');
	}
	return change;
}

/* Write a source file's data file if any of its lines changed. */
static struct file_change
file_write(struct html *html, size_t index)
{
	struct file_change change = file_lines_write(html, NULL, index);
	char *name = mem_printf("d%zu", index);
	struct script script;

	if (change.changed || change.alone) {
		script_open(&script, html->dir, &html->reasons, name);
		script_begin(&script, '[');
		file_lines_write(html, &script, index);
		script_end(&script, ']');
		script_close(&script);
	}
	free(name);
	return change;
}

/* Write [file, won, lost, changed, not counted before] of changed files. */
static void
files_write(struct html *html, struct script *script)
{
	script_key_begin(script, "files", '[');
	for (size_t i = 0; html->before_table && i < html->table->nfiles; i++) {
		struct file_change change = file_write(html, i);

		if (!change.changed && !change.alone)
			continue;
		script_begin(script, '[');
		script_number(script, i);
		script_number(script, change.won);
		script_number(script, change.lost);
		script_number(script, change.changed);
		script_number(script, change.alone);
		script_end(script, ']');
	}
	script_end(script, ']');
}

void
html_changes_write(struct html *html)
{
	struct script script;

	if (!html->before)
		return;
	script_open(&script, html->dir, &html->reasons, "diff");
	script_begin(&script, '{');
	script_key(&script, "command");
	script_string(&script, html->before->command);
	count_write(&script, "lines", html->before_table != NULL);
	funcs_write(html, &script);
	files_write(html, &script);
	script_end(&script, '}');
	script_close(&script);
}

int
html_diff_write(const struct report_options *opts,
		const struct html_before *before,
		const struct report_input *after, const char *path)
{
	struct table *table = table_make(opts, after);
	struct table *earlier = before->report_input ?
					table_make(opts, before->report_input) :
					NULL;
	struct html html = {
		.table = table,
		.before = before,
		.before_table = earlier,
	};
	int err = html_make(&html, path);

	table_free(table);
	table_free(earlier);
	return err;
}
