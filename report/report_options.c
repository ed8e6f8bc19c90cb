/*
 * The command-line options of reports, which pmon and pmprint share: turns
 * their arguments into struct report_options.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/event_limits.h"
#include "report/printable.h"
#include "report/report.h"
#include "util/fail.h"
#include "util/mem.h"

enum { PERCENT_ALL = 100000 };	/* in 1/1000 */

const struct report_options report_usual = {
	.top = 20,
	.demangle = true,
};

static int
set_report(void *into, const char *arg)
{
	struct report_options *opts = into;

	return report_parse(opts, arg);
}

static int
set_top(void *into, const char *arg)
{
	struct report_options *opts = into;
	unsigned long top;

	if (option_number("--top", arg, 1, INT_MAX, &top))
		return -1;
	opts->top = top;
	return 0;
}

static int
set_color(void *into, const char *arg)
{
	static const struct option_word words[] = {
		{ "auto", WHEN_AUTO },
		{ "always", WHEN_ALWAYS },
		{ "never", WHEN_NEVER },
	};
	struct report_options *opts = into;
	int found = option_word("--color", arg, words, 3);

	opts->color = (enum when)found;
	return found < 0 ? -1 : 0;
}

static int
set_sort(void *into, const char *arg)
{
	static const struct option_word words[] = {
		{ "count", SORT_COUNT },
		{ "calls", SORT_CALLS },
		{ "name", SORT_NAME },
		{ "file", SORT_FILE },
	};
	struct report_options *opts = into;
	int found = option_word("--sort", arg, words, 4);

	opts->sort = (enum sort_key)found;
	return found < 0 ? -1 : 0;
}

static int
set_event(void *into, const char *arg)
{
	struct report_options *opts = into;

	return events_add(&opts->events, arg);
}

static int
set_fail_if(void *into, const char *arg)
{
	struct report_options *opts = into;

	return event_limit_add(&opts->events, arg);
}

static int
set_no_demangle(void *into, const char *arg)
{
	struct report_options *opts = into;

	opts->demangle = false;
	return 0;
}

static int
set_exclude_path(void *into, const char *arg)
{
	struct report_options *opts = into;

	if (!*arg)
		return fail("--exclude-path: the pattern is empty");
	*vec_push(opts->exclude_paths, opts->nexclude_paths) = arg;
	return 0;
}

static int
set_source_path(void *into, const char *arg)
{
	struct report_options *opts = into;

	if (*arg == '=' || !strchr(arg, '='))
		return fail("--source-path: \"%s\" is not OLD=NEW", arg);
	*vec_push(opts->source_paths, opts->nsource_paths) = arg;
	return 0;
}

/* The nearest directory with a .git, from the working directory upwards. */
static char *
project_find(void)
{
	char *dir = realpath(".", NULL), *slash;

	while (dir && *dir) {
		char *git = mem_printf("%s/.git", dir);
		bool there = !access(git, F_OK);

		free(git);
		if (there)
			return dir;
		slash = strrchr(dir, '/');
		*slash = '\0';
	}
	free(dir);
	return NULL;
}

static int
set_source_root(void *into, const char *arg)
{
	struct report_options *opts = into;
	bool find = !strcmp(arg, "auto");
	char *root = find ? project_find() : realpath(arg, NULL);

	if (!root && find)
		return fail("--source-root: no .git in the working directory "
			    "or above");
	if (!root)
		return fail("--source-root: %s: %s", arg, strerror(errno));
	free(opts->source_root);
	opts->source_root = root;
	return 0;
}

static int
set_fail_under(void *into, const char *arg)
{
	struct report_options *opts = into;
	uint64_t value;
	const char *end = decimal_read(arg, 3, &value);

	if (!end || *end)
		return fail("--fail-under: \"%s\" is not a percentage with up "
			    "to three decimals",
			    arg);
	if (value > PERCENT_ALL)
		return fail("--fail-under: %s is more than 100", arg);
	opts->fail_under = (unsigned)value;
	return 0;
}

