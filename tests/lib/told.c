/*
 * Owns the log of the client that logs, and makes and frees runs.
 */
#include "tests/lib/told.h"

#include <string.h>

#include "monitor/client/save.h"
#include "monitor/process/notice.h"
#include "monitor/options.h"
#include "monitor/process/object.h"
#include "tests/lib/probing.h"
#include "util/fail.h"

struct told told;

/* ---- the client that logs */

static struct logged *
logged(const struct task *task)
{
	for (size_t i = told.ntasks; task && i > 0; i--)
		if (told.tasks[i - 1].tid == task->tid)
			return &told.tasks[i - 1];
	return NULL;
}

static void
task_look(const struct task *task)
{
	const struct logged *at = logged(task);

	told.late += !at || at->ended;
}

static void
log_began(struct run *r, const struct task *task)
{
	const struct logged *at = logged(task);

	told.late += at && !at->ended;
	must(told.ntasks < TOLD_TASKS);
	told.tasks[told.ntasks++] = (struct logged){ .tid = task->tid };
}

static void
log_ended(struct run *r, const struct task *task, enum task_end how)
{
	struct logged *at = logged(task);

	task_look(task);
	if (!at)
		return;
	at->ended = true;
	at->how = how;
}

static void
log_forked(struct run *r, const struct task *maker, const struct task *child)
{
	task_look(child);
	told.forks++;
}

static void
log_stood(struct run *r)
{
	told.stood++;
}

static void
log_execed(struct run *r, const struct task *task)
{
	task_look(task);
	told.execs++;
}

static void
log_at_site(struct run *r, const struct task *task, struct plan *plan,
	    uint32_t site, enum site_event what)
{
	task_look(task);
	told.begun += what == SITE_BEGUN;
}

static void
log_abnormal(struct run *r, const struct task *task, struct plan *plan,
	     const struct abnormal_edge *edge)
{
	task_look(task);
	if (!told.object || strcmp(plan->image->path, told.object) != 0)
		return;
	told.left += edge->left;
	told.came += edge->came;
}

static void
log_drained(struct run *r, const struct task *task, struct plan *plan,
	    uint32_t first, const uint64_t *counters, size_t n)
{
	if (task)
		task_look(task);
	if (!told.object || strcmp(plan->image->path, told.object) != 0)
		return;
	/* Stack switches that were counted in the program. */
	for (size_t i = 0; i < plan->nswitches; i++) {
		const struct switch_counter *counter = &plan->switches[i];

		for (size_t k = 0; counter->slot - first < n && k < counter->n;
		     k++) {
			uint64_t times = counters[counter->slot - first];

			told.left += times * counter->edges[k].left;
			told.came += times * counter->edges[k].came;
		}
	}
}

static void
log_host_counted(struct run *r, struct plan *plan, uint32_t site, uint64_t hits,
		 uint64_t taken)
{
	told.host_hits += hits;
	told.host_taken += taken;
}

const struct client client_log = {
	.name = "log",
	.began = log_began,
	.ended = log_ended,
	.forked = log_forked,
	.execed = log_execed,
	.stood = log_stood,
	.at_site = log_at_site,
	.abnormal = log_abnormal,
	.drained = log_drained,
	.host_counted = log_host_counted,
};

/* ---- runs */

/* Follow a run that has begun to its end. */
static int
run_follow(struct run *run)
{
	notice_init(true);
	run_begin(run);
	run_loop(run);
	for (size_t i = 0; i < run->nobjects; i++)
		told.doubt |= run->objects[i].plan &&
			      run->objects[i].plan->underivable;
	must(!run->root.tid || run->root.ended);
	return run->root.status;
}

int
told_run(char **argv, int (*launch)(struct run *run),
	 void (*look)(struct run *run))
{
	struct options opts = { 0 };
	struct run run;
	const struct told asked = told;
	int argc = 0, status;

	while (argv[argc])
		argc++;
	run_init(&run, &opts);
	run.clients[run.nclients++] = &client_log;
	if (asked.probing)
		run.clients[run.nclients++] = &client_probing;
	told = (struct told){ .object = asked.object };
	status = options_parse(&opts, argc, argv);
	if (!status)
		status = launch(&run);
	if (!status) {
		status = run_follow(&run);
		if (look)
			look(&run);
	}
	run_free(&run);
	options_free(&opts);
	return status;
}
