/*
 * Prints functions with a column for each group of files, such as those of one
 * machine: --by.  Holds the profile of one group at a time.  Opens no programs.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/columns.h"
#include "print/pages.h"
#include "report/figure.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/build_id.h"
#include "util/fail.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, OBJECT_MAX = 20 };

/* The files of one label. */
struct group {
	char *label;
	char **files;		/* lent */
	size_t nfiles;
};

/* A function, and what it executed in each group. */
struct table_row {
	char *object, *name, *id;	/* id: of the object's build */
	uint64_t addr;
	size_t group;		/* until rows are joined */
	struct figure sum, *cells;	/* per group */
};

struct columns {
	struct group *groups;
	size_t ngroups;
	struct table_row *rows;
	size_t nrows;
	uint64_t *runs;		/* their ids */
	size_t nruns;
};

/* ---- labels */

/* What the first '*' of the glob stands for, from `name` on; or NULL. */
static char *
label_at(const char *glob, const char *name)
{
	size_t head = strcspn(glob, "*");

	if (strncmp(glob, name, head))
		return NULL;
	name += head;
	for (size_t n = 1; n <= strcspn(name, "/"); n++)
		if (!fnmatch(glob + head + 1, name + n, 0))
			return mem_strndup(name, n);
	return NULL;
}

char *
column_label(const char *glob, const char *path)
{
	char *label = label_at(glob, path);

	for (const char *s = strchr(path, '/'); s && !label;
	     s = strchr(s + 1, '/'))
		label = label_at(glob, s + 1);
	return label;
}

static int
file_group(struct columns *columns, const struct options *opts, char *path)
{
	char *label = column_label(opts->by, path);
	size_t i = 0;

	if (!label)
		return fail("%s: does not match --by=%s", path, opts->by);
	while (i < columns->ngroups && strcmp(columns->groups[i].label, label))
		i++;
	if (i == columns->ngroups)
		*vec_push(columns->groups,
			  columns->ngroups) = (struct group){ .label = label };
	else
		free(label);
	*vec_push(columns->groups[i].files, columns->groups[i].nfiles) = path;
	return 0;
}

/* As people count: node2 before node10. */
static int
by_label(const void *va, const void *vb)
{
	const struct group *a = va, *b = vb;

	return strverscmp(a->label, b->label);
}

/* ---- rows */

static int
by_id(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

/* Groups are merged apart, so none has seen that another has its run. */
static int
runs_check(struct columns *columns)
{
	if (columns->nruns)
		qsort(columns->runs, columns->nruns, sizeof(*columns->runs),
		      by_id);
	for (size_t i = 1; i < columns->nruns; i++)
		if (columns->runs[i - 1] == columns->runs[i])
			return fail("--by: a run is in files of two columns");
	return 0;
}

static void
group_take(struct columns *columns, const struct options *opts, size_t group,
	   const struct profile *profile)
{
	for (size_t i = 0; i < profile->nruns; i++)
		*vec_push(columns->runs, columns->nruns) = profile->runs[i].id;
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct profile_object *object = &profile->objects[i];

		for (size_t k = 0; object->units && k < object->nfuncs; k++) {
			const struct profile_func *func = &object->funcs[k];
			bool known;
			uint64_t n = profile_executed(func, &known);

			if (!func_chosen(opts, object, func) || (known && !n))
				continue;
			*vec_push(columns->rows,
				  columns->nrows) = (struct table_row){
				.object = mem_strdup(object_name(object)),
				.id = build_id_text(object->build_id,
						    object->build_id_len),
				.name = name_shown(func->name,
						   opts->report.demangle),
				.addr = func->addr,
				.group = group,
				.sum = { n, known ? NULL : "" },
			};
		}
	}
}

static int
by_func(const void *va, const void *vb)
{
	const struct table_row *a = va, *b = vb;
	int order = strcmp(a->object, b->object);

	if (!order)
		order = strcmp(a->id, b->id);
	if (!order)
		order = a->addr < b->addr ? -1 : a->addr > b->addr;
	return order ? order : strcmp(a->name, b->name);
}

static int
by_sum(const void *va, const void *vb)
{
	const struct table_row *a = va, *b = vb;
	int order = figure_compare(&a->sum, &b->sum);

	return order ? order : by_func(va, vb);
}

static void
row_free(struct table_row *row)
{
	free(row->object);
	free(row->name);
	free(row->id);
	free(row->cells);
}