const struct option_entry report_entries[REPORT_OPTIONS] = {
	{ "report", 'r', "LIST",
	  "reports to write, each KIND or KIND:FILE:\n"
	  "summary, funcs, inlines, files, lines,\n"
	  "listing, hist, hist:scaled, hist:log,\n"
	  "uncovered, insns, blocks, edges, cfg, calls,\n"
	  "events, times, placement, sites, html:DIR, lcov,\n"
	  "cobertura, gcov-json, callgrind, bolt, autofdo,\n"
	  "pprof, drcov, folded, json, csv, trace, chrome,\n"
	  "perfetto (summary)",
	  set_report, .trust = TRUST_PROJECT, /* without files */
	  .words = "summary funcs inlines files lines listing hist "
		   "hist:scaled hist:log uncovered insns blocks edges cfg "
		   "calls events times placement sites html: lcov cobertura "
		   "gcov-json callgrind bolt autofdo pprof drcov "
		   "folded json csv trace chrome perfetto" },
	{ "brief", 'c', NULL,
	  "report only which functions executed most\n"
	  "instructions, as a short summary",
	  .flag = offsetof(struct report_options, brief),
	  .trust = TRUST_PROJECT },
	{ "top", 0, "N", "entries to list in the summary (20)", set_top,
	  .trust = TRUST_PROJECT },
	{ "verbose", 'v', NULL, "say in the summary how functions are counted",
	  .flag = offsetof(struct report_options, verbose),
	  .trust = TRUST_PROJECT },
	{ "quiet", 'q', NULL, "print no notes and no progress",
	  .flag = offsetof(struct report_options, quiet),
	  .trust = TRUST_PROJECT },
	{ "wide", 0, NULL, "do not cut names and lines to fit a terminal",
	  .flag = offsetof(struct report_options, wide),
	  .trust = TRUST_PROJECT },
	{ "color", 0, "WHEN",
	  "colour reports auto (at terminals), always or\n"
	  "never (auto)",
	  set_color, .trust = TRUST_PROJECT, .words = "auto always never" },
	{ "sort", 0, "KEY",
	  "order of funcs, inlines and files: count\n"
	  "(instructions or calls), calls, name or file\n"
	  "(count)",
	  set_sort, .trust = TRUST_PROJECT, .words = "count calls name file" },
	{ "event", 0, "[NAME=]SUM[@WHERE]",
	  "report how many events there were: insns,\n"
	  "insns:load, func:malloc, line:x.c:7 ... (mix)",
	  set_event, .trust = TRUST_PROJECT },
	{ "no-demangle", 0, NULL, "do not demangle C++ names", set_no_demangle,
	  .trust = TRUST_PROJECT },
	{ "system-headers", 0, NULL,
	  "report lines of the system's and the compiler's\n"
	  "files, too",
	  .flag = offsetof(struct report_options, system_headers),
	  .trust = TRUST_PROJECT },
	{ "exclude-path", 0, "GLOB",
	  "leave out lines of source files by their paths", set_exclude_path,
	  .trust = TRUST_PROJECT },
	{ "source-path", 0, "OLD=NEW",
	  "look for source files under NEW, not OLD", set_source_path,
	  .trust = TRUST_PROJECT },
	{ "source-root", 0, "DIR",
	  "name files below DIR without it in lcov,\n"
	  "cobertura and gcov-json; auto: the directory\n"
	  "with .git",
	  set_source_root, .trust = TRUST_PROJECT },
	{ "fail-under", 0, "PERCENT",
	  "exit with status 124 if less than PERCENT of\n"
	  "the lines ran",
	  set_fail_under, .trust = TRUST_PROJECT },
	{ "fail-if", 0, "EVENT>LIMIT",
	  "exit with status 124 if there were more (or,\n"
	  "with <, less) events: 'insns > 1000000', or\n"
	  "with pmprint --diff 'insns > +0.5%'",
	  set_fail_if, .trust = TRUST_PROJECT },
};
