/*
 * Which reports are made and where they go.
 */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/target.h"
#include "report/text.h"
#include "util/fail.h"
#include "util/mem.h"

static const struct {
	const char *name, *sub;
	enum report_kind kind;
} kinds[] = {
	{ "summary", NULL, REPORT_SUMMARY },
	{ "listing", NULL, REPORT_LISTING },
	{ "hist", "full", REPORT_HIST },
	{ "hist", "scaled", REPORT_HIST_SCALED },
	{ "hist", "log", REPORT_HIST_LOG },
	{ "hist", NULL, REPORT_HIST },
	{ "funcs", NULL, REPORT_FUNCS },
	{ "inlines", NULL, REPORT_INLINES },
	{ "uncovered", NULL, REPORT_UNCOVERED },
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Whether the first part of s, which ends in ':' or at `end`, is `name`. */
static bool
part_is(const char *s, const char *end, const char *name)
{
	size_t len = strlen(name);

	return (size_t)(end - s) >= len && strncmp(s, name, len) == 0 &&
	       (s + len == end || s[len] == ':');
}

/* One KIND[:SUB][:FILE], from s up to end. */
static int
want_parse(struct report_options *opts, const char *s, const char *end)
{
	const char *rest;
	size_t i;

	for (i = 0; i < NKINDS; i++) {
		if (!part_is(s, end, kinds[i].name))
			continue;
		rest = s + strlen(kinds[i].name);
		if (!kinds[i].sub)
			break;
		if (rest < end && part_is(rest + 1, end, kinds[i].sub)) {
			rest += 1 + strlen(kinds[i].sub);
			break;
		}
	}
	if (i == NKINDS)
		return fail("--report: \"%.*s\" is none of summary, listing, "
			    "hist, hist:scaled, hist:log, funcs, inlines, "
			    "uncovered", (int)strcspn(s, ":,"), s);
	if (rest + 1 == end)
		return fail("--report: \"%.*s\" lacks the name of a file",
			    (int)(end - s), s);
	*vec_push(opts->wants, opts->nwants) = (struct report_want){
		.kind = kinds[i].kind,
		.path = rest == end ? NULL :
			mem_strndup(rest + 1, (size_t)(end - rest - 1)),
	};
	return 0;
}

int
report_parse(struct report_options *opts, const char *arg)
{
	for (;;) {
		const char *end = arg + strcspn(arg, ",");

		if (want_parse(opts, arg, end) < 0)
			return -1;
		if (!*end)
			return 0;
		arg = end + 1;
	}
}

void
report_options_free(struct report_options *opts)
{
	size_t i;

	for (i = 0; i < opts->nwants; i++)
		free(opts->wants[i].path);
	free(opts->wants);
	free(opts->source_paths);
	*opts = (struct report_options){ 0 };
}

int
report_targets_check(const struct report_options *opts)
{
	size_t i;

	for (i = 0; i < opts->nwants; i++)
		if (opts->wants[i].path &&
		    target_check(opts->wants[i].path) < 0)
			return -1;
	return 0;
}

static void
want_write(enum report_kind kind, struct table *table, FILE *out)
{
	switch (kind) {
	case REPORT_SUMMARY:
		summary_write(table, out);
		break;
	case REPORT_LISTING:
		listing_write(table, out);
		break;
	case REPORT_HIST:
	case REPORT_HIST_SCALED:
	case REPORT_HIST_LOG:
		hist_write(table, out, kind);
		break;
	case REPORT_FUNCS:
		funcs_write(table, out);
		break;
	case REPORT_INLINES:
		inlines_write(table, out);
		break;
	case REPORT_UNCOVERED:
		uncovered_write(table, out);
		break;
	}
}

static bool
same_target(const struct report_want *a, const struct report_want *b)
{
	if (!a->path || !b->path)
		return a->path == b->path;
	return strcmp(a->path, b->path) == 0;
}

/* The reports from `first` on that go where it goes, a blank line between. */
static void
wants_write(const struct report_options *opts, size_t first,
	    struct table *table, FILE *out)
{
	size_t i;

	for (i = first; i < opts->nwants; i++) {
		if (!same_target(&opts->wants[i], &opts->wants[first]))
			continue;
		if (i > first)
			putc('\n', out);
		want_write(opts->wants[i].kind, table, out);
	}
}

static int
stream_check(FILE *out)
{
	bool bad = ferror(out) != 0;

	errno = 0;
	if (fflush(out) != 0)
		bad = true;
	if (bad)
		return fail("cannot write the report: %s",
			    strerror(errno ? errno : EIO));
	return 0;
}

static int
target_write(const struct report_options *opts, size_t first,
	     struct table *table)
{
	struct target *target = target_open(opts->wants[first].path);

	if (!target)
		return -1;
	wants_write(opts, first, table, target->out);
	return target_close(target);
}

/* A target that fails does not keep the others from being written. */
static int
targets_write(const struct report_options *opts, struct table *table,
	      FILE *out)
{
	char *message = NULL;
	size_t i, j;
	int result = 0;

	for (i = 0; i < opts->nwants; i++) {
		for (j = 0; j < i; j++)
			if (same_target(&opts->wants[i], &opts->wants[j]))
				break;
		if (j < i)
			continue;
		if (!opts->wants[i].path) {
			wants_write(opts, i, table, out);
			result = stream_check(out);
		} else {
			result = target_write(opts, i, table);
		}
		if (result < 0 && !message)
			message = mem_strdup(fail_message());
	}
	if (message)
		result = fail("%s", message);
	free(message);
	return result;
}

int
report_write(const struct report_options *opts, const struct tally *tally,
	     FILE *out)
{
	struct table *table = table_make(opts, tally);
	int result;

	if (opts->nwants) {
		result = targets_write(opts, table, out);
	} else {
		summary_write(table, out);
		result = stream_check(out);
	}
	table_free(table);
	return result;
}
