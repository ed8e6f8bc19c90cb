/*
 * Enters events into the tables: new threads and processes, exec, ends; takes
 * out of them what has ended.  Never resumes a task, and plants nothing new.
 */
#include "monitor/account.h"

#include <signal.h>
#include <stdlib.h>

#include "monitor/client/slow.h"
#include "monitor/patch/catch_up.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/patch/tamper.h"
#include "monitor/process/actions.h"
#include "monitor/process/affinity.h"
#include "monitor/process/client.h"
#include "monitor/process/clones.h"
#include "monitor/process/events.h"
#include "monitor/process/faults.h"
#include "monitor/process/notice.h"
#include "monitor/process/owners.h"
#include "monitor/process/records.h"
#include "monitor/process/restart.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_pages.h"
#include "monitor/process/trap_mask.h"
#include "monitor/run.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/unwind/stack.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/stamp.h"

/* ---- out of the tables */

void
space_drop(struct run *run, struct space *space)
{
	if (!space || --space->refs)
		return;
	thread_pages_close(run, space);
	for (size_t i = 0; i < space->nmodules; i++)
		module_drop(space->modules[i]);
	run->host->mem_close(space->mem);
	stack_close(space->stack);
	free(space->own_thread_reg);
	free(space->modules);
	free(space->vacated);
	free(space->own);
	free(space->lasting);
	free(space);
}

/* Remove the process, which has no tasks left, and drop its space. */
static void
process_free(struct run *run, struct process *process)
{
	struct process **at = &run->processes;

	must(!process->ntasks);
	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	space_drop(run, process->space);
	actions_drop(process->actions);
	free(process);
}

void
task_free(struct run *run, struct task *task)
{
	struct process *process = task->process;

	task_remove(run, task);
	run_unqueue(run, task->tid);
	affinity_ended(run, task);
	abnormal_free(task);
	relocated_contexts_clear(task);
	faults_clear(task);
	restart_free(task);
	free(task);
	if (process && --process->ntasks == 0)
		process_free(run, process);
}

static void
task_drop(struct run *run, struct task *task, void *ctx)
{
	task_free(run, task);
}

void
tasks_free(struct run *run)
{
	task_each(run, task_drop, NULL);
}

/* ---- into the tables */

void
run_announce(struct run *run, pid_t tid, struct process *process)
{
	struct task *task = task_find(run, tid);

	run->nthreads++;
	if (task) {
		task->process = process;
		process->ntasks++;
		if (task->has_first_event)
			run_requeue(run, &task->first_event);
		task->has_first_event = false;
	} else {
		task = task_new(run, tid, process);
	}
	client_began(run, task);
}

/*
 * The clone flags of the call by which the task made a child.  The event's kind
 * does not tell: a clone that shares the memory may be reported as a fork.  But
 * of a task that was killed nothing else is known.
 */
static uint64_t
clone_flags(struct run *run, struct task *task, enum event_kind kind)
{
	const struct abi *abi = run->abi;
	uint64_t flags = 0;
	struct regs regs;
	/* What the kernel's event says, if the call cannot be read. */
	uint64_t told = kind == EVENT_CLONE ? CLONE_VM | CLONE_THREAD : 0;
	int nr;

	if (run->host->regs_get(task->tid, &regs))
		return told;
	nr = (int)regs.r[abi->reg_orig];
	if (nr == abi->nr_vfork)
		return CLONE_VM | CLONE_VFORK;
	if (nr == abi->nr_clone)
		return regs.r[abi->reg_arg[0]];
	if (nr == abi->nr_clone3 &&
	    run->host->data_read(task->tid, regs.r[abi->reg_arg[0]], &flags,
				 sizeof(flags)))
		return told;
	return flags;
}

/*
 * Enter the process that maker made.  Its memory may lack the extensions from
 * number `since` on, those made since maker last ran.
 */
static struct process *
process_fork(struct run *run, const struct task *maker, pid_t pid,
	     uint64_t flags, uint64_t since)
{
	const struct process *parent = maker->process;
	struct space *space = parent->space;
	struct process *process;

	if (space && flags & CLONE_VM) {
		space_ref(space);
	} else if (space) {
		space = space_copy(space, run->host->mem_open(pid), since);
		space->stack = stack_copy(space_stack(run, parent->space));
		space_catch_up(run, space, pid, since);
	}
	process = process_new(run, pid, space);
	process->maker = parent->pid;
	process->counted = parent->counted && run->opts->follow == FOLLOW_ALL;
	process->planted = parent->planted;
	process->actions = actions_child(parent->actions, flags);
	return process;
}

