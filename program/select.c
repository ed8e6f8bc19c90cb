/*
 * The selection: parses its options' arguments and tells whether a function,
 * file, line or object is chosen.  Never looks at an image.
 */
#include "program/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/demangle.h"
#include "util/fail.h"
#include "util/mem.h"

static const char *const unit_names[UNIT_KINDS] = {
	[UNIT_FUNC] = "func",	[UNIT_LINE] = "line", [UNIT_INLINE] = "inline",
	[UNIT_BLOCK] = "block", [UNIT_EDGE] = "edge", [UNIT_INSN] = "insn",
	[UNIT_CALL] = "call",
};

static int
unit_parse(const char *name, size_t len)
{
	int i;

	for (i = 0; i < UNIT_KINDS; i++)
		if (strlen(unit_names[i]) == len &&
		    strncmp(unit_names[i], name, len) == 0)
			return i;
	return fail("--units: \"%.*s\" is not one of func, line, inline, "
		    "block, edge, insn and call",
		    (int)len, name);
}

int
select_units(struct selection *sel, const char *arg)
{
	for (;;) {
		size_t len = strcspn(arg, ",");
		int unit = unit_parse(arg, len);

		if (unit < 0)
			return -1;
		sel->units |= 1U << unit;
		if (!arg[len])
			return 0;
		arg += len + 1;
	}
}

unsigned
select_units_default(const struct selection *sel)
{
	return 1U << UNIT_LINE | (sel->lines.n ? 0 : 1U << UNIT_FUNC);
}

static struct glob *
glob_add(struct globs *globs, const char *arg, size_t len)
{
	struct glob *glob = vec_push(globs->globs, globs->n);

	*glob = (struct glob){ .hi = UINT32_MAX };
	if (len && arg[0] == '!') {
		glob->negated = true;
		arg++;
		len--;
	}
	glob->pattern = mem_strndup(arg, len);
	return glob;
}

void
select_glob(struct globs *globs, const char *arg)
{
	glob_add(globs, arg, strlen(arg));
}

/* Parse a line number at *s and move *s behind it; 0 if there is none. */
static uint32_t
number_parse(const char **s)
{
	char *end;
	unsigned long n;

	if (**s < '0' || **s > '9')
		return 0;
	errno = 0;
	n = strtoul(*s, &end, 10);
	*s = end;
	return errno || n > UINT32_MAX ? 0 : (uint32_t)n;
}

int
select_line(struct selection *sel, const char *arg)
{
	const char *colon = strrchr(arg, ':'), *s;
	struct glob *glob;
	uint32_t lo = 0, hi = 0;

	if (colon && colon > arg) {
		s = colon + 1;
		hi = lo = number_parse(&s);
		if (lo && *s == '-') {
			s++;
			hi = number_parse(&s);
		}
		if (*s)
			hi = 0;
	}
	if (!lo || !hi)
		return fail("--line: \"%s\" is not FILE:LINE or FILE:LO-HI",
			    arg);
	if (lo > hi)
		return fail("--line: \"%s\": the range ends before it begins",
			    arg);
	glob = glob_add(&sel->lines, arg, (size_t)(colon - arg));
	glob->lo = lo;
	glob->hi = hi;
	return 0;
}

static void
globs_free(struct globs *globs)
{
	size_t i;

	for (i = 0; i < globs->n; i++)
		free(globs->globs[i].pattern);
	free(globs->globs);
}

void
select_free(struct selection *sel)
{
	globs_free(&sel->funcs);
	globs_free(&sel->files);
	globs_free(&sel->lines);
	globs_free(&sel->objects);
	*sel = (struct selection){ 0 };
}

/* A name such as operator[] matches as it is, too. */
static bool
pattern_matches(const char *pattern, const char *s)
{
	return strcmp(pattern, s) == 0 || fnmatch(pattern, s, 0) == 0;
}

bool
select_path(const char *pattern, const char *path)
{
	const char *slash;

	if (strncmp(pattern, "./", 2) == 0)
		pattern += 2;
	while (!pattern_matches(pattern, path)) {
		slash = strchr(path, '/');
		if (!slash)
			return false;
		path = slash + 1;
	}
	return true;
}

/*
 * Whether the globs choose `what`, by the rule in select.h; `matches` tells
 * whether one glob matches.
 */
static bool
globs_choose(const struct globs *globs,
	     bool (*matches)(const struct glob *glob, const void *what),
	     const void *what)
{
	bool positive = false, chosen = false;
	size_t i;

	for (i = 0; i < globs->n; i++) {
		const struct glob *glob = &globs->globs[i];
		bool match = (glob->negated || !chosen) && matches(glob, what);

		if (match && glob->negated)
			return false;
		positive |= !glob->negated;
		chosen |= match;
	}
	return chosen || !positive;
}

/* All names of a function, owned. */
struct names {
	char **names;
	size_t n;
};

static void
names_add(struct names *names, const char *name)
{
	char *text;

	*vec_push(names->names, names->n) = mem_strdup(name);
	text = demangle(name);
	if (text)
		*vec_push(names->names, names->n) = text;
	text = demangle_bare(name);
	if (text)
		*vec_push(names->names, names->n) = text;
}

static bool
glob_matches_names(const struct glob *glob, const void *what)
{
	const struct names *names = what;
	size_t i;

	for (i = 0; i < names->n; i++)
		if (pattern_matches(glob->pattern, names->names[i]))
			return true;
	return false;
}

bool
select_func(const struct selection *sel, const char *name,
	    const char *const *aliases, size_t naliases)
{
	struct names names = { 0 };
	bool chosen;
	size_t i;

	if (!sel->funcs.n)
		return true;
	if (name)
		names_add(&names, name);
	for (i = 0; i < naliases; i++)
		names_add(&names, aliases[i]);
	chosen = globs_choose(&sel->funcs, glob_matches_names, &names);
	for (i = 0; i < names.n; i++)
		free(names.names[i]);
	free(names.names);
	return chosen;
}

static bool
glob_matches_path(const struct glob *glob, const void *what)
{
	return what && select_path(glob->pattern, what);
}

bool
select_file(const struct selection *sel, const char *path)
{
	return globs_choose(&sel->files, glob_matches_path, path);
}

struct place {
	const char *path;
	uint32_t line;
};

static bool
glob_matches_place(const struct glob *glob, const void *what)
{
	const struct place *place = what;

	return glob->lo <= place->line && place->line <= glob->hi &&
	       glob_matches_path(glob, place->path);
}

bool
select_file_line(const struct selection *sel, const char *path, uint32_t line)
{
	const struct place place = { .path = path, .line = line };

	return select_file(sel, path) &&
	       globs_choose(&sel->lines, glob_matches_place, &place);
}

/* A negated range excludes only some lines of its file. */
static bool
glob_may_match(const struct glob *glob, const void *what)
{
	return !glob->negated && glob_matches_path(glob, what);
}

bool
select_file_some(const struct selection *sel, const char *path)
{
	return select_file(sel, path) &&
	       globs_choose(&sel->lines, glob_may_match, path);
}

bool
select_object(const struct selection *sel, const char *path, bool main_object)
{
	if (!sel->objects.n)
		return main_object;
	return globs_choose(&sel->objects, glob_matches_path, path);
}