/* Make one row of those of each function; the most executed first. */
static void
rows_join(struct columns *columns)
{
	size_t n = 0;

	if (columns->nrows)
		qsort(columns->rows, columns->nrows, sizeof(*columns->rows),
		      by_func);
	for (size_t i = 0; i < columns->nrows; i++) {
		struct table_row *row = &columns->rows[i];
		struct table_row *last = n ? &columns->rows[n - 1] : NULL;

		if (last && !by_func(last, row)) {
			last->cells[row->group] = row->sum;
			figure_add(&last->sum, &row->sum);
			row_free(row);
			continue;
		}
		row->cells = mem_alloc(columns->ngroups * sizeof(*row->cells));
		row->cells[row->group] = row->sum;
		columns->rows[n++] = *row;
	}
	columns->nrows = n;
	if (n)
		qsort(columns->rows, n, sizeof(*columns->rows), by_sum);
}

/* ---- the table */

/* The columns that the figures of a group, or with ngroups the sums, need. */
static size_t
column_width(const struct columns *columns, size_t group)
{
	bool sums = group == columns->ngroups;
	const char *label = sums ? "" : columns->groups[group].label;
	size_t width = text_width(label, strlen(label));

	if (width < COUNT_MIN)
		width = COUNT_MIN;
	for (size_t i = 0; i < columns->nrows; i++) {
		const struct table_row *row = &columns->rows[i];

		figure_widen(&width, sums ? &row->sum : &row->cells[group]);
	}
	return width;
}

static void
columns_write(const struct columns *columns, FILE *out)
{
	size_t n = columns->ngroups, object = 0;
	size_t *widths = mem_alloc((n + 1) * sizeof(*widths));

	for (size_t i = 0; i <= n; i++)
		widths[i] = column_width(columns, i);
	for (size_t i = 0; i < columns->nrows; i++)
		text_widen(&object, columns->rows[i].object, OBJECT_MAX);
	fprintf(out, "Functions: instructions executed\n\n%*s  ",
		(int)widths[n], "ALL");
	for (size_t i = 0; i < n; i++) {
		const char *label = columns->groups[i].label;

		for (size_t w = text_width(label, strlen(label)); w < widths[i];
		     w++)
			putc(' ', out);
		text_print(out, label, strlen(label), WIDTH_ALL);
		fputs("  ", out);
	}
	text_head(&object, "OBJECT");
	text_column(out, "OBJECT", object);
	fputs("  FUNCTION\n", out);
	for (size_t i = 0; i < columns->nrows; i++) {
		const struct table_row *row = &columns->rows[i];

		figure_write(out, &row->sum, widths[n]);
		fputs("  ", out);
		for (size_t k = 0; k < n; k++) {
			figure_write(out, &row->cells[k], widths[k]);
			fputs("  ", out);
		}
		text_column(out, row->object, object);
		fputs("  ", out);
		if (*row->name)
			text_print(out, row->name, strlen(row->name),
				   WIDTH_ALL);
		else
			fprintf(out, "%#" PRIx64, row->addr);
		putc('\n', out);
	}
	free(widths);
}

static void
columns_free(struct columns *columns)
{
	for (size_t i = 0; i < columns->nrows; i++)
		row_free(&columns->rows[i]);
	for (size_t i = 0; i < columns->ngroups; i++) {
		free(columns->groups[i].label);
		free(columns->groups[i].files);
	}
	free(columns->rows);
	free(columns->runs);
	free(columns->groups);
}

int
columns_print(const struct options *opts, const struct merge *merge, FILE *out)
{
	struct columns columns = { 0 };
	int err = 0;

	for (size_t i = 0; i < merge->n && !err; i++)
		err = file_group(&columns, opts, merge->files[i]);
	if (!err)
		qsort(columns.groups, columns.ngroups, sizeof(*columns.groups),
		      by_label);
	for (size_t i = 0; i < columns.ngroups && !err; i++) {
		struct merge part = *merge;
		struct profile *profile;

		part.files = columns.groups[i].files;
		part.n = columns.groups[i].nfiles;
		profile = files_merge(&part);
		err = profile ? 0 : -1;
		if (profile) {
			profile_join_parts(profile);
			group_take(&columns, opts, i, profile);
		}
		profile_free(profile);
	}
	if (!err)
		err = runs_check(&columns);
	if (!err && !columns.nrows)
		err = fail("--by: nothing was executed in the functions that "
			   "--func and --object choose");
	rows_join(&columns);
	if (!err)
		columns_write(&columns, out);
	columns_free(&columns);
	return err;
}
