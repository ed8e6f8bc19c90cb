/*
 * The reports of executed instructions by function and by file, like the
 * summaries of Weinberger's lprint.
 */
#include "report/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "report/inline_work.h"
#include "report/names.h"
#include "report/printable.h"
#include "report/work.h"
#include "util/mem.h"

enum {
	IE_MIN = 11,
	CALLS_MIN = 9,
	EACH_WIDTH = 10,
	SIZES_WIDTH = 7,		/* of numbers of instructions or blocks */
	PLACE_MAX = 28,
	OBJECT_MAX = 20,
};

/* One function. */
struct entry {
	char *name, *place;
	uint32_t plan, file, line;
	bool has_code, has_calls;
	bool inlined;		/* only summed over its inlined copies */
	struct work work;
	struct figure calls;
};

struct entries {
	struct entry *entries;
	size_t n;
	size_t ie, calls, place, object;	/* widths */
	struct work all;
};

/* ---- gathering */

static void
entry_add(struct entries *entries, struct entry entry)
{
	*vec_push(entries->entries, entries->n) = entry;
}

/*
 * Add functions, and nameless code, whose instructions were counted; or only
 * those that ran (`ran`), as names take long to make, and none that every
 * program has.
 */
static void
views_add(struct table *table, struct entries *entries, bool **seen, bool ran)
{
	struct view *view = NULL;

	while ((view = view_next(table, view, VIEW_INSNS))) {
		const struct func_plan *fplan = view->fplan;
		const struct func *func = fplan_func(fplan, view->plan->image);
		struct entry entry = {
			.plan = view->plan_index,
			.has_code = true,
			.has_calls = func != NULL,
			.work = work_of_fplan(view),
			.calls = figure_of(&fplan->calls),
			.file = func ? table_file(table, view->plan_index,
						  func->file) :
				       FILE_NONE,
			.line = func ? func->line : 0,
		};

		work_add(&entries->all, &entry.work);
		if (ran && (!figure_ran(&entry.work.ie) ||
			    (func && name_added(func->name))))
			continue;
		entry.name = func ? name_with_aliases(func,
						      table->opts->demangle) :
				    view_name(view);
		entry.place = table_place(table, entry.file, entry.line);
		if (func)
			seen[view->plan_index][fplan->func] = true;
		entry_add(entries, entry);
	}
}

/*
 * Add the inlined functions that executed instructions, which are also among
 * those of the functions that they are in.
 */
static void
inlined_add(struct table *table, struct entries *entries)
{
	struct inline_work work;
	struct view *view = NULL;

	if (!table->inlines.n)
		return;
	inline_work_open(&work, table);
	while ((view = view_next(table, view, VIEW_INSNS)))
		inline_work_add(&work, view);
	for (size_t i = 0; i < table->inlines.n; i++) {
		const struct func_entry *func = &table->inlines.entries[i];

		if (figure_ran(&work.works[i].ie))
			entry_add(entries,
				  (struct entry){
					  .name = mem_strdup(func->name),
					  .inlined = true,
					  .place = mem_strdup(""),
					  .plan = func->plan,
					  .has_calls = true,
					  .calls = func->count,
					  .work = work.works[i],
					  .has_code = true,
				  });
	}
	inline_work_close(&work);
}

/* Add the functions whose calls were counted, but not their instructions. */
static void
others_add(struct table *table, struct entries *entries, bool **seen)
{
	table_names(table, &table->funcs, table->funcs.n);
	for (size_t i = 0; i < table->funcs.n; i++) {
		const struct func_entry *func = &table->funcs.entries[i];

		if (!seen[func->plan][func->ref])
			entry_add(entries,
				  (struct entry){
					  .name = mem_strdup(func->name),
					  .place = table_place(table,
							       func->file,
							       func->line),
					  .plan = func->plan,
					  .file = func->file,
					  .line = func->line,
					  .has_calls = true,
					  .calls = func->count,
				  });
	}
}

static int
by_name(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	if (a->plan != b->plan)
		return a->plan < b->plan ? -1 : 1;
	return strcmp(a->place, b->place);
}

/* Most instructions first; those without code last. */
static int
by_work(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int order = figure_compare(&a->work.ie, &b->work.ie);

	if (a->has_code != b->has_code)
		return a->has_code ? -1 : 1;
	return order ? order : by_name(va, vb);
}

static int
by_calls(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int order = figure_compare(&a->calls, &b->calls);

	if (a->has_calls != b->has_calls)
		return a->has_calls ? -1 : 1;
	return order ? order : by_name(va, vb);
}

static int
by_place(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return by_name(va, vb);
}

static void
entries_sort(struct entries *entries, enum sort_key sort)
{
	int (*const orders[])(const void *, const void *) = {
		[SORT_COUNT] = by_work,
		[SORT_CALLS] = by_calls,
		[SORT_NAME] = by_name,
		[SORT_FILE] = by_place,
	};

	if (entries->n)
		qsort(entries->entries, entries->n, sizeof(*entries->entries),
		      orders[sort]);
}

