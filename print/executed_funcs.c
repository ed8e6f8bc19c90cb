/*
 * Prints the list of functions, those that executed most first.  Opens no
 * programs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/pages.h"
#include "probe/counts.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, OBJECT_MAX = 20 };

struct func_row {
	const struct profile_object *object;
	const struct profile_func *func;
	struct count calls;
	uint64_t insns;
	bool insns_known;
};

const char *
object_name(const struct profile_object *object)
{
	const char *slash = strrchr(object->path, '/');

	return slash ? slash + 1 : object->path;
}

/* By instructions, then by calls, both descending; unknown counts come last. */
static int
by_work(const void *va, const void *vb)
{
	const struct func_row *a = va, *b = vb;
	int order;

	if (a->insns_known && b->insns_known && a->insns != b->insns)
		return a->insns > b->insns ? -1 : 1;
	if (a->insns_known != b->insns_known &&
	    (a->insns_known ? a->insns : b->insns))
		return a->insns_known ? -1 : 1;
	if (!a->calls.state != !b->calls.state)
		return a->calls.state ? -1 : 1;
	if (a->calls.n != b->calls.n)
		return a->calls.n > b->calls.n ? -1 : 1;
	order = strcmp(a->func->name, b->func->name);
	if (order)
		return order;
	return a->func < b->func ? -1 : a->func > b->func;
}

static bool
object_chosen(const struct options *opts, const struct profile_object *object)
{
	const struct selection *sel = &opts->selection;

	return !sel->objects.n || select_object(sel, object->path, false);
}

bool
func_chosen(const struct options *opts, const struct profile_object *object,
	    const struct profile_func *func)
{
	return object_chosen(opts, object) &&
	       select_func(&opts->selection, func->name, NULL, 0);
}

int
funcs_matched(const struct options *opts, const struct profile *profile)
{
	const struct selection *sel = &opts->selection;
	struct names names = { 0 };
	bool any = !sel->funcs.n && !sel->objects.n;

	for (size_t i = 0; i < profile->nobjects && !any; i++) {
		const struct profile_object *object = &profile->objects[i];

		if (!object->units || !object_chosen(opts, object))
			continue;
		names.objects++;
		for (size_t k = 0; k < object->nfuncs && !any; k++) {
			const struct profile_func *func = &object->funcs[k];

			any = func_chosen(opts, object, func);
			*vec_push(names.funcs, names.nfuncs) = func->name;
		}
	}
	if (!any)
		names_unmatched(sel, &names);
	free(names.funcs);
	return any ? 0 : -1;
}

static struct func_row *
rows_make(const struct options *opts, const struct profile *profile, size_t *n)
{
	struct func_row *rows = NULL;

	*n = 0;
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct profile_object *object = &profile->objects[i];

		for (size_t k = 0; k < object->nfuncs; k++) {
			struct func_row *row;

			if (!func_chosen(opts, object, &object->funcs[k]))
				continue;
			row = vec_push(rows, *n);
			*row = (struct func_row){ object, &object->funcs[k] };
			row->calls = profile_calls(row->func);
			row->insns = profile_executed(row->func,
						      &row->insns_known);
		}
	}
	if (rows)
		qsort(rows, *n, sizeof(*rows), by_work);
	return rows;
}

static bool
row_ran(const struct func_row *row)
{
	return row->calls.n || (row->insns_known && row->insns);
}

static void
number_print(FILE *out, uint64_t n, bool known, size_t width)
{
	if (known)
		text_count(out, n, width);
	else
		fprintf(out, "%*s", (int)width, "?");
	fputs("  ", out);
}

static const char *
row_why(const struct func_row *row)
{
	if (row->func->why)
		return row->func->why;
	return count_why(&row->calls);
}

static void
row_print(const struct options *opts, const struct func_row *row, FILE *out,
	  const size_t *width, bool all)
{
	size_t used = width[0] + width[1] + 4, columns = opts->columns;
	char *name = name_shown(row->func->name, opts->report.demangle), *shown;

	number_print(out, row->insns, row->insns_known, width[0]);
	number_print(out, row->calls.n, row->calls.state != COUNT_UNKNOWN,
		     width[1]);
	if (width[2]) {
		text_column(out, object_name(row->object), width[2]);
		fputs("  ", out);
		used += width[2] + 2;
	}
	if (!*name) {
		free(name);
		name = mem_printf("%#" PRIx64, row->func->addr);
	}
	shown = name_shorten(name, all || used > columns ? WIDTH_ALL :
							   columns - used);
	text_print(out, shown, strlen(shown), WIDTH_ALL);
	text_note(out, row_why(row));
	putc('\n', out);
	free(shown);
	free(name);
}

/* Keep the first rows that ran, at most max of them: how many. */
static size_t
rows_keep(struct func_row *rows, size_t n, size_t max)
{
	size_t kept = 0;

	for (size_t i = 0; i < n && kept < max && row_ran(&rows[i]); i++)
		if (!name_added(rows[i].func->name))
			rows[kept++] = rows[i];
	return kept;
}

void
func_rows_print(const struct options *opts, const struct profile *profile,
		FILE *out, size_t max, bool all)
{
	size_t n, width[3] = { COUNT_MIN, COUNT_MIN, 0 }, counted = 0;
	struct func_row *rows = rows_make(opts, profile, &n);

	for (size_t i = 0; i < profile->nobjects; i++)
		counted += profile->objects[i].units != 0;
	if (!all)
		n = rows_keep(rows, n, max);
	for (size_t i = 0; i < n; i++) {
		const char *object = object_name(rows[i].object);
		size_t wide[3] = {
			text_digits(rows[i].insns),
			text_digits(rows[i].calls.n),
			counted > 1 ? text_width(object, strlen(object)) : 0,
		};

		if (wide[2] > OBJECT_MAX)
			wide[2] = OBJECT_MAX;
		for (size_t k = 0; k < 3; k++)
			if (wide[k] > width[k])
				width[k] = wide[k];
	}
	if (n) {
		fprintf(out, "%*s  %*s  ", (int)width[0], "EXECUTED",
			(int)width[1], "CALLS");
		if (width[2])
			fprintf(out, "%-*s  ", (int)width[2], "OBJECT");
		fputs("FUNCTION\n", out);
	}
	for (size_t i = 0; i < n; i++)
		row_print(opts, &rows[i], out, width, all);
	free(rows);
}

void
executed_print(const struct options *opts, const struct profile *profile,
	       FILE *out)
{
	fputs("Functions: instructions executed, calls\n\n", out);
	func_rows_print(opts, profile, out, SIZE_MAX, true);
}
