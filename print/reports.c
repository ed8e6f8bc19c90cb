/*
 * Makes each report that pmon makes, by the same code, from a profile and the
 * programs that it is of.  Prints no messages: warn does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/pager.h"
#include "print/pages.h"
#include "report/html/html_diff.h"
#include "report/profile/profile_plan.h"
#include "report/table.h"
#include "util/fail.h"
#include "util/mem.h"

enum { SECOND = 1000000000 };

/* A profile and the programs that it is of, as far as they are open. */
struct opened {
	const struct options *opts;
	const struct profile *profile;
	struct selection *sels;	/* per object */
	struct plan **plans;	/* per object; NULL: not open */
	char **faults;		/* per object: why not, or NULL */
	struct progress progress;	/* of opening them for the first part */
};

/* ---- plans */

/*
 * Open an object that calls lead to, only for its functions' names.  Failing to
 * is no fault: the report has no counts of it.
 */
static struct plan *
callee_open(const struct options *opts, const struct profile_object *object,
	    struct progress *progress)
{
	struct image *image = program_open(opts, object, IMAGE_BARE, progress);

	return image ? plan_open(image, &(struct plan_options){ 0 }, NULL,
				 NULL) :
		       NULL;
}

static void
plan_open_at(struct opened *opened, size_t i, uint32_t part)
{
	const struct profile_object *object = &opened->profile->objects[i];
	struct selection *sel = &opened->sels[i];
	struct image *image;

	*sel = opened->opts->selection;
	sel->units = units_saved(object, sel);
	if (!object->units ||
	    (sel->objects.n && !select_object(sel, object->path, false))) {
		opened->plans[i] = callee_open(opened->opts, object,
					       &opened->progress);
		return;
	}
	if (opened->faults[i])
		return;
	image = program_open(opened->opts, object, plan_wants(sel) | IMAGE_FLOW,
			     &opened->progress);
	if (image)
		opened->plans[i] = profile_restore(opened->profile, i, part,
						   image, sel);
	else
		opened->faults[i] = mem_strdup(fail_message());
}

static void
plans_open(struct opened *opened, uint32_t part)
{
	for (size_t i = 0; i < opened->profile->nobjects; i++) {
		plan_open_at(opened, i, part);
		if (opened->plans[i] &&
		    !report_leaves_idle(&opened->opts->report,
					opened->plans[i]))
			profile_restore_idle(opened->plans[i]);
		progress_step(&opened->progress);
	}
	profile_restore_calls(opened->profile, part, opened->plans);
	/* Before anything is printed to the same terminal. */
	progress_end(&opened->progress);
}

static void
plans_close(struct opened *opened)
{
	for (size_t i = 0; i < opened->profile->nobjects; i++) {
		plan_close(opened->plans[i]);
		opened->plans[i] = NULL;
	}
}

/* ---- what the runs were */

/*
 * The command of the only run; or how many runs there are, with their command
 * if all have the same.  Owned by the caller.
 */
static char *
command_of(const struct profile *profile)
{
	const char *command = profile->nruns ? profile->runs[0].command : "";
	char *runs, *text;

	for (size_t i = 1; command && i < profile->nruns; i++)
		if (strcmp(profile->runs[i].command, command))
			command = NULL;
	if (profile->nruns < 2)
		return mem_strdup(command);
	runs = mem_printf("%zu runs", profile->nruns);
	if (!command)
		return runs;
	text = mem_printf("%s of %s", runs, command);
	free(runs);
	return text;
}

static void
stop_add(struct report_input *report_input, const struct profile_stop *stop)
{
	size_t i = 0;

	while (i < report_input->nstops &&
	       strcmp(report_input->stops[i].cause, stop->cause))
		i++;
	if (i == report_input->nstops)
		*vec_push(report_input->stops, report_input->nstops) =
			(struct stop_sum){ .cause = stop->cause };
	report_input->stops[i].n += stop->n;
	report_input->stops[i].ns += stop->ns;
}

