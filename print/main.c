/*
 * pmprint: reads data files, merges them, prints what they hold.  Only this
 * file of pmprint prints messages and ends the process.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "print/columns.h"
#include "print/print_options.h"
#include "print/merge.h"
#include "print/pager.h"
#include "print/pages.h"
#include "print/recover.h"
#include "print/traces.h"
#include "report/printable.h"
#include "report/target.h"
#include "util/fail.h"
#include "util/mem.h"

enum { STATUS_UNDER = 124, STATUS_TROUBLE = 125 };

/* Print the message.  err is 1 if --fail-under or --fail-if says so. */
static int
trouble(int err)
{
	text_message("pmprint", fail_message());
	return err > 0 ? STATUS_UNDER : STATUS_TROUBLE;
}

/* ---- files */

/* --recover: recover the files that are given, before any is read. */
static int
files_recover(const struct options *opts)
{
	char *said;

	for (size_t i = 0; i < opts->nfiles; i++) {
		if (data_recover(opts->files[i], &said))
			return -1;
		fprintf(stderr, "pmprint: %s\n", said);
		free(said);
	}
	return 0;
}

/* Print the warning, if there is one, and free it. */
static void
warn(char *warning)
{
	if (warning)
		text_message("pmprint", warning);
	free(warning);
}

static void
left_out_say(const char *why)
{
	warn(mem_printf("%s; left out", why));
}

/* ---- where output goes */

/* Does all that is printed go to files of its own? */
static bool
files_only(const struct options *opts)
{
	bool none = opts->report.nwants && !opts->runs && !opts->executed;

	for (size_t i = 0; i < opts->report.nwants; i++)
		none &= opts->report.wants[i].path != NULL;
	return none;
}

struct output {
	FILE *out;
	struct target *target;	/* of -o, or NULL */
};

static int
output_open(struct output *output, struct options *opts)
{
	*output = (struct output){ .out = stdout };
	if (opts->output) {
		output->target = target_open(opts->output);
		if (!output->target)
			return -1;
		output->out = output->target->out;
	} else if (!opts->no_pager && !files_only(opts)) {
		pager_open(&opts->report);
	}
	opts->columns = report_style(&opts->report, output->out);
	return 0;
}

static int
output_close(struct output *output)
{
	if (output->target)
		return target_close(output->target);
	return stream_flush(stdout, "standard output");
}

/* After a failure: keep its message, and leave the file of -o as it was. */
static int
output_drop(struct output *output)
{
	if (output->target)
		target_drop(output->target);
	return -1;
}

/* ---- what is printed */

static int
pages_print(struct options *opts, struct profile *profile)
{
	struct output output;
	int err = 0;

	if (report_counts_check(&opts->report) ||
	    report_targets_check(&opts->report))
		return -1;
	if ((opts->runs || opts->executed) && funcs_matched(opts, profile))
		return -1;
	warn(report_warning(&opts->report));
	if (output_open(&output, opts))
		return -1;
	if (opts->runs)
		runs_print(opts, profile, output.out);
	if (!opts->parts)
		profile_join_parts(profile);
	if (opts->executed) {
		if (opts->runs)
			putc('\n', output.out);
		executed_print(opts, profile, output.out);
	}
	if (opts->report.nwants && (opts->runs || opts->executed))
		putc('\n', output.out);
	if (opts->report.nwants || opts->report.fail_under)
		err = reports_print(opts, profile, output.out, warn);
	if (err < 0)
		return output_drop(&output);
	return output_close(&output) ? -1 : err;
}

static int
files_columns(struct options *opts, const struct merge *merge)
{
	struct output output;

	if (output_open(&output, opts))
		return -1;
	if (columns_print(opts, merge, output.out))
		return output_drop(&output);
	return output_close(&output);
}

static int
files_print(struct options *opts)
{
	const struct merge merge = {
		.files = opts->files,
		.n = opts->nfiles,
		.jobs = opts->jobs,
		.quiet = opts->report.quiet,
		.skip = opts->skip_damaged,
		.warn = left_out_say,
	};
	struct profile *profile;
	bool pages = opts->runs || opts->executed || opts->report.nwants ||
		     opts->report.fail_under;
	int err;

	if (opts->by)
		return files_columns(opts, &merge);
	profile = files_merge(&merge);
	if (!profile)
		return -1;
	err = opts->merge ? profile_write(profile, opts->merge) : 0;
	if (!err && pages)
		err = pages_print(opts, profile);
	profile_free(profile);
	return err;
}

static int
trace_show(struct options *opts)
{
	struct output output;

	if (trace_options_check(opts) || report_targets_check(&opts->report) ||
	    output_open(&output, opts))
		return -1;
	if (trace_print(opts, output.out, warn))
		return output_drop(&output);
	return output_close(&output);
}

static int
files_diff(struct options *opts)
{
	struct profile *before = profile_read(opts->files[0]);
	struct profile *after = before ? profile_read(opts->files[1]) : NULL;
	struct output output;
	int err = after ? output_open(&output, opts) : -1;

	if (!err) {
		profile_join_parts(before);
		profile_join_parts(after);
		if (opts->report.nwants &&
		    opts->report.wants[0].kind == REPORT_HTML)
			err = page_print(opts, before, after, warn);
		else if (opts->report.nwants)
			err = inputs_compare(opts, before, after, output.out,
					     warn);
		else
			changes_print(opts, before, after, output.out);
		if (err < 0)
			output_drop(&output);
		else if (output_close(&output))
			err = -1;
	}
	profile_free(before);
	profile_free(after);
	return err;
}

static int
help_print(const struct options *opts)
{
	struct output output = { .out = stdout };

	if (opts->about.completion && options_complete(opts, output.out))
		return -1;
	if (opts->about.completion)
		return output_close(&output);
	if (opts->about.help)
		options_help(output.out);
	else
		options_version(output.out);
	return output_close(&output);
}

int
main(int argc, char **argv)
{
	struct options opts;
	int err;

	mem_keep();
	err = options_parse(&opts, argc, argv);

	/* A file that becomes too large gives a write error. */
	signal(SIGXFSZ, SIG_IGN);
	if (!err && opts.recover && !option_about_any(&opts.about))
		err = files_recover(&opts);
	if (!err)
		err = option_about_any(&opts.about) ? help_print(&opts) :
		      traces_given(&opts)	    ? trace_show(&opts) :
		      opts.diff			    ? files_diff(&opts) :
						      files_print(&opts);
	pager_close();
	err = err ? trouble(err) : 0;
	options_free(&opts);
	return err;
}
