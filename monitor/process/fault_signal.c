/*
 * Restores what a program has made of SIGSEGV and SIGBUS, where an instruction
 * has raised that signal in memory of pmon's, and pmon has mended the memory
 * (monitor/patch/mend.c): the kernel unblocks a signal that it forces, and
 * resets its action if that was blocked or ignored.  Never looks at a fault of
 * the program's own.
 */
#include "monitor/process/fault_signal.h"

#include "monitor/process/actions.h"
#include "monitor/process/events.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/task.h"

/* The tasks of which one may have had the signal blocked. */
struct faulted {
	const struct task *task;
	unsigned others;	/* besides task */
};

/* Another task whose fault may be the one that was raised while blocked. */
static void
task_faulted(struct run *run, struct task *task, void *ctx)
{
	struct faulted *faulted = ctx;
	const struct event *event = run_queued(run, task);

	if (actions_shared(faulted->task, task) && event &&
	    event->kind == EVENT_SIGNAL &&
	    (event->value == SIGSEGV || event->value == SIGBUS))
		faulted->others++;
}

/* Set the action again, and block the signal again, if it was. */
static int
fault_restore(struct run *run, struct task *task, int signal)
{
	struct faulted faulted = { .task = task };
	struct action *tracked = action_of(task->process->actions, signal);
	struct signal_state state;
	int err = HOST_ERROR;

	if (sigtrap_mends(run, task)) {
		run_pause(run, task->process->space, task, STOP_MENDS);
		if (task->exiting || task->state != TASK_STOPPED)
			return HOST_GONE;
		err = action_set(run, task, signal, 0);
	}
	if (err == HOST_GONE)
		return err;
	task_each(run, task_faulted, &faulted);
	if (err || faulted.others)
		run_remark(run,
			   "process %d: a fault in pmon's memory may have "
			   "changed what the process does with signal %d",
			   (int)task->process->pid, signal);
	/* One that was ignored may have been blocked or not. */
	if (err || faulted.others || tracked->handler == HANDLER_IGNORE)
		return HOST_OK;
	if (run->host->signals(task->tid, &state))
		return HOST_GONE;
	return run->host->mask_set(task->tid,
				   state.blocked | UINT64_C(1) << (signal - 1),
				   NULL);
}

int
fault_signal_mend(struct run *run, struct task *task, int signal)
{
	struct actions *actions = task->process->actions;
	struct signal_state state;

	if (!actions ||
	    action_of(actions, signal)->handler == HANDLER_DEFAULT ||
	    run->host->native->actions(task->tid, &state) ||
	    signals_have(state.ignored | state.caught, signal))
		return HOST_OK;
	return fault_restore(run, task, signal);
}
