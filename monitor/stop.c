/*
 * Stopping: taking every trap out of every space and letting go of every
 * task, so that each goes on exactly where it would be without pmon.
 */
#include <signal.h>

#include "monitor/affinity.h"
#include "monitor/areas.h"
#include "monitor/cut.h"
#include "monitor/inject.h"
#include "monitor/module.h"
#include "monitor/patch.h"
#include "monitor/run.h"
#include "monitor/stop.h"
#include "monitor/strays.h"
#include "monitor/task.h"
#include "util/fail.h"

void
space_unplant(struct run *run, struct space *space, pid_t tid)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->nmodules; i++)
		module_unplant(run, space, tid, space->modules[i]);
}

/*
 * The launched program stays in the table, untraced, until its end.
 */
static void
task_let_go(struct run *run, struct task *task, int signal)
{
	affinity_restore(run, task);
	areas_leave(run, task);
	stop_end(run, task);
	run->host->detach(task->tid, signal);
	if (task->tid != run->root) {
		task_free(run, task);
		return;
	}
	task->released = true;
	task->state = TASK_RUNNING;
	/* So that nothing waits for it to be paused. */
	task->exiting = true;
}

void
task_release(struct run *run, struct task *task, const struct event *event)
{
	int signal = 0;

	cut_end(run, task, event->kind);
	switch (event->kind) {
	case EVENT_TRAP:
		if (!patch_forget(run, task))
			signal = SIGTRAP;
		break;
	case EVENT_SIGNAL:
		signal = event->value;
		break;
	case EVENT_PAUSED:
		cut_undo(run, task, false);
		break;
	default:
		break;
	}
	patch_leave(run, task);
	task_let_go(run, task, signal);
}

static void
task_leave(struct run *run, struct task *task, void *space)
{
	if (task->process && task->process->space == space &&
	    task->state == TASK_STOPPED)
		patch_leave(run, task);
}

static void
slots_unmap(struct run *run, struct space *space, struct task *task)
{
	int64_t result;

	task_each(run, task_leave, space);
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];

		if (module->slots &&
		    inject_syscall(run, task, run->abi->nr_munmap,
				   (uint64_t[6]){ module->slots,
				   module->slots_size }, &result))
			return;
		if (module->copies &&
		    inject_syscall(run, task, run->abi->nr_munmap,
				   (uint64_t[6]){ module->copies,
				   module->copies_size }, &result))
			return;
	}
	areas_unmap(run, task, space);
}

/* Take traps and slots out of the space, while all its tasks stand still. */
static void
space_clear(struct run *run, const struct process *process)
{
	struct space *space = process->space;
	struct task *task = run_stopped_task(run, space);
	const struct event *event = task ? run_queued(run, task) : NULL;

	/* None is stopped if all there is waits in vfork. */
	space_unplant(run, space, task ? task->tid : process->pid);
	/* One that stopped for more must not be made to run. */
	if (event && event->kind == EVENT_PAUSED)
		slots_unmap(run, space, task);
}

void
run_stop(struct run *run, int signal)
{
	struct process *process;

	run_pause_all(run, STOP_STOPPING);
	strays_present(run, PRESENT);
	run->stopping = true;
	for (process = run->processes; process; process = process->next)
		if (process->space)
			space_clear(run, process);
	if (run->root && !run->root_ended)
		run->host->kill(run->root, signal);
}