static void
widths_find(const struct table *table, struct entries *entries)
{
	entries->ie = IE_MIN;
	entries->calls = CALLS_MIN;
	figure_widen(&entries->ie, &entries->all.ie);
	for (size_t i = 0; i < entries->n; i++) {
		const struct entry *entry = &entries->entries[i];

		figure_widen(&entries->ie, &entry->work.ie);
		figure_widen(&entries->calls, &entry->calls);
		text_widen(&entries->place, entry->place,
			   table_widest(table, PLACE_MAX));
		if (table->report_input->nplans > 1)
			text_widen(&entries->object,
				   table_object(table, entry->plan),
				   table_widest(table, OBJECT_MAX));
	}
	text_head(&entries->object, "OBJECT");
	text_head(&entries->place, "DECLARED AT");
}

static struct entries
entries_make(struct table *table, bool ran)
{
	const struct report_input *report_input = table->report_input;
	struct entries entries = { 0 };
	bool **seen = mem_alloc(report_input->nplans * sizeof(*seen));

	for (size_t i = 0; i < report_input->nplans; i++)
		seen[i] = mem_alloc(report_input->plans[i]->image->nfuncs);
	views_add(table, &entries, seen, ran);
	if (ran)
		inlined_add(table, &entries);
	else
		others_add(table, &entries, seen);
	for (size_t i = 0; i < report_input->nplans; i++)
		free(seen[i]);
	free(seen);
	entries_sort(&entries, ran ? SORT_COUNT : table->opts->sort);
	widths_find(table, &entries);
	return entries;
}

static void
entries_free(struct entries *entries)
{
	for (size_t i = 0; i < entries->n; i++) {
		free(entries->entries[i].name);
		free(entries->entries[i].place);
	}
	free(entries->entries);
}

/* All, and those that never ran. */
static void
sizes_write(FILE *out, size_t all, size_t never)
{
	putc(' ', out);
	text_count(out, all, SIZES_WIDTH);
	putc(' ', out);
	text_count(out, never, SIZES_WIDTH);
}

/* ---- by function */

static void
entry_write(const struct table *table, const struct entries *entries,
	    const struct entry *entry, FILE *out)
{
	const char *why = entry->calls.why ? entry->calls.why :
					     entry->work.ie.why;

	if (entry->has_code) {
		figure_write(out, &entry->work.ie, entries->ie);
		putc(' ', out);
	} else {
		fprintf(out, "%*s ", (int)entries->ie, "-");
	}
	if (entry->has_calls)
		figure_write(out, &entry->calls, entries->calls);
	else
		fprintf(out, "%*s", (int)entries->calls, "-");
	if (entry->has_code)
		sizes_write(out, entry->work.i, entry->work.ine);
	else
		fprintf(out, " %*s %*s", SIZES_WIDTH, "-", SIZES_WIDTH, "-");
	fputs("  ", out);
	if (entries->object) {
		text_column(out, table_object(table, entry->plan),
			    entries->object);
		fputs("  ", out);
	}
	if (entries->place) {
		text_column(out, entry->place, entries->place);
		fputs("  ", out);
	}
	text_print(out, entry->name, strlen(entry->name), WIDTH_ALL);
	text_note(out, why);
	putc('\n', out);
}

static void
legend_write(const struct work *all, FILE *out)
{
	fputs("  ", out);
	figure_say(out, &all->ie);
	fputs(" instructions executed; of ", out);
	text_count(out, all->i, 0);
	fputs(" in the code (INSNS), ", out);
	text_count(out, all->ine, 0);
	fputs(" never\n", out);
}

void
funcs_executed_write(struct table *table, FILE *out)
{
	struct entries entries = entries_make(table, false);

	title_write(table, out, "Functions");
	legend_write(&entries.all, out);
	fprintf(out, "\n%*s %*s %*s %*s  ", (int)entries.ie, "EXECUTED",
		(int)entries.calls, "CALLS", SIZES_WIDTH, "INSNS", SIZES_WIDTH,
		"NEVER");
	if (entries.object) {
		text_column(out, "OBJECT", entries.object);
		fputs("  ", out);
	}
	if (entries.place) {
		text_column(out, "DECLARED AT", entries.place);
		fputs("  ", out);
	}
	fputs("FUNCTION\n", out);
	for (size_t i = 0; i < entries.n; i++)
		entry_write(table, &entries, &entries.entries[i], out);
	entries_free(&entries);
}

/* ---- the summary's */

/* "12.3", of all that was executed if that is known; owned by the caller. */
static char *
share_text(const struct entry *entry, const struct work *all)
{
	unsigned tenths;

	if (!figure_ran(&all->ie))
		return mem_strdup("?");
	tenths = (unsigned)((long double)entry->work.ie.n * 1000 / all->ie.n);
	return mem_printf("%u.%u", tenths / 10, tenths % 10);
}

/* Behind the names of inlined functions. */
static const char inlined_mark[] = " (inlined)";