/*
 * Enter a child that no event announced, of a process that the task `maker` is
 * or was of.  Which task made it, and when that last ran, is not known.
 */
static void
child_adopt(struct run *run, pid_t tid, const struct task *maker)
{
	struct task *task;

	run_announce(run, tid, process_fork(run, maker, tid, 0, 0));
	task = task_find(run, tid);
	client_forked(run, maker, task);
	owner_note(run, task, maker);
	task->born = true;
}

/* The maker's process ends: adopt its child if no event announced that. */
static void
task_adopt(struct run *run, struct task *task, void *ctx)
{
	const struct task *maker = ctx;

	if (!task->process && task->parent == maker->process->pid)
		child_adopt(run, task->tid, maker);
}

/*
 * The survivor's exec has killed the other tasks of the process, perhaps within a
 * fork: adopt their children that no event announced.  Some may not have
 * stopped yet.
 */
static void
exec_adopt(struct run *run, const struct task *survivor)
{
	pid_t *pids = NULL;
	size_t n = 0;

	if (!run->host->native ||
	    run->host->native->children(survivor->tid, &pids, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct task *task = task_find(run, pids[i]);

		if (!(task && task->process) && !run->host->zombie(pids[i]))
			child_adopt(run, pids[i], survivor);
	}
	free(pids);
}

static void
exec_other(struct run *run, struct task *task, void *survivor)
{
	const struct task *self = survivor;

	if (task != self && task->process == self->process) {
		thread_pages_end(run, task);
		client_ended(run, task, TASK_REPLACED);
		task_free(run, task);
	}
}

static void
account_exec(struct run *run, struct task *task, const struct event *event)
{
	struct process *process = task->process;

	if (run->host->native)
		run->host->native->renewed(task->tid);
	if (event->value != event->tid)
		exec_adopt(run, task);
	abnormal_exec(run, task);
	thread_pages_end(run, task);
	task_each(run, exec_other, task);
	space_drop(run, process->space);
	process->space = space_new(run->host->mem_open(task->tid));
	process->planted = false;
	task->vforking = false;
	task->exiting = false;
	task->walked = task->present = false;
	task->vforked = false;
	task->redo.state = REDO_NONE;
	task->mapping.nr = 0;
	relocated_contexts_clear(task);
	faults_clear(task);
	actions_exec(run, task);
	trap_mask_look(run, task);
	if (task->tid == run->root.tid)
		run->root.started = true;
	client_execed(run, task);
}

/*
 * A child of the process that ended last has another parent by now, one that
 * pmon does not follow.
 */
void
run_adopt(struct run *run, struct task *task)
{
	const struct process *process = run->processes;

	while (process && process->pid != task->parent)
		process = process->next;
	if (task->parent && !process && !task_find(run, task->parent) &&
	    run->departed)
		child_adopt(run, task->tid, run->departed);
}

void
account_close(struct run *run)
{
	if (!run->departed)
		return;
	space_drop(run, run->departed->process->space);
	actions_drop(run->departed->process->actions);
	free(run->departed->process);
	free(run->departed);
	run->departed = NULL;
}

/*
 * A task that was killed within a fork reports no EVENT_FORK, and its child's
 * first stop may come later: keep what process_fork needs of the maker.
 */
static void
task_depart(struct run *run, const struct task *task)
{
	struct process *process = task->process;

	account_close(run);
	if (!process->space)
		return;
	space_ref(process->space);
	run->departed = mem_alloc(sizeof(*run->departed));
	run->departed->process = mem_alloc(sizeof(*process));
	*run->departed->process = *process;
	actions_ref(process->actions);
	run->departed->tid = task->tid;
	run->departed->counter_set = task->counter_set;
}

static void
account_end(struct run *run, struct task *task, const struct event *event)
{
	if (task->tid == run->root.tid) {
		run->root.ended = true;
		run->root.status = event->value;
		if (event->kind == EVENT_KILLED) {
			run->root.signal = event->value;
			run->root.status = 128 + event->value;
		}
		notice_typed();
	}
	abnormal_unseen(run, task);
	thread_pages_end(run, task);
	if (task->process->ntasks == 1) {
		task_each(run, task_adopt, task);
		if (event->kind == EVENT_KILLED)
			task_depart(run, task);
	}
	if (!task->released)
		client_ended(run, task, TASK_EXITED);
	task_free(run, task);
}

/*
 * Has a child that is announced only now ended?  Then its end went unheeded, as
 * that of some unknown task did.
 */
static bool
child_ended(struct run *run, pid_t tid)
{
	return run->unheeded && run->host->native && !task_find(run, tid) &&
	       (run->host->native->send(tid, 0) || run->host->zombie(tid));
}

static void
account_new(struct run *run, struct task *task, const struct event *event)
{
	uint64_t flags = clone_flags(run, task, event->kind);
	struct process *process = task->process;
	struct task *child;
	bool ended;

	task->vforking = event->kind == EVENT_VFORK;
	if (task->vforking)
		abnormal_waits(run, task);
	if (!event->value)
		return;
	ended = child_ended(run, event->value);
	if (!(flags & CLONE_THREAD))
		process = process_fork(run, task, event->value, flags,
				       task->extended);
	run_announce(run, event->value, process);
	child = task_find(run, event->value);
	if (process != task->process)
		client_forked(run, task, child);
	owner_note(run, child, task);
	child->vforked = task->vforking;
	child->born = true;
	clones_made(task, child);
	/* A handler may make a child before its maker's call is made. */
	if (!(flags & CLONE_THREAD)) {
		child->mapping.nr = task->mapping.nr;
		child->mapping.sp = task->mapping.sp;
	}
	if (!(flags & CLONE_VM))
		relocated_inherit(child, task);
	if (run->host->reg_get(task->tid, run->arch->reg_sp, &child->maker_sp))
		child->maker_sp = 0;
	if (ended)
		account_end(run, child,
			    &(struct event){
				    EVENT_KILLED,
				    child->tid,
				    SIGKILL,
			    });
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
		account_exec(run, task, event);
		break;
	case EVENT_EXITED:
	case EVENT_KILLED:
		account_end(run, task, event);
		break;
	default:
		break;
	}
}

