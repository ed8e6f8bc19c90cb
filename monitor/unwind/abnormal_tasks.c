/*
 * The frames of whole tasks: those of tasks that are born, end, are attached to
 * or let go, or stand still to be looked at.  Takes each task to where it would
 * be without pmon, and walks its stack.  Never handles a hook, and never tells
 * clients of a frame itself: abnormal.c does.
 */
#include <signal.h>

#include "monitor/patch/contexts.h"
#include "monitor/patch/hit.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/patch/springs.h"
#include "monitor/patch/tamper.h"
#include "monitor/patch/unreported.h"
#include "monitor/process/events.h"
#include "monitor/process/restart.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_pages.h"
#include "monitor/run.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/unwind/shallow.h"
#include "monitor/unwind/stack_switch.h"
#include "util/mem.h"

/*
 * Take a task to before a trap that it has not reported yet: it has not begun
 * the instruction there.
 */
static void
task_rewind(struct run *run, struct task *task)
{
	struct event *event = run_queued(run, task);
	uint64_t pc;

	switch (trap_unreported(run, task)) {
	case UNREPORTED_PERHAPS:
		space_underivable(
			run, task->process->space, REASON_UNDERIVABLE,
			"a thread ended at an instruction that may not have "
			"run");
		break;
	case UNREPORTED_TRAP:
		/* It has run on, even if to the same place. */
		abnormal_passed(run, task, 0);
		/* fallthrough */
	case UNREPORTED_UNDONE:
		if (event && event->kind == EVENT_TRAP)
			event->kind = EVENT_PAUSED;
		break;
	case UNREPORTED_NOTHING:
		break;
	}
	patch_signal(run, task, 0);
	if (!run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		abnormal_passed(run, task, pc);
}

static uint64_t
task_sp(struct run *run, const struct task *task)
{
	uint64_t sp;

	return run->host->reg_get(task->tid, run->arch->reg_sp, &sp) ? 0 : sp;
}

/*
 * Put a task that is in a relocated function to where it would be in the
 * original.  At its last stop a task cannot run to a place where that is clear:
 * what has been counted but not begun is taken back.
 */
static void
task_place(struct run *run, struct task *task)
{
	struct position position;
	bool faulted;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	    !relocated_task_position(run, task, pc, &position))
		return;
	if (run->host->reg_set(task->tid, run->arch->reg_pc, position.va))
		return;
	/* An instruction that faulted has begun. */
	faulted = task->fault_va == pc;
	task->fault_va = position.during || faulted ? position.va : 0;
	if (position.ahead && !faulted)
		relocated_ahead(run, task, position.va, task_sp(run, task),
				true);
}

/*
 * The frames of a stopped task; only the innermost if stacks are not walked.
 * Returns 0 or HOST_GONE.
 */
static int
task_stack_switch(struct run *run, const struct task *task, bool came,
		  struct stack_switch *stack_switch)
{
	if (!run->host->native)
		return shallow_frame(run, task, came, stack_switch);
	return stack_switch_all(space_stack(run, task->process->space),
				task->tid, came, stack_switch);
}

/* Enter the task's frames.  0 or HOST_GONE. */
static int
task_frames(struct run *run, struct task *task, enum presence how)
{
	struct stack_switch stack_switch = { 0 };
	int err = task_stack_switch(run, task, false, &stack_switch);

	if (!err)
		stack_switch_enter(run, task, &stack_switch, how);
	stack_switch_free(&stack_switch);
	return err;
}

void
abnormal_waits(struct run *run, struct task *task)
{
	struct stack_switch stack_switch = { 0 };
	struct position position;
	uint64_t pc;

	task_switch_free(&task->waits);
	if (!task_abnormals(run, task))
		return;
	/* The call may have run in a slot or a relocated function. */
	patch_signal(run, task, 0);
	pc = task_pc(run, task);
	if (relocated_task_position(run, task, pc, &position))
		run->host->reg_set(task->tid, run->arch->reg_pc, position.va);
	task_stack_switch(run, task, false, &stack_switch);
	run->host->reg_set(task->tid, run->arch->reg_pc, pc);
	task->waits = mem_alloc(sizeof(*task->waits));
	*task->waits = stack_switch;
}

