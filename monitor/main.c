/*
 * pmon: options, one run, its report.  The only place that prints messages
 * and that ends the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/notice.h"
#include "monitor/options.h"
#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"

enum { STATUS_TROUBLE = 125 };

static int
trouble(void)
{
	fprintf(stderr, "pmon: %s\n", fail_message());
	return STATUS_TROUBLE;
}

/* ---- the report */

static char *
command_text(const struct options *opts)
{
	char *text = mem_strdup(""), *longer;

	for (size_t i = 0; i < opts->npids; i++) {
		longer = mem_printf("%s%sprocess %d", text, i ? ", " : "",
				    (int)opts->pids[i]);
		free(text);
		text = longer;
	}
	for (size_t i = 0; opts->argv && opts->argv[i]; i++) {
		longer = mem_printf("%s%s%s", text, i ? " " : "",
				    opts->argv[i]);
		free(text);
		text = longer;
	}
	return text;
}

static char *
outcome_text(const struct run *run)
{
	if (run->root_signal)
		return mem_printf("killed by signal %d (%s)", run->root_signal,
				  strsignal(run->root_signal));
	if (run->root_ended)
		return mem_printf("exited with status %d", run->root_status);
	if (run->stopping)
		return mem_strdup("detached");
	return mem_strdup(run->processes ? "still running" : "ended");
}

/* -o: the file is opened before the program runs, and filled afterwards. */
static int output = -1;

static int
output_open(const char *path)
{
	output = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	return output < 0 ? fail("%s: %s", path, strerror(errno)) : 0;
}

static int
report_print(const struct options *opts, const struct tally *tally)
{
	FILE *out = stderr;
	int err;

	if (output >= 0) {
		/* Fails, rightly without notice, on what is no file. */
		if (lseek(output, 0, SEEK_SET) == 0 && ftruncate(output, 0))
			errno = 0;
		out = fdopen(dup(output), "w");
		if (!out)
			return fail("%s: %s", opts->output, strerror(errno));
	}
	err = report_write(&opts->report, tally, out);
	if (out == stderr)
		return err;
	if (fclose(out) && !err)
		err = fail("%s: %s", opts->output, strerror(errno));
	return err;
}

static int
run_tally(struct run *run)
{
	struct tally tally = {
		.seconds = run_clock() - run->started,
		.nprocesses = run->nprocesses,
		.nthreads = run->nthreads,
		.events = run->events,
		.remarks = run->remarks,
		.nremarks = run->nremarks,
	};
	char *command = command_text(run->opts);
	int err;

	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan)
			*vec_push(tally.plans, tally.nplans) =
				run->objects[i].plan;
	tally.command = command;
	tally.outcome = outcome_text(run);
	err = report_print(run->opts, &tally);
	free(tally.outcome);
	free(tally.plans);
	free(command);
	return err;
}

static void
report_now(struct run *run)
{
	if (run_tally(run))
		fprintf(stderr, "pmon: %s\n", fail_message());
}

/* ---- the run */

static int
run_start(struct run *run)
{
	const struct options *opts = run->opts;

	if (opts->argv) {
		/* Signals are caught when the program has its own. */
		if (run_launch(run))
			return -1;
		notice_init(true);
	} else {
		notice_init(false);
	}
	for (size_t i = 0; i < opts->npids; i++)
		if (run_attach(run, opts->pids[i])) {
			char *why = mem_strdup(fail_message());

			run_stop(run, 0);
			run_loop(run);
			fail("%s", why);
			free(why);
			return -1;
		}
	run->started = run_clock();
	if (opts->duration > 0) {
		run->deadline = run->started + opts->duration;
		notice_ticks(true);
	}
	return 0;
}

static int
run_status(struct run *run)
{
	int err = run->root_started ? 0 : run->host->launch_error();

	if (run->root && !run->root_started && err) {
		fail("%s: %s", run->opts->argv[0], strerror(err));
		return trouble();
	}
	if (run->root_signal)
		fprintf(stderr, "pmon: %s: killed by signal %d (%s)\n",
			run->opts->argv[0], run->root_signal,
			strsignal(run->root_signal));
	if (run_tally(run))
		return trouble();
	return run->root_status;
}

static void
run_free(struct run *run)
{
	objects_free(run);
	for (size_t i = 0; i < run->nremarks; i++)
		free(run->remarks[i]);
	free(run->remarks);
	free(run->queue);
}

static int
monitor(const struct options *opts)
{
	struct run run = {
		.opts = opts,
		.host = &host_ptrace,
		.arch = &arch_x86_64,
		.abi = &abi_x86_64,
		.report = report_now,
	};
	int status;

	if (report_targets_check(&opts->report) ||
	    (opts->output && output_open(opts->output)))
		return trouble();
	if (run_start(&run)) {
		status = trouble();
	} else {
		run_loop(&run);
		status = run_status(&run);
	}
	run_free(&run);
	return status;
}

int
main(int argc, char **argv)
{
	struct options opts = { 0 };
	int status = 0;

	if (options_parse(&opts, argc, argv))
		status = trouble();
	else if (opts.help)
		options_help(stdout);
	else if (opts.version)
		options_version(stdout);
	else
		status = monitor(&opts);
	options_free(&opts);
	/* Standard output was only pmon's own for -h and -V. */
	if (fflush(stdout) && !status) {
		fail("standard output: %s", strerror(errno));
		status = trouble();
	}
	return status;
}
