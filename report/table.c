/*
 * Gathers the counts of all plans by file and line and by function.  Prints
 * nothing.
 */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program/code.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

static int
by_path(const void *va, const void *vb)
{
	const struct file_entry *a = va, *b = vb;

	return strcmp(a->path, b->path);
}

size_t
table_widest(const struct table *table, size_t usual)
{
	enum { PART = 4, MOST = 120 };
	size_t part = table->columns / PART;

	return part > MOST ? MOST : part > usual ? part : usual;
}

/* The file that a unit belongs to, or FILE_NONE. */
static uint32_t
unit_file(const struct plan *plan, const struct unit *unit)
{
	const struct image *image = plan->image;
	uint32_t file = unit->ref;

	if (unit->kind == UNIT_FUNC)
		file = image->funcs[unit->ref].file;
	else if (unit->kind == UNIT_INLINE)
		file = image->inlines[unit->ref].file;
	return file < image->nfiles ? file : FILE_NONE;
}

/* Mark the files of the lines of code in a range. */
static void
range_files(const struct image *image, const struct range *range, bool *used)
{
	size_t row = code_row(image, range->lo);

	/* Go back to the line in force where the range begins. */
	while (row && !image->rows[--row].is_stmt)
		;
	for (; row < image->nrows && image->rows[row].addr < range->hi; row++)
		if (image->rows[row].file < image->nfiles)
			used[image->rows[row].file] = true;
}

/* Mark the files of a function whose code reports show. */
static void
fplan_files(const struct plan *plan, const struct func_plan *fplan, bool *used)
{
	const struct image *image = plan->image;

	if (!fplan->counts ||
	    !(fplan->units &
	      ~(1U << UNIT_FUNC | 1U << UNIT_LINE | 1U << UNIT_INLINE)))
		return;
	for (size_t i = 0; i < fplan->nranges; i++)
		range_files(image, &fplan->ranges[i], used);
	if (fplan->func != FUNC_NONE &&
	    image->funcs[fplan->func].file < image->nfiles)
		used[image->funcs[fplan->func].file] = true;
}

static void
plan_files(struct table *table, const struct plan *plan,
	   const struct units *units)
{
	const struct image *image = plan->image;
	bool *used = mem_alloc(image->nfiles * sizeof(*used));
	size_t i;

	for (i = 0; i < units->n; i++) {
		uint32_t file = unit_file(plan, &units->units[i]);

		if (file != FILE_NONE)
			used[file] = true;
	}
	for (i = 0; i < plan->nfplans; i++)
		fplan_files(plan, &plan->fplans[i], used);
	for (i = 0; i < image->nfiles; i++)
		if (used[i])
			*vec_push(table->files,
				  table->nfiles) = (struct file_entry){
				.path = image->files[i],
				.plan = plan,
			};
	free(used);
}

static void
files_make(struct table *table)
{
	const struct report_input *report_input = table->report_input;
	size_t i, n = 0;

	for (i = 0; i < report_input->nplans; i++)
		plan_files(table, report_input->plans[i], &table->units[i]);
	if (table->nfiles)
		qsort(table->files, table->nfiles, sizeof(*table->files),
		      by_path);
	for (i = 0; i < table->nfiles; i++)
		if (!n ||
		    strcmp(table->files[n - 1].path, table->files[i].path) != 0)
			table->files[n++] = table->files[i];
	table->nfiles = n;
	paths_shorten(table->files, n);
}

/* Per file of the plan's image, its index in the table; owned by the caller. */
static uint32_t *
files_translate(const struct table *table, const struct plan *plan)
{
	const struct image *image = plan->image;
	uint32_t *map = mem_alloc(image->nfiles * sizeof(*map));
	size_t i;

	for (i = 0; i < image->nfiles; i++) {
		const struct file_entry key = { .path = image->files[i] };
		const struct file_entry *file = NULL;

		if (table->nfiles)
			file = bsearch(&key, table->files, table->nfiles,
				       sizeof(key), by_path);
		map[i] = file ? (uint32_t)(file - table->files) : FILE_NONE;
	}
	return map;
}

uint32_t
table_file(const struct table *table, uint32_t plan, uint32_t file)
{
	if (file >= table->report_input->plans[plan]->image->nfiles)
		return FILE_NONE;
	return table->maps[plan][file];
}

