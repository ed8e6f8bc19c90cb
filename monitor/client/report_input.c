/*
 * Makes the input of a report from the run as it is now.  Writes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "monitor/client/save.h"
#include "monitor/client/times.h"
#include "monitor/patch/host_counters.h"
#include "monitor/patch/tamper.h"
#include "monitor/process/object.h"
#include "monitor/run.h"
#include "report/printable.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/shrunk.h"

static char *
command_text(const struct options *opts)
{
	char *text = mem_strdup("");

	for (size_t i = 0; i < opts->npids; i++) {
		char *process = mem_printf("process %d", (int)opts->pids[i]);

		text = mem_join(text, process);
		free(process);
	}
	for (size_t i = 0; opts->argv && opts->argv[i]; i++)
		text = mem_append(text, " ", opts->argv[i]);
	return text;
}

static char *
outcome_text(const struct run *run)
{
	if (run->root.signal)
		return mem_printf("killed by signal %d (%s)", run->root.signal,
				  strsignal(run->root.signal));
	if (run->root.ended)
		return mem_printf("exited with status %d", run->root.status);
	if (run->stopping)
		return mem_strdup("detached");
	return mem_strdup(run->processes ? "still running" : "ended");
}

/*
 * If a file was truncated while pmon read it, what pmon read may be wrong: no
 * count is derived behind calls.
 */
static void
files_check(struct run *run)
{
	if (!shrunk_met())
		return;
	run_remark(run, "a file was truncated while pmon read it, or memory "
			"ran out: counts derived behind calls are not known");
	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan)
			run->objects[i].plan->calls_underivable = true;
}

/* Is the library the user's own?  Those of the system are nobody's surprise. */
static bool
library_own(const struct object *object)
{
	static const char *const theirs[] = { "/usr/", "/lib/", "/lib64/" };
	const char *path = object->plan ? object->plan->image->path : "/lib/";

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		if (!strncmp(path, theirs[i], strlen(theirs[i])))
			return false;
	return !object->counted && *path == '/';
}

/* Say which libraries of the user's were loaded that nobody asked to count. */
static void
libraries_remark(struct run *run)
{
	enum { NAMED = 5 };
	char *names = mem_strdup("");
	size_t n = 0;

	for (size_t i = 0; i < run->nobjects; i++) {
		const struct object *object = &run->objects[i];

		if (library_own(object) && n++ < NAMED)
			names = mem_join(names,
					 basename(object->plan->image->path));
	}
	if (n > NAMED)
		names = mem_join(names, "...");
	if (n && !run->opts->selection.objects.n)
		run_remark(run,
			   "not counted: %s; --object='*' counts libraries, "
			   "too",
			   names);
	free(names);
}

struct report_input *
report_input_make(struct run *run)
{
	struct report_input *report_input = mem_alloc(sizeof(*report_input));

	files_check(run);
	tamper_remark(run);
	libraries_remark(run);
	*report_input = (struct report_input){
		.seconds = clock_seconds() - run->started,
		.nprocesses = run->nprocesses,
		.nthreads = run->nthreads,
		.events = stops_traps(run) + host_counters_fetch(run),
		.stall = run->stall,
		.attached = run->opts->npids,
		.command = command_text(run->opts),
		.outcome = outcome_text(run),
		.death = run->root.signal ? run->root.death :
					    (struct death){ 0 },
	};
	times_settle(run);
	report_input->remarks = run_remarks(run, &report_input->nremarks);
	report_input->stops = stops_sums(run, &report_input->nstops);
	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan && run->objects[i].counted)
			*vec_push(report_input->plans,
				  report_input->nplans) = run->objects[i].plan;
	return report_input;
}

void
report_input_free(struct report_input *report_input)
{
	free(report_input->outcome);
	free((char *)report_input->command);
	free(report_input->stops);
	free(report_input->plans);
	free(report_input);
}
