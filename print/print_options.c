/*
 * pmprint's command line: owns the table of options, and turns arguments into
 * struct options.  Never exits.
 */
#include "print/print_options.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/event_limits.h"
#include "util/fail.h"
#include "util/command_line.h"
#include "util/mem.h"

enum { JOBS_MAX = 1024 };

static int
set_merge(void *into, const char *arg)
{
	struct options *opts = into;

	return option_file("--merge", arg, &opts->merge);
}

static int
set_jobs(void *into, const char *arg)
{
	struct options *opts = into;
	unsigned long jobs;

	if (option_number("--jobs", arg, 1, JOBS_MAX, &jobs))
		return -1;
	opts->jobs = jobs;
	return 0;
}

static int
set_by(void *into, const char *arg)
{
	struct options *opts = into;

	if (!strchr(arg, '*'))
		return fail("--by: \"%s\" has no *, which stands for the "
			    "label of a file",
			    arg);
	opts->by = arg;
	return 0;
}

static int
set_program_path(void *into, const char *arg)
{
	struct options *opts = into;

	if (!*arg || *arg == '=' || arg[strlen(arg) - 1] == '=')
		return fail("--program-path: \"%s\" is neither OLD=NEW nor a "
			    "directory",
			    arg);
	*vec_push(opts->program_paths, opts->nprogram_paths) = arg;
	return 0;
}

/* A time since the start, such as 1.5ms, or the name of a function. */
static int
moment_read(const char *option, const char *arg, bool *given, uint64_t *ns,
	    const char **func)
{
	static const struct {
		const char *unit;
		unsigned decimals;	/* of a nanosecond */
	} units[] = { { "ns", 0 }, { "us", 3 }, { "ms", 6 }, { "s", 9 } };

	*func = NULL;
	*given = false;
	if (!*arg)
		return fail("%s: give a time, such as 1.5ms, or a function",
			    option);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const char *end = decimal_read(arg, units[i].decimals, ns);

		*given |= end && !strcmp(end, units[i].unit);
		if (*given)
			return 0;
	}
	if (*arg >= '0' && *arg <= '9')
		return fail("%s: \"%s\" is neither a time, such as 1.5ms, nor "
			    "a function",
			    option, arg);
	*func = arg;
	return 0;
}

static int
set_from(void *into, const char *arg)
{
	struct options *opts = into;
	struct trace_part *part = &opts->part;

	return moment_read("--from", arg, &part->from_given, &part->from,
			   &part->from_func);
}

static int
set_to(void *into, const char *arg)
{
	struct options *opts = into;
	struct trace_part *part = &opts->part;

	return moment_read("--to", arg, &part->to_given, &part->to,
			   &part->to_func);
}

static int
set_thread(void *into, const char *arg)
{
	struct options *opts = into;
	unsigned long tid;

	if (option_number("--thread", arg, 1, INT_MAX, &tid))
		return -1;
	opts->part.tid = (uint32_t)tid;
	return 0;
}

static int
set_output(void *into, const char *arg)
{
	struct options *opts = into;

	return option_file("--output", arg, &opts->output);
}

static const struct option_entry entries[] = {
	{ "runs", 0, NULL,
	  "print the runs, the programs and the hottest\n"
	  "functions (the default)",
	  .flag = offsetof(struct options, runs) },
	{ "executed", 0, NULL,
	  "print the instructions executed in, and the\n"
	  "calls of, each function",
	  .flag = offsetof(struct options, executed) },
	{ "diff", 0, NULL,
	  "print the changes from the first file to the\n"
	  "second",
	  .flag = offsetof(struct options, diff) },
	{ "by", 0, "GLOB",
	  "print what functions executed, with a column\n"
	  "for each text that * stands for in files' names",
	  set_by },
	{ "merge", 0, "FILE", "merge the data files into FILE", set_merge },
	{ "jobs", 'j', "N",
	  "merge in up to N processes (as many as there\n"
	  "are processors)",
	  set_jobs },
	{ "skip-damaged", 0, NULL,
	  "leave out, and name, files that cannot be read\n"
	  "or that share a run with another file",
	  .flag = offsetof(struct options, skip_damaged) },
	{ "parts", 0, NULL,
	  "report each process or thread by itself, if\n"
	  "pmon kept them apart (--separate)",
	  .flag = offsetof(struct options, parts) },
	{ "recover", 0, NULL,
	  "first recover the files from what pmon saved\n"
	  "before it was killed",
	  .flag = offsetof(struct options, recover) },
	{ "program-path", 0, "OLD=NEW",
	  "look for programs and libraries under NEW, not\n"
	  "OLD; DIR: also in DIR, by build-id and name",
	  set_program_path },
	{ "from", 0, "WHEN",
	  "show a trace from WHEN on: a time since the\n"
	  "start (1.5ms), or the first call of a function",
	  set_from },
	{ "to", 0, "WHEN",
	  "show a trace up to a time, or until a call of\n"
	  "that function ends",
	  set_to },
	{ "thread", 0, "TID", "show that thread of a trace only", set_thread },
	{ "no-pager", 0, NULL, "do not use a pager at a terminal",
	  .flag = offsetof(struct options, no_pager) },
	{ "output", 'o', "FILE", "print to FILE, not to the standard output",
	  set_output },
};