const struct line_entry *
table_line(const struct table *table, uint32_t file, uint32_t line)
{
	const struct file_entry *entry;
	const struct line_entry *lines;
	size_t found;

	if (file >= table->nfiles)
		return NULL;
	entry = &table->files[file];
	lines = &table->lines[entry->line];
	found = search_first(entry->nlines, i, lines[i].line >= line);
	return found < entry->nlines && lines[found].line == line ?
		       &lines[found] :
		       NULL;
}

bool
table_leaves(const struct table *table, uint32_t plan, const struct unit *unit)
{
	uint32_t file = table_file(
		table, plan, unit_file(table->report_input->plans[plan], unit));

	return unit->kind == UNIT_LINE && foreign_left(table, file);
}

static struct figure
unit_count(const struct unit *unit)
{
	return (struct figure){ unit->n, unit->why };
}

static void
line_add(struct table *table, uint32_t plan_index, const struct unit *unit,
	 uint32_t file)
{
	*vec_push(table->lines, table->nlines) = (struct line_entry){
		.file = file,
		.line = unit->line,
		.count = unit_count(unit),
		.plan = plan_index,
		.func = unit->func,
	};
}

static void
func_add(struct table *table, uint32_t plan_index, const struct unit *unit,
	 uint32_t file)
{
	const struct plan *plan = table->report_input->plans[plan_index];
	bool inlined = unit->kind == UNIT_INLINE;
	struct func_table *to = inlined ? &table->inlines : &table->funcs;
	const struct image *image = plan->image;

	*vec_push(to->entries, to->n) = (struct func_entry){
		.file = file,
		.line = inlined ? unit->line : image->funcs[unit->ref].line,
		.count = unit_count(unit),
		.plan = plan_index,
		.ref = unit->ref,
	};
}

static void
units_gather(struct table *table, uint32_t plan_index)
{
	const struct plan *plan = table->report_input->plans[plan_index];
	size_t i;

	for (i = 0; i < table->units[plan_index].n; i++) {
		const struct unit *unit = &table->units[plan_index].units[i];
		uint32_t file = table_file(table, plan_index,
					   unit_file(plan, unit));

		if (unit->kind != UNIT_LINE) {
			func_add(table, plan_index, unit, file);
		} else if (table_leaves(table, plan_index, unit)) {
			table->files[file].nleft++;
		} else if (file != FILE_NONE) {
			line_add(table, plan_index, unit, file);
		}
	}
}

static int
by_line(const void *va, const void *vb)
{
	const struct line_entry *a = va, *b = vb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->plan < b->plan ? -1 : a->plan > b->plan;
}

/* Leave one entry for each line, summed over objects. */
static void
lines_merge(struct table *table)
{
	size_t i, n = 0;

	if (table->nlines)
		qsort(table->lines, table->nlines, sizeof(*table->lines),
		      by_line);
	for (i = 0; i < table->nlines; i++) {
		const struct line_entry *line = &table->lines[i];
		struct line_entry *last = n ? &table->lines[n - 1] : NULL;

		if (!last || last->file != line->file ||
		    last->line != line->line) {
			if (!table->files[line->file].nlines++)
				table->files[line->file].line = n;
			table->lines[n++] = *line;
			continue;
		}
		figure_add(&last->count, &line->count);
	}
	table->nlines = n;
}

static int
calls_compare(const struct func_entry *a, const struct func_entry *b)
{
	return figure_compare(&a->count, &b->count);
}

static int
place_compare(const struct func_entry *a, const struct func_entry *b)
{
	if (a->plan != b->plan)
		return a->plan < b->plan ? -1 : 1;
	return a->ref < b->ref ? -1 : a->ref > b->ref;
}

static int
by_calls(const void *va, const void *vb)
{
	int order = calls_compare(va, vb);

	return order ? order : place_compare(va, vb);
}

static int
by_name(const void *va, const void *vb)
{
	const struct func_entry *a = va, *b = vb;
	int order = strcmp(a->name, b->name);

	return order ? order : place_compare(a, b);
}

static void
func_table_sort(struct func_table *funcs)
{
	if (funcs->n)
		qsort(funcs->entries, funcs->n, sizeof(*funcs->entries),
		      by_calls);
}

static char *
entry_name(const struct table *table, const struct func_table *funcs,
	   const struct func_entry *entry)
{
	const struct image *image =
		table->report_input->plans[entry->plan]->image;
	bool demangled = table->opts->demangle;

	return funcs == &table->inlines ?
		       name_shown(image->inlines[entry->ref].name, demangled) :
		       name_with_aliases(&image->funcs[entry->ref], demangled);
}