static bool
run_attached(const struct profile_run *run)
{
	for (size_t i = 0; i < run->nstops; i++)
		if (!strcmp(run->stops[i].cause, stop_attaching))
			return true;
	return false;
}

static void
runs_sum(const struct profile *profile, struct report_input *report_input)
{
	/* What ran before one run may have been counted in another. */
	report_input->attached = profile->nruns;
	for (size_t i = 0; i < profile->nruns; i++) {
		const struct profile_run *run = &profile->runs[i];

		report_input->attached &= run_attached(run);
		report_input->seconds += (double)run->elapsed / SECOND;
		report_input->nprocesses += run->processes;
		report_input->nthreads += run->threads;
		report_input->events += run->events;
		for (size_t k = 0; k < run->nstops; k++)
			stop_add(report_input, &run->stops[k]);
		for (size_t k = 0; k < run->nremarks; k++)
			*vec_push(report_input->remarks,
				  report_input->nremarks) = run->remarks[k];
	}
	if (profile->nruns == 1 && *profile->runs[0].outcome)
		report_input->outcome = profile->runs[0].outcome;
}

/* Where the only run ended, if the program is at hand. */
static struct death
death_restore(const struct opened *opened)
{
	const struct profile *profile = opened->profile;
	const struct profile_death *death;

	if (profile->nruns != 1 || !profile->runs[0].death.object)
		return (struct death){ 0 };
	death = &profile->runs[0].death;
	return (struct death){ opened->plans[death->object - 1], death->addr,
			       (enum death_how)death->how };
}

char *
part_text(const struct profile_part *part)
{
	if (part->tid)
		return mem_printf("thread %" PRIu32 " of process %" PRIu32
				  ", %s",
				  part->tid, part->pid, part->program);
	return mem_printf("process %" PRIu32 ", %s", part->pid, part->program);
}

/*
 * Make the report input of one part.  0, or -1 with the message if no program
 * is at hand.
 */
static int
report_input_open(struct opened *opened, uint32_t part,
		  struct report_input *report_input)
{
	const struct profile *profile = opened->profile;

	plans_open(opened, part);
	runs_sum(profile, report_input);
	report_input->death = death_restore(opened);
	for (size_t i = 0; i < profile->nobjects; i++) {
		if (opened->plans[i] && opened->plans[i]->options.counted)
			*vec_push(report_input->plans,
				  report_input->nplans) = opened->plans[i];
		if (!opened->faults[i])
			continue;
		report_input->partial = true;
		*vec_push(report_input->remarks,
			  report_input->nremarks) = opened->faults[i];
	}
	for (size_t i = 0; i < profile->nobjects && !report_input->nplans; i++)
		if (opened->faults[i])
			return fail("%s", opened->faults[i]);
	return 0;
}

static void
report_input_close(struct opened *opened, struct report_input *report_input)
{
	plans_close(opened);
	free(report_input->plans);
	free(report_input->remarks);
	free(report_input->stops);
}

static int
part_write(struct opened *opened, uint32_t part, FILE *out,
	   void (*warn)(char *warning))
{
	const struct profile *profile = opened->profile;
	const struct report_options *opts = &opened->opts->report;
	char *command = part == PART_NONE ? command_of(profile) :
					    part_text(&profile->parts[part]);
	struct report_input report_input = { .command = command };
	struct table *table = NULL;
	int err = report_input_open(opened, part, &report_input);

	if (!err)
		err = report_matched(&report_input, &opened->opts->selection);
	if (!err)
		table = table_make(opts, &report_input);
	if (!err && opts->nwants)
		err = report_write(table, out);
	if (!err)
		warn(report_empty(opts, &report_input));
	if (!err)
		err = coverage_check(table);
	if (!err)
		err = events_judge(table);
	table_free(table);
	report_input_close(opened, &report_input);
	free(command);
	return err;
}

