/*
 * What events mean for the tables: new threads and processes, programs that
 * take another's place, ends.  Resumes no task and plants nothing.
 */
#include "monitor/run.h"

#include "monitor/notice.h"

void
run_announce(struct run *run, pid_t tid, struct process *process)
{
	struct task *task = task_find(run, tid);

	run->nthreads++;
	if (!task) {
		task_new(run, tid, process);
		return;
	}
	task->process = process;
	process->ntasks++;
	if (task->has_held)
		run_requeue(run, &task->held);
	task->has_held = false;
}

/*
 * Which kind of child: the call's flags tell, as the event's name does not
 * (a clone may share the memory and be reported as a fork).
 */
static uint64_t
clone_flags(struct run *run, struct task *task)
{
	const struct abi *abi = run->abi;
	uint64_t flags = 0;
	struct regs regs;
	int nr;

	if (run->host->regs_get(task->tid, &regs))
		return 0;
	nr = (int)regs.r[abi->reg_orig];
	if (nr == abi->nr_vfork)
		return CLONE_VM | CLONE_VFORK;
	if (nr == abi->nr_clone)
		return regs.r[abi->reg_arg[0]];
	if (nr == abi->nr_clone3)
		run->host->data_read(task->tid, regs.r[abi->reg_arg[0]],
				     &flags, sizeof(flags));
	return flags;
}

static struct process *
process_fork(struct run *run, const struct process *parent, pid_t pid,
	     bool shared)
{
	struct space *space = parent->space;
	struct process *process;

	if (space && shared)
		space_hold(space);
	else if (space)
		space = space_copy(space, run->host->mem_open(pid));
	process = process_new(run, pid, space);
	process->counted = parent->counted &&
			   run->opts->follow == FOLLOW_ALL;
	process->watched = parent->watched;
	process->planted = parent->planted;
	return process;
}

static void
account_new(struct run *run, struct task *task, const struct event *event)
{
	uint64_t flags = clone_flags(run, task);
	struct process *process = task->process;

	task->vforking = event->kind == EVENT_VFORK;
	if (!event->value)
		return;
	if (!(flags & CLONE_THREAD))
		process = process_fork(run, process, event->value,
				       flags & CLONE_VM);
	run_announce(run, event->value, process);
}

static void
exec_other(struct run *run, struct task *task, void *survivor)
{
	const struct task *self = survivor;

	if (task != self && task->process == self->process)
		task_free(run, task);
}

static void
account_exec(struct run *run, struct task *task)
{
	struct process *process = task->process;

	task_each(run, exec_other, task);
	space_drop(run, process->space);
	process->space = space_new(run->host->mem_open(task->tid));
	process->planted = false;
	task->vforking = false;
	task->exiting = false;
	task->redo = REDO_NONE;
	if (task->tid == run->root)
		run->root_started = true;
}

/* A process is ending that may not have told of this child of its. */
static void
task_adopt(struct run *run, struct task *task, void *ctx)
{
	struct process *parent = ctx;

	if (!task->process && task->parent == parent->pid)
		run_announce(run, task->tid,
			     process_fork(run, parent, task->tid, false));
}

static void
account_end(struct run *run, struct task *task, const struct event *event)
{
	if (task->tid == run->root) {
		run->root_ended = true;
		run->root_status = event->value;
		if (event->kind == EVENT_KILLED) {
			run->root_signal = event->value;
			run->root_status = 128 + event->value;
		}
		notice_typed();
	}
	/* Killed in the middle of a fork it made no event of it. */
	if (task->process->ntasks == 1)
		task_each(run, task_adopt, task->process);
	task_free(run, task);
}

void
run_account(struct run *run, struct task *task, const struct event *event)
{
	switch (event->kind) {
	case EVENT_CLONE:
	case EVENT_FORK:
	case EVENT_VFORK:
		account_new(run, task, event);
		break;
	case EVENT_VFORK_DONE:
		task->vforking = false;
		break;
	case EVENT_EXEC:
		account_exec(run, task);
		break;
	case EVENT_EXITED:
	case EVENT_KILLED:
		account_end(run, task, event);
		break;
	default:
		break;
	}
}
