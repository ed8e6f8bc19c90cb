/*
 * pmon: reads options, makes one run, and writes its report; or asks another
 * pmon.  Messages are printed, and the process ends, nowhere else, but for lack
 * of memory, bugs (must), and the progress line of object.c.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/ask.h"
#include "monitor/client/autosave.h"
#include "monitor/client/save.h"
#include "monitor/client/slow.h"
#include "monitor/client/times.h"
#include "monitor/client/tracing.h"
#include "monitor/control.h"
#include "monitor/live.h"
#include "monitor/options.h"
#include "monitor/patch/plant.h"
#include "monitor/process/events.h"
#include "monitor/process/notice.h"
#include "monitor/process/object.h"
#include "monitor/run.h"
#include "monitor/start.h"
#include "monitor/stop.h"
#include "monitor/unwind/abnormal.h"
#include "report/printable.h"
#include "report/table.h"
#include "report/target.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/shrunk.h"

enum { STATUS_UNDER = 124, STATUS_TROUBLE = 125 };

static int
trouble(void)
{
	text_message("pmon", fail_message());
	return STATUS_TROUBLE;
}

/* Print the warning, if there is one, and free it. */
static void
warn(char *warning)
{
	if (warning)
		text_message("pmon", warning);
	free(warning);
}

/* ---- the report */

/*
 * The pipe or device of --output, which is opened before the program runs and
 * gets all reports.  NULL for a file, which each report replaces.
 */
static struct target *output;

static int
output_open(const char *path)
{
	if (target_check(path))
		return -1;
	if (!target_direct(path))
		return 0;
	output = target_open(path);
	return output ? 0 : -1;
}

/* Standard error has no buffer: each line there would cost system calls. */
static int
report_print_error(struct table *table)
{
	int fd = dup(STDERR_FILENO), err;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		if (fd >= 0)
			close(fd);
		out = stderr;
	}
	err = report_write(table, out);
	if (!err)
		err = stream_flush(out, "standard error");
	if (out != stderr)
		fclose(out);
	return err;
}

static int
report_print(const struct options *opts, struct table *table)
{
	struct target *target = output;
	int err;

	if (!opts->output)
		return report_print_error(table);
	if (!target)
		target = target_open(opts->output);
	if (!target)
		return -1;
	err = report_write(table, target->out);
	if (target != output)
		return target_close(target) ? -1 : err;
	return target_flush(output) ? -1 : err;
}

/* With --data or --trace, pmprint makes the reports, unless the user asked for some. */
static bool
report_wanted(const struct options *opts)
{
	return (!opts->data && !opts->trace) || opts->report.nwants ||
	       opts->output;
}

/* --fail-under, --fail-if: the status, 0 if the program failed itself. */
static int
limits_status(const struct run *run, struct table *table)
{
	int err = coverage_check(table);

	if (!err)
		err = events_judge(table);
	if (!err || (err > 0 && run->root.status))
		return 0;
	trouble();
	return err > 0 ? STATUS_UNDER : STATUS_TROUBLE;
}

/* Did the patterns choose nothing?  Likewise. */
static int
matched_status(const struct run *run, const struct report_input *report_input)
{
	if (!report_matched(report_input, &run->opts->selection))
		return 0;
	trouble();
	return run->root.status ? 0 : STATUS_TROUBLE;
}

static int
report_input_write(struct run *run, const struct report_input *report_input,
		   bool last)
{
	const struct options *opts = run->opts;
	bool check = last &&
		     (opts->report.fail_under || opts->report.events.nlimits);
	struct table *table = NULL;
	int status = 0;

	if (opts->data && run_save(run, report_input))
		status = trouble();
	if (report_wanted(opts) || check) {
		report_propagate(&opts->report, report_input);
		table = table_make(&opts->report, report_input);
	}
	if (report_wanted(opts) && report_print(opts, table))
		status = trouble();
	else if (last && report_wanted(opts))
		warn(report_empty(&opts->report, report_input));
	if (last && !status)
		status = matched_status(run, report_input);
	if (check && !status)
		status = limits_status(run, table);
	table_free(table);
	return status;
}

/*
 * Write the data file and the reports, and check --fail-under and --fail-if if
 * these are the last.  0, or pmon's exit status if a file cannot be written or a
 * limit is passed.
 */
static int
run_report_input(struct run *run, bool last)
{
	struct report_input *report_input = report_input_make(run);
	int status;

	if (last)
		notice_finish();
	notice_block(true);
	status = report_input_write(run, report_input, last);
	notice_block(false);
	report_input_free(report_input);
	return status;
}

/* Report the counts so far: functions that still run are entered as left. */
static void
report_now(struct run *run)
{
	run_pause_all(run, STOP_ASKED);
	abnormal_present(run, PRESENT);
	run_report_input(run, false);
	abnormal_present(run, PRESENT_NOT);
}