static struct opened
opened_make(const struct options *opts, const struct profile *profile)
{
	size_t n = profile->nobjects;
	/* Not where other pages are printed first. */
	bool quiet = opts->report.quiet || opts->runs || opts->executed;

	return (struct opened){
		.opts = opts,
		.profile = profile,
		.sels = mem_alloc(n * sizeof(struct selection)),
		.plans = mem_alloc(n * sizeof(struct plan *)),
		.faults = mem_alloc(n * sizeof(char *)),
		.progress = progress_begin(pager_error(), quiet,
					   "pmprint: reading programs", NULL),
	};
}

/*
 * Tell warn which programs were left out, and why; warn is NULL after an error,
 * when there is no report that they could be missing from.
 */
static void
opened_free(struct opened *opened, void (*warn)(char *warning))
{
	for (size_t i = 0; i < opened->profile->nobjects; i++) {
		if (opened->faults[i] && warn)
			warn(mem_printf("%s; left out", opened->faults[i]));
		free(opened->faults[i]);
	}
	free(opened->faults);
	free(opened->plans);
	free(opened->sels);
}

int
reports_print(const struct options *opts, const struct profile *profile,
	      FILE *out, void (*warn)(char *warning))
{
	struct opened opened = opened_make(opts, profile);
	int err = 0;

	if (!profile->nparts)
		err = part_write(&opened, PART_NONE, out, warn);
	for (size_t i = 0; i < profile->nparts && !err; i++) {
		if (i)
			putc('\n', out);
		err = part_write(&opened, (uint32_t)i, out, warn);
	}
	opened_free(&opened, err < 0 ? NULL : warn);
	return err;
}

int
inputs_compare(const struct options *opts, const struct profile *before,
	       const struct profile *after, FILE *out,
	       void (*warn)(char *warning))
{
	struct opened first = opened_make(opts, before);
	struct opened second = opened_make(opts, after);
	struct report_input inputs[2] = { { .command = "" },
					  { .command = "" } };
	int err = report_input_open(&first, PART_NONE, &inputs[0]);

	if (!err)
		err = report_input_open(&second, PART_NONE, &inputs[1]);
	if (!err)
		err = report_matched(&inputs[1], &opts->selection);
	if (!err &&
	    (report_input_once(&inputs[0]) || report_input_once(&inputs[1])))
		err = report_once(&opts->report);
	if (!err && opts->report.wants[0].kind == REPORT_EVENTS)
		err = events_diff_write(&opts->report, &inputs[0], &inputs[1],
					out);
	else if (!err)
		coverage_diff_write(&opts->report, &inputs[0], &inputs[1], out);
	report_input_close(&first, &inputs[0]);
	report_input_close(&second, &inputs[1]);
	opened_free(&first, err < 0 ? NULL : warn);
	opened_free(&second, err < 0 ? NULL : warn);
	return err;
}

int
page_print(const struct options *opts, const struct profile *before,
	   const struct profile *after, void (*warn)(char *warning))
{
	struct opened first = opened_make(opts, before);
	struct opened second = opened_make(opts, after);
	char *commands[2] = { command_of(before), command_of(after) };
	struct report_input inputs[2] = {
		{ .command = commands[0] },
		{ .command = commands[1] },
	};
	struct profile_diff *diff = profile_diff(before, after);
	struct html_before page = { .command = commands[0], .diff = diff };
	int err;

	if (!report_input_open(&first, PART_NONE, &inputs[0]))
		page.report_input = &inputs[0];
	err = report_input_open(&second, PART_NONE, &inputs[1]);
	if (!err)
		err = html_diff_write(&opts->report, &page, &inputs[1],
				      opts->report.wants[0].path);
	profile_diff_free(diff);
	report_input_close(&first, &inputs[0]);
	report_input_close(&second, &inputs[1]);
	opened_free(&first, err ? NULL : warn);
	opened_free(&second, err ? NULL : warn);
	free(commands[0]);
	free(commands[1]);
	return err;
}