void
abnormal_end(struct run *run, struct task *task)
{
	if (task->walked || task->present || !task_infers(task))
		return;
	task->walked = true;
	/* Killed before its first stop was handled, it leaves no frames. */
	if (task->born)
		return;
	task_rewind(run, task);
	relocated_unreturn(run, task);
	task_place(run, task);
	/* A SIGKILL ends even a last stop. */
	task->walked = !task_frames(run, task, PRESENT);
}

void
abnormal_unseen(struct run *run, struct task *task)
{
	/* See abnormal_end. */
	if (task->walked || task->present || task->born || !task_infers(task))
		return;
	hit_unseen(run, task);
	space_underivable(run, task->process->space, REASON_UNDERIVABLE,
			  "a thread ended at an unknown instruction");
}

void
abnormal_birth(struct run *run, struct task *task)
{
	struct stack_switch stack_switch = { 0 };
	uint64_t sp = task->maker_sp;

	if (!sp && run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		sp = 0;
	if (task_abnormals(run, task)) {
		/* The call that made it may have run in a slot. */
		patch_signal(run, task, 0);
		/* A task killed here is not seen to come, nor to leave. */
		if (stack_switch_birth(space_stack(run, task->process->space),
				       task->tid, sp, &stack_switch))
			return;
	}
	task->born = false;
	stack_switch_enter(run, task, &stack_switch, PRESENT);
	stack_switch_free(&stack_switch);
}

/*
 * Take a task that is behind the prefix of an atomic instruction back to the
 * prefix: no graph has the place in between, and there may be a trap or a patch
 * across it.
 */
static void
task_unskip(struct run *run, struct task *task, void *process)
{
	uint64_t pc = task_pc(run, task);
	const struct cfg *cfg;
	const uint8_t *code;
	struct code_at at;
	size_t avail;

	if (task->process != process || task->state != TASK_STOPPED ||
	    !run->arch->locked)
		return;
	at = code_at(task->process->space, pc);
	if (!at.fplan || !at.fplan->units ||
	    !plan_graph(at.module->plan, at.index))
		return;
	cfg = at.module->plan->fplans[at.index].cfg;
	code = image_text(at.module->plan->image, at.addr - 1, &avail);
	if (cfg_insn(cfg, at.addr) < 0 && cfg_insn(cfg, at.addr - 1) >= 0 &&
	    code && run->arch->locked(code, avail))
		run->host->reg_set(task->tid, run->arch->reg_pc, pc - 1);
}

static void
frames_come(struct run *run, struct task *task, void *process)
{
	struct space *space = task->process ? task->process->space : NULL;
	struct stack_switch stack_switch = { 0 };
	struct signal_state state;
	bool ready;
	int err;

	if (task->process != process || task->state != TASK_STOPPED)
		return;
	/* It has begun the call that it is to repeat. */
	ready = restart_unready(run, task);
	err = task_stack_switch(run, task, true, &stack_switch);
	if (ready)
		restart_ready(run, task);
	if (err)
		return;
	/* A signal may have interrupted an unknown frame anywhere. */
	if (stack_switch.unknown && !run->host->signals(task->tid, &state) &&
	    state.caught && !contexts_excluded(run, task))
		space_underivable(run, space, REASON_ATTACHED,
				  stack_switch.unknown);
	stack_switch_enter(run, task, &stack_switch, PRESENT);
	/*
	 * Unknown frames come back to the code behind calls, where patches
	 * begin, or are interrupted by signals: see contexts.h.
	 */
	for (size_t i = 0; stack_switch.unknown && i < space->nmodules; i++)
		plan_miss(space->modules[i]->plan);
	stack_switch_free(&stack_switch);
}

static void
task_begin(struct run *run, struct task *task, void *process)
{
	if (task->process != process || task->state != TASK_STOPPED)
		return;
	relocated_begin(run, task);
	hit_again(run, task);
}

void
abnormal_attach(struct run *run, struct process *process)
{
	if (!space_known(process->space))
		return;
	task_each(run, task_unskip, process);
	/*
	 * Where calls alone are counted nothing is derived from frames, and
	 * none is in the way of a patch: a call comes back to an instruction
	 * that is entered.
	 */
	if (!space_infers(process->space))
		return;
	for (size_t i = 0; i < process->space->nmodules; i++)
		process->space->modules[i]->plan->attached = true;
	task_each(run, frames_come, process);
}

void
abnormal_begin(struct run *run, struct process *process)
{
	if (!space_known(process->space))
		return;
	task_each(run, task_begin, process);
	if (run->host->native)
		contexts_find(run, process);
}

/* Take the task to where it would be without pmon. */
static void
task_displace(struct run *run, struct task *task)
{
	task_rewind(run, task);
	relocated_unreturn(run, task);
	task->moved = relocated_leave(run, task);
	if (task->moved && task->fault_va != task_pc(run, task))
		relocated_ahead(run, task, task_pc(run, task),
				task_sp(run, task), true);
	else if (!task->moved)
		task_place(run, task);
}

/* Take it back to where it was. */
static void
task_put_back(struct run *run, struct task *task)
{
	struct context_change change;

	if (task->unreturned)
		relocated_sigreturn(run, task, task->sigreturn.hook, &change);
	if (!task->moved)
		return;
	if (task->fault_va != task_pc(run, task))
		relocated_ahead(run, task, task_pc(run, task),
				task_sp(run, task), false);
	relocated_return(run, task);
}

/* Enter a stopped task's frames.  0, or HOST_GONE: it was killed meanwhile. */
static int
frames_enter(struct run *run, struct task *task, enum presence how)
{
	int err;

	if (how == PRESENT)
		task_displace(run, task);
	err = task_frames(run, task, how);
	if (how != PRESENT)
		task_put_back(run, task);
	return err;
}

/*
 * A task whose frames were not entered enters them at its last stop; one whose
 * frames could not be taken back does not leave them again.
 */
static void
frames_leave(struct run *run, struct task *task, void *ctx)
{
	const enum presence *how = ctx;
	int err = 0;

	if (!task_abnormals(run, task) || task->walked || task->born ||
	    task->present != (*how != PRESENT))
		return;
	if (task->state == TASK_STOPPED)
		err = frames_enter(run, task, *how);
	else if (task->vforking && task->state == TASK_RUNNING && task->waits)
		stack_switch_enter(run, task, task->waits, *how);
	else
		return;
	task->present = (*how == PRESENT) == !err;
}

/*
 * Check and drain a task's counters, even if nothing is derived in its space; of
 * one that waits for its vfork child, only drain them.
 */
static void
thread_page_look(struct run *run, struct task *task, void *ctx)
{
	if (task->state == TASK_STOPPED)
		tamper_check(run, task);
	if (task->state == TASK_STOPPED || task->vforking)
		thread_pages_drain(run, task);
}

/*
 * Whether the task may have run into a trap and not have reported that yet.  If
 * its process was stopped, other signals must be left alone.
 */
static bool
trap_pends(struct run *run, const struct task *task, bool stopped)
{
	struct signal_state state;
	struct code_at at;
	struct hit hit;

	if (run->host->signals(task->tid, &state))
		return false;
	state.pending &= ~state.blocked;
	if (signals_have(state.pending, SIGTRAP))
		return !stopped || hit_before(run, task, &hit) ||
		       spring_before(run, task, SIGTRAP, &at) ||
		       relocated_full(run, task);
	return signals_have(state.pending, SIGILL) &&
	       spring_before(run, task, SIGILL, &at);
}

/*
 * A task that was paused just when it ran into a trap has not reported that
 * yet; let go like that, it would die of the signal.  Let it run until it
 * reports the trap.  If its process was stopped, it must not go on: it is taken
 * back to the trap and stopped again.
 */
static void
trap_flush(struct run *run, struct task *task, void *ctx)
{
	const struct event *queued = run_queued(run, task);
	bool stopped = queued && queued->kind == EVENT_STOPPED;
	struct event event;

	if (!queued || (queued->kind != EVENT_PAUSED && !stopped) ||
	    !trap_pends(run, task, stopped) ||
	    task_resume(run, task, RESUME_RUN, 0))
		return;
	run_unqueue(run, task->tid);
	run_wait_task(run, task, &event);
	if (stopped && patch_rewind(run, task, &event) &&
	    !task_interrupt(run, task, STOP_GROUP) &&
	    !task_resume(run, task, RESUME_RUN, 0))
		run_wait_task(run, task, &event);
	run_requeue(run, &event);
}

void
abnormal_present(struct run *run, enum presence how)
{
	if (how == PRESENT)
		task_each(run, trap_flush, NULL);
	task_each(run, frames_leave, &how);
	if (how == PRESENT) {
		task_each(run, thread_page_look, NULL);
		client_stood(run);
	}
}
