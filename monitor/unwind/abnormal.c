/*
 * Counts abnormal edges: control that leaves functions, or comes into them,
 * over no edge of their graphs (Ball & Larus 1994, section 3.2).  Says which
 * spaces need hooks where stacks are left, handles those hooks, walks the
 * stacks of tasks that are born, end, exec, or are attached to or let go, and
 * enters the frames in the counter sets of their plans.  What it cannot find
 * out, it marks as underivable.
 */
#include <signal.h>
#include <stdlib.h>

#include "monitor/patch/refuse.h"
#include "monitor/process/space.h"
#include "monitor/process/thread_pages.h"
#include "monitor/process/clones.h"
#include "monitor/patch/contexts.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/extend.h"
#include "monitor/process/faults.h"
#include "monitor/patch/hit.h"
#include "monitor/process/events.h"
#include "monitor/unwind/shallow.h"
#include "monitor/patch/linker.h"
#include "monitor/patch/patch.h"
#include "monitor/run.h"
#include "monitor/process/sigtrap.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/process/client.h"
#include "monitor/patch/tamper.h"
#include "monitor/process/task.h"
#include "monitor/unwind/stack_switch.h"
#include "monitor/patch/unreported.h"
#include "util/mem.h"

static struct stack *
space_stack(struct run *run, struct space *space)
{
	if (!space->stack)
		space->stack = stack_open(run->host, run->arch);
	return space->stack;
}

/* ---- entering frame edges */

/* Count a function that has a live frame from now on. */
static void
fplan_wake(struct run *run, struct plan *plan, uint32_t fplan)
{
	if (plan->fplans[fplan].state != FPLAN_WAITING ||
	    !plan->fplans[fplan].units || plan->fplans[fplan].guest)
		return;
	plan_ready(plan, fplan);
	plan_extended(run, plan);
}

/* If the instruction faulted, it has begun: control leaves during it. */
static struct frame_edge
frame_edge_faulted(const struct module *module, const struct task *task,
		   const struct frame_edge *frame_edge)
{
	const struct image *image = module->plan->image;
	struct frame_edge faulted = *frame_edge;
	const uint8_t *code;
	struct insn insn;
	size_t avail;

	if (frame_edge->during || frame_edge->came ||
	    !fault_left(task, frame_edge->va, frame_edge->sp))
		return faulted;
	code = image_text(image, frame_edge->va - module->bias, &avail);
	if (code && !image->arch->decode(code, avail, frame_edge->va, &insn)) {
		faulted.during = true;
		faulted.va += insn.len;
	}
	return faulted;
}

/*
 * The function that a frame edge is in, or FPLAN_NONE, and its module.  If
 * control comes back to the function, it is counted from now on.
 */
static uint32_t
frame_edge_fplan(struct run *run, const struct task *task,
		 const struct frame_edge *at, struct module **module)
{
	const struct space *space = task->process->space;
	struct code_at code = code_at(space, at->va - (at->during ? 1 : 0));

	*module = code.module;
	if (code.fplan && at->came && space_known(space))
		fplan_wake(run, code.module->plan, code.index);
	return code.index;
}

/*
 * Whether control arrives at addr by coming back from a call (setjmp,
 * swapcontext).  If not, the instruction there is the first of a handler that
 * is in no table of landing pads.
 */
static bool
arrival_returns(struct plan *plan, uint32_t fplan, uint64_t addr)
{
	const struct insn *last;
	const struct cfg *cfg;
	size_t next;

	if (!plan_graph(plan, fplan))
		return true;
	cfg = plan->fplans[fplan].cfg;
	next = cfg_insn_from(cfg, addr);
	if (!next)
		return false;
	last = &cfg->insns[next - 1];
	return last->addr + last->len == addr && insn_comes_back(last);
}

static void
frame_edge_enter(struct run *run, const struct task *task,
		 const struct frame_edge *at, enum presence how)
{
	struct module *module;
	uint32_t fplan = frame_edge_fplan(run, task, at, &module);
	struct frame_edge faulted, *frame_edge = &faulted;
	struct abnormal_edge edge;
	struct plan *plan;
	uint64_t addr;

	if (fplan == FPLAN_NONE || !plan_infers(module->plan) ||
	    (at->arrived && frame_edge_counted(at, module->plan->image,
					       module->bias)))
		return;
	plan = module->plan;
	faulted = frame_edge_faulted(module, task, at);
	addr = frame_edge->va - module->bias;
	if (frame_edge->arrived && frame_edge->during)
		frame_edge->during = arrival_returns(plan, fplan, addr);
	edge = (struct abnormal_edge){
		.addr = addr, .during = frame_edge->during,
	};
	if (frame_edge->came || how == PRESENT_ANEW)
		edge.came = 1;
	else
		edge.left = how == PRESENT_NOT ? UINT64_MAX : 1;
	client_abnormal(run, task, plan, &edge);
}

static void
stack_switch_wake(struct run *run, const struct task *task,
		  const struct stack_switch *stack_switch)
{
	struct module *module;

	for (size_t i = 0; i < stack_switch->n; i++)
		frame_edge_fplan(run, task, &stack_switch->frame_edges[i],
				 &module);
}

