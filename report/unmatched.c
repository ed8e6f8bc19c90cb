/*
 * Explains why nothing was counted though the user has chosen what to count:
 * names the pattern that matches nothing, and the name that is nearest to it.
 * Never prints.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "util/demangle.h"
#include "util/fail.h"
#include "util/mem.h"

enum { NAME_MAX_LEN = 64 };

/* The name that is nearest to the wanted one, so far. */
struct nearest {
	const char *wanted;
	char *name;		/* or NULL */
	size_t distance;
};

/*
 * How many letters must be added, removed or changed to make b of a: Wagner and
 * Fischer's algorithm, a row at a time.  The names are no longer than
 * NAME_MAX_LEN.
 */
static size_t
distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], n = strlen(b);

	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0]++;

		for (size_t k = 0; k < n; k++) {
			size_t change = diagonal + (a[i] != b[k]);
			size_t least = row[k] < row[k + 1] ? row[k] :
							     row[k + 1];

			diagonal = row[k + 1];
			row[k + 1] = least + 1 < change ? least + 1 : change;
		}
	}
	return row[n];
}

/* Compare with `name`, to suggest `shown`. */
static void
name_try(struct nearest *nearest, const char *name, const char *shown)
{
	size_t away;

	if (!*name || strlen(name) > NAME_MAX_LEN)
		return;
	away = distance(nearest->wanted, name);
	if (away >= nearest->distance)
		return;
	nearest->distance = away;
	free(nearest->name);
	nearest->name = mem_strdup(shown);
}

/*
 * A function's name, and what is left of it without a template's arguments and
 * without namespaces, as one may type it.
 */
static void
func_try(struct nearest *nearest, const char *name)
{
	char *bare = demangle_bare(name), *rest, *last;

	if (!bare) {
		name_try(nearest, name, name);
		return;
	}
	rest = mem_strndup(bare, strcspn(bare, "<"));
	last = strrchr(rest, ':');
	name_try(nearest, bare, bare);
	name_try(nearest, last ? last + 1 : rest, bare);
	free(rest);
	free(bare);
}

/* The pattern that chooses, if it is the only one of its option; or NULL. */
static const struct glob *
glob_only(const struct globs *globs)
{
	return globs->n == 1 && !globs->globs[0].negated ? &globs->globs[0] :
							   NULL;
}

/* Name the pattern of the option, and which of the n names is nearest to it. */
static int
unmatched(const char *option, const struct glob *glob, const char *const *names,
	  size_t n)
{
	struct nearest nearest = { .wanted = glob->pattern };
	bool plain = !glob->pattern[strcspn(glob->pattern, "*?[\\")];

	/* A half of its letters may differ. */
	nearest.distance = strlen(glob->pattern) / 2 + 1;
	if (plain && strlen(glob->pattern) <= NAME_MAX_LEN)
		for (size_t i = 0; i < n; i++)
			func_try(&nearest, names[i]);
	if (nearest.name)
		fail("%s: nothing matches \"%s\"; the nearest name is \"%s\"",
		     option, glob->pattern, nearest.name);
	else
		fail("%s: nothing matches \"%s\"", option, glob->pattern);
	free(nearest.name);
	return -1;
}

static bool
plan_chosen(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].units)
			return true;
	return false;
}

int
names_unmatched(const struct selection *sel, const struct names *names)
{
	const struct glob *func = glob_only(&sel->funcs);
	const struct glob *file = glob_only(&sel->files);
	const struct glob *line = glob_only(&sel->lines);
	const struct glob *object = glob_only(&sel->objects);

	if (object && !names->objects)
		return unmatched("--object", object, NULL, 0);
	if (func && !sel->files.n && !sel->lines.n)
		return unmatched("--func", func, names->funcs, names->nfuncs);
	if (file && !sel->funcs.n && !sel->lines.n)
		return unmatched("--file", file, names->files, names->nfiles);
	if (line && !sel->funcs.n && !sel->files.n)
		return unmatched("--line", line, names->files, names->nfiles);
	return fail("nothing matches --func, --file, --line and --object "
		    "together");
}

static void
image_names(const struct image *image, struct names *names)
{
	for (size_t i = 0; i < image->nfuncs; i++)
		*vec_push(names->funcs, names->nfuncs) = image->funcs[i].name;
	for (size_t i = 0; i < image->nfiles; i++)
		*vec_push(names->files,
			  names->nfiles) = basename(image->files[i]);
}

int
report_matched(const struct report_input *report_input,
	       const struct selection *sel)
{
	struct names names = { .objects = report_input->nplans };

	if (!sel->funcs.n && !sel->files.n && !sel->lines.n && !sel->objects.n)
		return 0;
	for (size_t i = 0; i < report_input->nplans; i++)
		if (plan_chosen(report_input->plans[i]))
			return 0;
	for (size_t i = 0; i < report_input->nplans; i++)
		image_names(report_input->plans[i]->image, &names);
	names_unmatched(sel, &names);
	free(names.funcs);
	free(names.files);
	return -1;
}