/* ---- as the host tells of them */

/* The task, which the tables may not have, has stopped. */
static void
task_stopped(struct run *run, struct task *task, const struct event *event)
{
	uint64_t stamp = stamp_now();

	stop_begin(run, task, event);
	if (task && client_records(run))
		client_stopped(run, task, stamp, records_take(run, task));
}

/* A task is about to end, perhaps not yet announced: let it go at once. */
static void
task_exiting(struct run *run, struct task *task, const struct event *event)
{
	task_stopped(run, task, event);
	if (!task) {
		run->host->resume(event->tid, RESUME_END, 0);
		return;
	}
	task->exiting = true;
	abnormal_end(run, task);
	tamper_check(run, task);
	thread_pages_end(run, task);
	slow_ending(run, task);
	task->state = TASK_RUNNING;
	task_resume(run, task, RESUME_END, 0);
}

bool
event_receive(struct run *run, const struct event *event)
{
	struct task *task = task_find(run, event->tid);
	bool ended = event->kind == EVENT_EXITED || event->kind == EVENT_KILLED;

	if (event->kind == EVENT_EXITING) {
		task_exiting(run, task, event);
		return false;
	}
	if (event->kind == EVENT_EXEC && event->value != event->tid) {
		/* The leader whose id it took may be long gone. */
		struct task *old = task_find(run, event->value);

		if (task) {
			queue_void(run, task);
		} else if (old) {
			task = task_new(run, event->tid, old->process);
			client_began(run, task);
		}
		if (old) {
			abnormal_hand_over(old, task);
			thread_pages_end(run, old);
			client_ended(run, old, TASK_REPLACED);
			task_free(run, old);
		}
	}
	if (ended && (!task || !task->process)) {
		run->unheeded = true;
		if (task)
			task_free(run, task);
		return false;
	}
	/* A child can stop before its parent's event announces it. */
	if (!task) {
		task = task_new(run, event->tid, NULL);
		if (run->host->native)
			task->parent = run->host->native->parent(event->tid);
	}
	if (!ended)
		task->hit.slotted = false;
	task->state = ended ? TASK_DEAD : TASK_STOPPED;
	if (!ended && event->kind != EVENT_CLONE && event->kind != EVENT_FORK &&
	    event->kind != EVENT_VFORK)
		task->extended = run->extended;
	task->group_stopped = event->kind == EVENT_STOPPED;
	task->entering = event->kind == EVENT_SYSCALL_ENTRY;
	if (!ended)
		task_stopped(run, task, event);
	if (task->process)
		return true;
	task->first_event = *event;
	task->has_first_event = true;
	run_adopt(run, task);
	if (!task->process)
		return false;
	run_unqueue(run, task->tid);
	return true;
}