static void
stack_switch_enter(struct run *run, const struct task *task,
		   const struct stack_switch *stack_switch, enum presence how)
{
	if (stack_switch->unknown)
		space_calls_underivable(run, task->process->space,
					stack_switch->reason,
					stack_switch->unknown);
	for (size_t i = 0; i < stack_switch->n; i++)
		frame_edge_enter(run, task, &stack_switch->frame_edges[i], how);
}

void
abnormal_enter(struct run *run, const struct task *task,
	       const struct stack_switch *stack_switch)
{
	if (space_infers(task->process->space))
		stack_switch_enter(run, task, stack_switch, PRESENT);
}

/* ---- stack switches */

/*
 * A stack switch that is about to happen.  A signal or the task's end may come
 * between the hook and the jump; and if nothing was done by then, the task will
 * come to the hook again.  So the frame edges are only entered when the task is
 * seen elsewhere.
 */
struct leaving {
	struct stack_switch stack_switch;
	uint64_t from, to;	/* done when the pc is behind the instruction at
				   `to` */
};

static void
leaving_forget(struct task *task)
{
	if (!task->leaving)
		return;
	stack_switch_free(&task->leaving->stack_switch);
	free(task->leaving);
	task->leaving = NULL;
}

void
abnormal_passed(struct run *run, struct task *task, uint64_t pc)
{
	const struct leaving *leaving = task->leaving;

	if (!leaving)
		return;
	if (pc != leaving->from) {
		stack_switch_enter(run, task, &leaving->stack_switch, PRESENT);
		/* In the middle of the switch no stack can be walked. */
		if (pc > leaving->from && pc <= leaving->to && task->exiting)
			run->host->regs_set(task->tid,
					    &leaving->stack_switch.after);
		else if (pc > leaving->from && pc <= leaving->to)
			space_underivable(run, task->process->space,
					  REASON_UNDERIVABLE,
					  "a signal came in the middle of a "
					  "stack switch");
	}
	leaving_forget(task);
}

/* ---- whole stacks */

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

/*
 * Put a task that is in a relocated function to where it would be in the
 * original.  At its last stop a task cannot run to a place where that is clear:
 * what has been counted but not begun is taken back.
 */
static void
task_place(struct run *run, struct task *task)
{
	struct position position;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	    !relocated_position(task->process->space, pc, &position))
		return;
	if (run->host->reg_set(task->tid, run->arch->reg_pc, position.va))
		return;
	task->fault_va = position.during ? position.va : 0;
	if (position.ahead)
		relocated_ahead(run, task, position.va, true);
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

static bool
task_infers(const struct task *task)
{
	return task->process && task->process->counted &&
	       space_infers(task->process->space);
}

static bool
task_abnormals(const struct run *run, const struct task *task)
{
	return !run->stopping && task_infers(task);
}

static void
waits_forget(struct task *task)
{
	if (!task->waits)
		return;
	stack_switch_free(task->waits);
	free(task->waits);
	task->waits = NULL;
}

void
abnormal_waits(struct run *run, struct task *task)
{
	struct stack_switch stack_switch = { 0 };
	struct position position;
	uint64_t pc;

	waits_forget(task);
	if (!task_abnormals(run, task))
		return;
	/* The call may have run in a slot or a relocated function. */
	patch_signal(run, task, 0);
	pc = task_pc(run, task);
	if (relocated_position(task->process->space, pc, &position))
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
	space_underivable(
		run, task->process->space, REASON_UNDERIVABLE,
		"a thread ended at an unknown instruction");
}

void
abnormal_birth(struct run *run, struct task *task)
{
	struct stack_switch stack_switch = { 0 };
	uint64_t sp = task->maker_sp;

	if (!sp)
		run->host->reg_get(task->tid, run->arch->reg_sp, &sp);
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

	if (task->process != process || task->state != TASK_STOPPED ||
	    task_stack_switch(run, task, true, &stack_switch))
		return;
	/* A signal may have interrupted an unknown frame anywhere. */
	if (stack_switch.unknown && !run->host->signals(task->tid, &state) &&
	    state.caught)
		space_underivable(run, space, REASON_ATTACHED,
				  stack_switch.unknown);
	stack_switch_enter(run, task, &stack_switch, PRESENT);
	/* The task may be in the middle of any function: relocate none. */
	for (size_t i = 0; stack_switch.unknown && i < space->nmodules; i++) {
		relocated_refuse(
			run, space->modules[i]->plan,
			"the functions active when pmon attached are not "
			"known");
		plan_miss(space->modules[i]->plan);
	}
	stack_switch_free(&stack_switch);
}

static void
task_begin(struct run *run, struct task *task, void *process)
{
	if (task->process == process && task->state == TASK_STOPPED)
		relocated_begin(run, task);
}

void
abnormal_attach(struct run *run, struct process *process)
{
	if (!space_known(process->space))
		return;
	task_each(run, task_unskip, process);
	if (!run->opts->no_traps)
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
		relocated_ahead(run, task, task_pc(run, task), true);
	else if (!task->moved)
		task_place(run, task);
}