void
table_names(const struct table *table, const struct func_table *funcs, size_t n)
{
	struct func_entry *entries = funcs->entries;
	size_t lo, hi;

	for (lo = 0; lo < n; lo = hi) {
		bool named = entries[lo].name;

		for (hi = lo; hi < funcs->n &&
			      !calls_compare(&entries[lo], &entries[hi]);
		     hi++)
			if (!named)
				entries[hi].name = entry_name(table, funcs,
							      &entries[hi]);
		if (!named)
			qsort(entries + lo, hi - lo, sizeof(*entries), by_name);
	}
}

struct table *
table_make(const struct report_options *opts,
	   const struct report_input *report_input)
{
	struct table *table = mem_alloc(sizeof(*table));
	size_t i;

	table->opts = opts;
	table->report_input = report_input;
	table->units = mem_alloc(report_input->nplans * sizeof(*table->units));
	for (i = 0; i < report_input->nplans; i++)
		table->units[i].units = plan_units(report_input->plans[i],
						   &table->units[i].n);
	files_make(table);
	foreign_mark(table);
	table->maps = mem_alloc(report_input->nplans * sizeof(*table->maps));
	for (i = 0; i < report_input->nplans; i++)
		table->maps[i] = files_translate(table, report_input->plans[i]);
	for (i = 0; i < report_input->nplans; i++)
		units_gather(table, i);
	lines_merge(table);
	func_table_sort(&table->funcs);
	func_table_sort(&table->inlines);
	return table;
}

static void
func_table_free(struct func_table *funcs)
{
	size_t i;

	for (i = 0; i < funcs->n; i++)
		free(funcs->entries[i].name);
	free(funcs->entries);
}

static void
event_sums_free(struct event_sums *sums)
{
	if (!sums)
		return;
	for (size_t i = 0; i < sums->nfuncs; i++) {
		free(sums->funcs[i].name);
		free(sums->funcs[i].sums);
	}
	free(sums->funcs);
	free(sums->all);
	free(sums);
}

void
table_free(struct table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->nfiles; i++) {
		table_source_drop(&table->files[i]);
		free(table->files[i].shown);
	}
	for (i = 0; i < table->report_input->nplans; i++) {
		free(table->units[i].units);
		free(table->maps[i]);
	}
	free(table->units);
	free(table->maps);
	free(table->files);
	free(table->lines);
	func_table_free(&table->funcs);
	func_table_free(&table->inlines);
	event_sums_free(table->event_sums);
	free(table);
}

struct source *
table_source(struct table *table, struct file_entry *file)
{
	if (!file->source_tried) {
		file->source = source_open(table->opts, file->plan->image,
					   file->path);
		if (!file->source)
			file->source_fault = mem_strdup(fail_message());
		file->source_tried = true;
	}
	return file->source;
}

void
table_source_drop(struct file_entry *file)
{
	source_close(file->source);
	free(file->source_fault);
	file->source = NULL;
	file->source_fault = NULL;
	file->source_tried = false;
}

bool
table_source_newer(const struct file_entry *file)
{
	const struct timespec *changed = &file->source->changed;
	struct stat st;

	if (stat(file->plan->image->path, &st))
		return false;
	return changed->tv_sec > st.st_mtim.tv_sec ||
	       (changed->tv_sec == st.st_mtim.tv_sec &&
		changed->tv_nsec > st.st_mtim.tv_nsec);
}

size_t
table_lines_digits(const struct table *table, size_t min)
{
	size_t i, digits;

	for (i = 0; i < table->nlines; i++) {
		digits = text_digits(table->lines[i].count.n);
		if (digits > min)
			min = digits;
	}
	return min;
}

char *
table_place(const struct table *table, uint32_t file, uint32_t line)
{
	if (file >= table->nfiles)
		return mem_strdup("");
	return mem_printf("%s:%u", table->files[file].shown, line);
}

const char *
table_object(const struct table *table, uint32_t plan)
{
	return image_name(table->report_input->plans[plan]->image);
}

const char *
report_input_never(const struct report_input *report_input)
{
	return report_input->attached ? "not called since attaching" :
					"never called";
}

bool
report_input_once(const struct report_input *report_input)
{
	for (size_t i = 0; i < report_input->nplans; i++)
		if (report_input->plans[i]->options.method == PLACE_ONCE)
			return true;
	return false;
}