static void
busy_write(const struct table *table, const struct entries *entries,
	   const struct entry *entry, FILE *out)
{
	char *share = share_text(entry, &entries->all);
	size_t used = entries->ie + entries->calls + 22;

	figure_write(out, &entry->work.ie, entries->ie);
	fprintf(out, " %5s ", share);
	if (entry->has_calls)
		figure_write(out, &entry->calls, entries->calls);
	else
		fprintf(out, "%*s", (int)entries->calls, "-");
	if (entry->has_calls && figure_ran(&entry->calls))
		text_count(out, entry->work.ie.n / entry->calls.n, EACH_WIDTH);
	else
		fprintf(out, "%*s", EACH_WIDTH, "-");
	fputs("  ", out);
	if (entries->object) {
		text_column(out, table_object(table, entry->plan),
			    entries->object);
		fputs("  ", out);
		used += entries->object + 2;
	}
	if (entry->inlined)
		used += strlen(inlined_mark);
	name_fit(out, entry->name, table->columns, used);
	fprintf(out, "%s\n", entry->inlined ? inlined_mark : "");
	free(share);
}

bool
funcs_busiest_write(struct table *table, FILE *out)
{
	struct entries entries = entries_make(table, true);
	size_t n = entries.n < table->opts->top ? entries.n : table->opts->top;

	if (n) {
		text_section(out, "Functions that executed most instructions");
		fprintf(out, "%*s %5s %*s%*s  %-*s%sFUNCTION\n",
			(int)entries.ie, "EXECUTED", "%", (int)entries.calls,
			"CALLS", EACH_WIDTH, "EACH", (int)entries.object,
			entries.object ? "OBJECT" : "",
			entries.object ? "  " : "");
	}
	for (size_t i = 0; i < n; i++)
		busy_write(table, &entries, &entries.entries[i], out);
	entries_free(&entries);
	return n;
}

/* ---- by file */

struct file_widths {
	size_t ie, bbe;
};

static void
file_write(const struct work *work, const struct file_widths *widths,
	   const char *name, FILE *out)
{
	if (!work->i && !work->bb)
		return;
	figure_write(out, &work->ie, widths->ie);
	sizes_write(out, work->i, work->ine);
	putc(' ', out);
	figure_write(out, &work->bbe, widths->bbe);
	sizes_write(out, work->bb, work->bbne);
	fputs("  ", out);
	text_print(out, name, strlen(name), WIDTH_ALL);
	putc('\n', out);
}

static int
by_rank(const void *va, const void *vb, void *ctx)
{
	const struct work *works = ctx;
	size_t a = *(const size_t *)va, b = *(const size_t *)vb;
	int order = figure_compare(&works[a].ie, &works[b].ie);

	return order ? order : a < b ? -1 : a > b;
}

static void
files_reasons_write(struct table *table, FILE *out)
{
	struct reasons reasons = { 0 };
	struct totals totals = { 0 };
	struct view *view = NULL;

	while ((view = view_next(table, view, VIEW_INSNS)))
		view_totals(view, UNIT_INSN, &totals, &reasons);
	reasons_write(&reasons, out);
}

void
files_write(struct table *table, FILE *out)
{
	struct work rest, all, left = { 0 }, excluded = { 0 }, *works;
	struct file_widths widths = { IE_MIN, IE_MIN };
	size_t *order = mem_alloc(table->nfiles * sizeof(*order));

	title_write(table, out, "Files");
	if (!units_present(table, out, UNIT_INSN)) {
		free(order);
		return;
	}
	works = work_by_file(table, &rest);
	all = rest;
	for (size_t i = 0; i < table->nfiles; i++) {
		order[i] = i;
		work_add(&all, &works[i]);
	}
	figure_widen(&widths.ie, &all.ie);
	figure_widen(&widths.bbe, &all.bbe);
	/* Files are in the order of their names. */
	if (table->nfiles && table->opts->sort < SORT_NAME)
		qsort_r(order, table->nfiles, sizeof(*order), by_rank, works);
	legend_write(&all, out);
	fputs("  ENTERED: blocks entered; BLOCKS: in the code\n", out);
	fprintf(out, "\n%*s %*s %*s %*s %*s %*s  FILE\n", (int)widths.ie,
		"EXECUTED", SIZES_WIDTH, "INSNS", SIZES_WIDTH, "NEVER",
		(int)widths.bbe, "ENTERED", SIZES_WIDTH, "BLOCKS", SIZES_WIDTH,
		"NEVER");
	for (size_t i = 0; i < table->nfiles; i++)
		if (table->files[order[i]].excluded)
			work_add(&excluded, &works[order[i]]);
		else if (foreign_left(table, order[i]))
			work_add(&left, &works[order[i]]);
		else
			file_write(&works[order[i]], &widths,
				   table->files[order[i]].shown, out);
	if (left.i)
		file_write(&left, &widths, "(system files: --system-headers)",
			   out);
	if (excluded.i)
		file_write(&excluded, &widths, "(files of --exclude-path)",
			   out);
	file_write(&rest, &widths, "(of no file)", out);
	file_write(&all, &widths, "(all)", out);
	files_reasons_write(table, out);
	free(works);
	free(order);
}