/*
 * Print a note while the program runs, in one piece, as the program may print,
 * too.  Whoever reads a full pipe may wait for the program, and so for pmon.
 */
static bool
note_print(const char *note)
{
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	char *text = NULL;
	size_t size;
	FILE *mem;

	if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
		return false;
	mem = open_memstream(&text, &size);
	must(mem != NULL);
	fputs("pmon: note: ", mem);
	text_put(mem, note);
	putc('\n', mem);
	must(!fclose(mem));
	fputs(text, stderr);
	free(text);
	return true;
}

/* --quiet */
static bool
note_drop(const char *note)
{
	return true;
}

/* ---- the run */

static int
run_start(struct run *run)
{
	const struct options *opts = run->opts;

	if (opts->argv) {
		/* pmon catches signals once the program has its own. */
		if (run_launch(run))
			return -1;
		notice_init(true);
	} else {
		notice_init(false);
	}
	for (size_t i = 0; i < opts->npids; i++)
		process_foresee(run, opts->pids[i]);
	if (run_attach(run, opts->pids, opts->npids)) {
		char *why = mem_strdup(fail_message());

		run_stop(run, 0);
		run_loop(run);
		fail("%s", why);
		free(why);
		return -1;
	}
	run_begin(run);
	autosave_open(run);
	slow_open(run);
	if (opts->trace)
		notice_ticks(true);
	if (opts->duration > 0) {
		run->deadline = run->started + opts->duration;
		notice_ticks(true);
	}
	return 0;
}

/*
 * The program was ended by a SIGTRAP that is none of pmon's: where it executes a
 * copy of code that has breakpoints, these are in the copy.
 */
static void
sigtrap_explain(const struct run *run)
{
	const char *name = run->program ? run->program : run->opts->argv[0];
	char *note = mem_printf("%s: SIGTRAP ended it; if it copies, "
				"translates or checks its own code, it has met "
				"pmon's breakpoints there: count without that "
				"program, by --object='!NAME'",
				basename(name));

	note_print(note);
	free(note);
}

static int
run_status(struct run *run)
{
	int status, err = 0;

	if (run->host->native && !run->root.started)
		err = run->host->native->launch_error();
	if (run->root.tid && err) {
		run_launch_explain(run, err);
		return trouble();
	}
	if (run->root.signal) {
		fail("%s: killed by signal %d (%s)", run->opts->argv[0],
		     run->root.signal, strsignal(run->root.signal));
		trouble();
	}
	if (run->root.signal == SIGTRAP)
		sigtrap_explain(run);
	if (tracing_end(run))
		err = trouble();
	status = run_report_input(run, true);
	if (err && !status)
		status = err;
	objects_remember(run);
	autosave_close(run);
	return status ? status : run->root.status;
}

/* Check what the run reads and writes.  0, or -1 with the message. */
static int
files_check(struct run *run)
{
	const struct options *opts = run->opts;

	if (report_counts_check(&opts->report) ||
	    report_targets_check(&opts->report) || save_check(run) ||
	    earlier_read(run) || (opts->output && output_open(opts->output)) ||
	    (opts->trace && tracing_open(run, times_cost(run))))
		return -1;
	warn(report_warning(&opts->report));
	return 0;
}

static int
monitor(const struct options *opts)
{
	struct run run;
	int status;

	run_init(&run, opts);
	run.report = report_now;
	run.tell = opts->report.quiet ? note_drop : note_print;
	shrunk_catch();
	if (files_check(&run) || run_start(&run)) {
		status = trouble();
	} else {
		control_open(&run);
		run_loop(&run);
		control_close(&run);
		status = run_status(&run);
	}
	run_free(&run);
	if (output && target_close(output) && !status)
		status = trouble();
	return status;
}

int
main(int argc, char **argv)
{
	struct options opts = { 0 };
	int status = 0;
	int err;

	mem_keep();
	err = options_parse(&opts, argc, argv);

	if (opts.warning)
		text_message("pmon", opts.warning);
	if (err)
		status = trouble();
	else if (opts.about.completion)
		status = options_complete(&opts, stdout) ? trouble() : 0;
	else if (opts.about.help)
		options_help(stdout);
	else if (opts.about.version)
		options_version(stdout);
	else if (opts.request == REQUEST_LIVE)
		status = live_show(&opts) ? trouble() : 0;
	else if (opts.request != REQUEST_NONE)
		status = ask(&opts, stdout) ? trouble() : 0;
	else
		status = monitor(&opts);
	options_free(&opts);
	/* Where pmon runs no program, standard output is its own. */
	if (stream_flush(stdout, "standard output") && !status)
		status = trouble();
	return status;
}