static const struct option_group groups[] = {
	{ entries, sizeof(entries) / sizeof(entries[0]), 0 },
	{ report_entries, REPORT_OPTIONS, offsetof(struct options, report) },
	{ select_entries, SELECT_OPTIONS, offsetof(struct options, selection) },
	{ about_entries, ABOUT_OPTIONS, offsetof(struct options, about) },
};

static const struct option_table table = {
	.program = "pmprint",
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.mixed = true,
};

/* Without programs only functions' names and the programs' are known. */
static int
selection_check(const struct options *opts)
{
	const struct selection *sel = &opts->selection;
	const char *option = sel->files.n		  ? "--file" :
			     sel->lines.n		  ? "--line" :
			     opts->diff && sel->funcs.n	  ? "--func" :
			     opts->diff && sel->objects.n ? "--object" :
							    NULL;

	if (option && !opts->report.nwants && !opts->report.fail_under)
		return fail("%s needs --report", option);
	return 0;
}

/*
 * Refuse options that exclude each other; choose --runs if nothing is asked
 * for.
 */
static int
options_check(struct options *opts, bool given)
{
	const struct report_options *report = &opts->report;
	bool compares = report->nwants == 1 &&
			(report->wants[0].kind == REPORT_HTML ||
			 (!report->wants[0].path &&
			  (report->wants[0].kind == REPORT_UNCOVERED ||
			   report->wants[0].kind == REPORT_EVENTS)));
	bool pages = opts->runs || opts->executed || report->nwants ||
		     report->fail_under;

	if (opts->by && (opts->merge || opts->parts || opts->diff || pages))
		return fail("--by cannot be used with %s",
			    opts->merge	   ? "--merge" :
			    opts->parts	   ? "--parts" :
			    opts->diff	   ? "--diff" :
			    opts->runs	   ? "--runs" :
			    opts->executed ? "--executed" :
			    report->nwants ? "--report" :
					     "--fail-under");
	if (opts->diff && (opts->nfiles != 2 || !given))
		return fail("--diff compares two files, not %zu",
			    given ? opts->nfiles : 0);
	if (opts->diff &&
	    (opts->merge || opts->parts || opts->runs || opts->executed ||
	     report->fail_under || (report->nwants && !compares)))
		return fail("--diff cannot be used with %s",
			    opts->merge	       ? "--merge" :
			    opts->parts	       ? "--parts" :
			    opts->runs	       ? "--runs" :
			    opts->executed     ? "--executed" :
			    report->fail_under ? "--fail-under" :
						 "--report");
	if (opts->parts && (report->fail_under || report->events.nlimits))
		return fail("--parts cannot be used with %s",
			    report->fail_under ? "--fail-under" : "--fail-if");
	for (size_t i = 0; opts->parts && i < opts->report.nwants; i++)
		if (opts->report.wants[i].path)
			return fail("--parts: several reports cannot go to "
				    "%s",
				    opts->report.wants[i].path);
	if (opts->parts &&
	    (!opts->report.nwants || opts->runs || opts->executed))
		return fail("--parts %s --report",
			    opts->report.nwants ? "can be used only with" :
						  "needs");
	/* Merging into a file prints nothing unless asked to. */
	if (!pages && !opts->merge && !opts->diff && !opts->by)
		opts->runs = true;
	return selection_check(opts);
}

int
options_parse(struct options *opts, int argc, char **argv)
{
	static char *files[] = { "pmon.out", NULL };
	int first_file;

	*opts = (struct options){ .report = report_usual };
	first_file = option_table_read(&table, opts, NULL, argc, argv);
	if (first_file < 0)
		return -1;
	if (option_about_any(&opts->about))
		return 0;
	opts->files = first_file < argc ? argv + first_file : files;
	opts->nfiles = first_file < argc ? (size_t)(argc - first_file) : 1;
	report_choose(&opts->report, &opts->selection);
	if (event_limits_check(&opts->report.events, opts->diff) ||
	    options_check(opts, first_file < argc))
		return -1;
	return 0;
}

void
options_free(struct options *opts)
{
	select_free(&opts->selection);
	report_options_free(&opts->report);
	free(opts->program_paths);
}

void
options_help(FILE *out)
{
	fputs("usage: pmprint [options] [file ...]\n"
	      "       pmprint [options] --diff before after\n"
	      "Print reports of data files that pmon wrote (pmon.out), of which "
	      "several are\nmerged, or of a trace (pmon.trace).\n"
	      "\n",
	      out);
	option_table_help(&table, out);
}

int
options_complete(const struct options *opts, FILE *out)
{
	return option_table_complete(&table, opts->about.completion, out);
}

void
options_version(FILE *out)
{
	option_version(&table, out);
}
