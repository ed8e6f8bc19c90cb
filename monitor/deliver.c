/*
 * Delivers signals to the program.  First moves the task out of slots and
 * relocated functions, so that its handler finds the pc that it would find
 * without pmon, and sees to it that the task comes back when the handler
 * returns.  With --no-traps the task stays in its relocated function.  Never
 * counts a hit.
 */
#include "monitor/deliver.h"

#include <signal.h>

#include "monitor/death.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/process/actions.h"
#include "monitor/process/events.h"
#include "monitor/process/faults.h"
#include "monitor/process/restart.h"
#include "monitor/process/signals.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/process/trap_mask.h"
#include "monitor/unwind/abnormal.h"

/* Note where the program gets the signal: shallow_event sees its effect. */
static void
signal_note(struct run *run, struct task *task, int signal)
{
	if (run->host->native || !signal ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &task->signal_va))
		return;
	task->signal = signal;
}

/* The task is about to get the signal: enter what it has done before. */
static void
signal_comes(struct run *run, struct task *task, int signal)
{
	uint64_t pc;

	if (patch_signal(run, task, signal) && signal &&
	    !run->host->reg_get(task->tid, run->arch->reg_pc, &pc)) {
		/* A stack switch that was done came before the fault. */
		abnormal_passed(run, task, pc);
		fault_note(run, task, signal, pc);
	}
	signal_note(run, task, signal);
}

/*
 * Let the task into its handler, and note where that returns to.  The calls that
 * set actions do not tell: few of them trap.
 */
static void
signal_learn(struct run *run, struct task *task, int signal)
{
	uint64_t sp, va;

	if (!signal_enter(run, task, signal))
		return;
	if (!run->host->reg_get(task->tid, run->arch->reg_sp, &sp) &&
	    !run->host->data_read(task->tid, sp, &va, sizeof(va)) &&
	    actions_return(task, va))
		relocated_restorer(run, task, va);
	run_resume(run, task, 0);
}

/* alone: the handler is SIGTRAP's, and the task's space stands still for it. */
static void
signal_deliver(struct run *run, struct task *task, int signal, bool alone)
{
	bool left = false, stays = false, watch = false, learn = false;
	uint64_t va;

	signal_comes(run, task, signal);
	death_forget(run, task);
	if (!run->host->native || !task->process->space) {
		/* The host delivers it as it is. */
	} else if (!signal_caught(run, task, signal)) {
		death_note(run, task, signal);
	} else {
		action_deliver(task, signal);
		fault_interrupts(task->process->space, task_pc(run, task));
		/* Then the handler may return to the instruction. */
		if (task->redo.state == REDO_RETURNED)
			task->redo.state = REDO_HANDLER;
		relocated_land(run, task);
		/* To come back, the handler would have to run into a trap. */
		if (run->opts->no_traps)
			stays = relocated_bring_original(run, task, &va);
		else
			left = relocated_leave(run, task);
		/*
		 * The handler may lead the task elsewhere.  pmon could see a
		 * handler of SIGTRAP return only by a trap with SIGTRAP
		 * blocked.  After an exec there is no handler.
		 */
		watch = left || (signal != SIGTRAP && !run_queued(run, task) &&
				 space_infers(task->process->space));
		learn = !alone && !run_queued(run, task) &&
			trap_mask_matters(run) && actions_unreturned(task);
	}
	fault_record(run, task);
	if (watch)
		relocated_signal(run, task, signal, left);
	else if (stays)
		relocated_signal_in(run, task, signal, va);
	else if (learn)
		signal_learn(run, task, signal);
	else if (!alone)
		run_resume(run, task, signal);
	else if (signal_enter(run, task, SIGTRAP))
		run_resume(run, task, 0);
}

void
task_deliver(struct run *run, struct task *task, int signal)
{
	signal_deliver(run, task, signal, false);
}

/*
 * There are traps of pmon's in the program's handler of SIGTRAP, which runs
 * with SIGTRAP blocked: at such a trap the kernel would reset the handler.
 * Where sigtrap_mend cannot restore it, let the task into the handler and
 * unblock SIGTRAP there; the return from the handler restores the mask.
 */
static void
trap_deliver_open(struct run *run, struct task *task)
{
	struct signal_state state;

	signal_comes(run, task, SIGTRAP);
	action_deliver(task, SIGTRAP);
	fault_record(run, task);
	fault_interrupts(task->process->space, task_pc(run, task));
	if (!signal_enter(run, task, SIGTRAP))
		return;
	if (!run->host->signals(task->tid, &state))
		run->host->mask_set(task->tid,
				    state.blocked &
					    ~(UINT64_C(1) << (SIGTRAP - 1)),
				    NULL);
	run_resume(run, task, 0);
}

void
trap_deliver(struct run *run, struct task *task, int signal)
{
	bool caught;

	if (signal == SIGTRAP && sigtrap_restore(run, task))
		return;
	/* If it was forced upon the task it ends the task even so. */
	if (signal == SIGTRAP && sigtrap_ignores(task) &&
	    run->host->trap_cause(task->tid) == TRAP_SENT) {
		restart_call(run, task, true);
		signal = 0;
	} else {
		restart_signal(run, task, signal);
	}
	caught = signal == SIGTRAP && signal_caught(run, task, signal);
	if (signal == SIGTRAP && !caught && trap_mask_ended(run) &&
	    run->host->trap_cause(task->tid) == TRAP_SENT)
		run_remark(run,
			   "process %d was sent SIGTRAP, which it may have "
			   "blocked: pmon has ceased to follow that, after "
			   "many calls that set the signal mask",
			   (int)task->process->pid);
	task->hit.open = false;
	if (caught && !sigtrap_mends(run, task))
		trap_deliver_open(run, task);
	else
		signal_deliver(run, task, signal,
			       caught && task->process->actions);
}