/* Take it back to where it was. */
static void
task_put_back(struct run *run, struct task *task)
{
	if (task->unreturned)
		relocated_sigreturn(run, task, task->sigreturn.hook);
	if (!task->moved)
		return;
	if (task->fault_va != task_pc(run, task))
		relocated_ahead(run, task, task_pc(run, task), false);
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
 * Check and fold a task's counters, even if nothing is derived in its space; of
 * one that waits for its vfork child, only fold them.
 */
static void
thread_page_look(struct run *run, struct task *task, void *ctx)
{
	if (task->state == TASK_STOPPED)
		tamper_check(run, task);
	if (task->state == TASK_STOPPED || task->vforking)
		thread_pages_fold(run, task);
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
	struct signal_state state;
	struct event event;
	struct hit hit;

	if (!queued || (queued->kind != EVENT_PAUSED && !stopped) ||
	    run->host->signals(task->tid, &state) ||
	    !((state.pending & ~state.blocked) >> (SIGTRAP - 1) & 1) ||
	    (stopped && !hit_before(run, task, &hit)) ||
	    task_resume(run, task, RESUME_RUN, 0))
		return;
	run_unqueue(run, task->tid);
	run_wait_task(run, task, &event);
	if (stopped && event.kind == EVENT_TRAP && patch_forget(run, task) &&
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
	if (how == PRESENT)
		task_each(run, thread_page_look, NULL);
}

/* ---- exec */

static void
exec_forget(struct task *task)
{
	if (!task->exec)
		return;
	stack_switch_free(task->exec);
	free(task->exec);
	task->exec = NULL;
}

void
abnormal_forget(struct task *task)
{
	exec_forget(task);
	leaving_forget(task);
	waits_forget(task);
	free(task->entries);
}

void
abnormal_hand_over(struct task *from, struct task *to)
{
	exec_forget(to);
	to->exec = from->exec;
	from->exec = NULL;
}

void
abnormal_exec(struct run *run, struct task *task)
{
	/* On other hosts no call is taken to come back anyway. */
	if (!run->host->native)
		return;
	if (task_abnormals(run, task) && !task->exec)
		space_calls_underivable(run, task->process->space, REASON_LEFT,
					"pmon did not see an exec begin");
	else if (task_abnormals(run, task))
		stack_switch_enter(run, task, task->exec, PRESENT);
	exec_forget(task);
}

static void
exec_prepare(struct run *run, struct task *task, const struct regs *regs)
{
	struct stack_switch stack_switch = { 0 };
	uint64_t after = regs->r[run->arch->reg_pc] + run->arch->syscall_len;

	if (stack_switch_exec(space_stack(run, task->process->space), task->tid,
			      regs, after, &stack_switch))
		return;
	exec_forget(task);
	task->exec = mem_alloc(sizeof(*task->exec));
	*task->exec = stack_switch;
}

/* ---- hooks */

static void
hook_stack_switch(struct run *run, struct task *task,
		  const struct module *module, const struct hook *hook,
		  const struct regs *regs)
{
	struct leaving leaving = {
		.from = hook->addr + module->bias,
		.to = hook->end + module->bias,
	};

	if (!task->entries)
		task->entries = mem_alloc(sizeof(*task->entries));
	if (hook->kind == HOOK_ENTRY) {
		entries_add(task->entries, run->host, task->tid, run->arch,
			    regs);
		return;
	}
	if (stack_switch_find(space_stack(run, task->process->space), task->tid,
			      task->entries, module->plan->image, module->bias,
			      hook, regs, &leaving.stack_switch))
		return;
	stack_switch_wake(run, task, &leaving.stack_switch);
	task->leaving = mem_alloc(sizeof(*task->leaving));
	*task->leaving = leaving;
}

void
abnormal_hook(struct run *run, struct task *task, const struct module *module,
	      uint32_t number)
{
	const struct hook *hook = &module->plan->hooks[number - 1];
	struct regs regs;

	if (hook->kind == HOOK_SIGRETURN) {
		relocated_sigreturn(run, task, hook->addr + module->bias);
		return;
	}
	if (hook->kind == HOOK_START)
		sigtrap_ask(run, task);
	if (hook->kind == HOOK_START || hook->kind == HOOK_LOADED) {
		linker_look(run, task);
		return;
	}
	if (run->host->regs_get(task->tid, &regs))
		return;
	if (hook->kind == HOOK_SIGACTION || hook->kind == HOOK_CALL)
		sigtrap_hook(run, task, &regs);
	if (hook->kind == HOOK_CLONE || hook->kind == HOOK_CALL)
		clones_hook(run, task, &regs);
	if (hook->kind == HOOK_CLONE || hook->kind == HOOK_SIGACTION ||
	    !task_abnormals(run, task))
		return;
	regs.r[run->arch->reg_pc] = hook->addr + module->bias;
	if (hook->kind == HOOK_STACK_SWITCH || hook->kind == HOOK_ENTRY)
		hook_stack_switch(run, task, module, hook, &regs);
	else
		exec_prepare(run, task, &regs);
}
