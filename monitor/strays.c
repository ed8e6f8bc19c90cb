/*
 * Strays: control that leaves functions, or comes into them, over no edge of
 * their graphs (Ball & Larus 1994, section 3.2).  Sees to it that there are
 * traps where stacks are left, walks the stacks of tasks that are born, end,
 * exec, or are attached to or let go, and enters the frames it finds in the
 * meters of their plans.  What it cannot find out it says to be unknown.
 */
#include <signal.h>
#include <stdlib.h>

#include "monitor/areas.h"
#include "monitor/clones.h"
#include "monitor/contexts.h"
#include "monitor/copies.h"
#include "monitor/extend.h"
#include "monitor/faults.h"
#include "monitor/hit.h"
#include "monitor/inner.h"
#include "monitor/linker.h"
#include "monitor/patch.h"
#include "monitor/plant.h"
#include "monitor/run.h"
#include "monitor/sigtrap.h"
#include "monitor/strays.h"
#include "monitor/tamper.h"
#include "monitor/task.h"
#include "monitor/transfer.h"
#include "monitor/untold.h"
#include "util/mem.h"

bool
space_infers(const struct space *space)
{
	for (size_t i = 0; space && i < space->nmodules; i++)
		if (plan_infers(space->modules[i]->plan))
			return !space->modules[i]->plan->wish.no_traps;
	return false;
}

bool
space_hooked(const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (!space->modules[i]->plan->wish.no_traps)
			return true;
	return space_known(space);
}

bool
space_known(const struct space *space)
{
	return space_infers(space) || (space && space->areas);
}

static struct stack *
space_stack(struct run *run, struct space *space)
{
	if (!space->stack)
		space->stack = stack_open(run->host, run->arch);
	return space->stack;
}

/* From here on nothing is derived behind calls in what the space runs. */
void
space_taint(struct run *run, struct space *space, enum count_reason reason,
	    const char *why)
{
	bool derived = false;

	for (size_t i = 0; i < space->nmodules; i++) {
		struct plan *plan = space->modules[i]->plan;

		if (!plan_infers(plan))
			continue;
		plan->tainted = true;
		if (!plan->taint)
			plan->taint = reason;
		derived |= plan->severed || !plan->wish.leaks;
	}
	/* Of calls that are counted behind nothing need be known. */
	if (derived)
		run_remark(run, "not all counts can be derived: %s", why);
}

/* Nor behind any instruction: one of its tasks was somewhere. */
static void
space_sever(struct run *run, struct space *space, enum count_reason reason,
	    const char *why)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		struct plan *plan = space->modules[i]->plan;

		if (!plan_infers(plan))
			continue;
		plan->severed = true;
		if (!plan->sever)
			plan->sever = reason;
	}
	space_taint(run, space, REASON_STACK, why);
}

/* ---- entering passages */

/* A function with a live frame is counted from now on. */
static void
body_wake(struct run *run, struct plan *plan, uint32_t body)
{
	if (plan->bodies[body].state != BODY_WAITING ||
	    !plan->bodies[body].units || plan->bodies[body].guest)
		return;
	plan_ready(plan, body);
	plan_extended(run, plan);
}

/* An instruction that faulted has begun: it is left during it. */
static struct passage
passage_faulted(const struct module *module, const struct task *task,
		const struct passage *passage)
{
	const struct image *image = module->plan->image;
	struct passage faulted = *passage;
	const uint8_t *code;
	struct insn insn;
	size_t avail;

	if (passage->during || passage->came ||
	    !fault_left(task, passage->va, passage->sp))
		return faulted;
	code = image_text(image, passage->va - module->bias, &avail);
	if (code && !image->arch->decode(code, avail, passage->va, &insn)) {
		faulted.during = true;
		faulted.va += insn.len;
	}
	return faulted;
}

/*
 * The body it is about, or BODY_NONE, and its module.  What control comes back
 * to is counted from now on.
 */
static uint32_t
passage_body(struct run *run, const struct task *task,
	     const struct passage *at, struct module **module)
{
	uint64_t va = at->va - (at->during ? 1 : 0);
	uint32_t body;

	*module = space_module(task->process->space, va);
	if (!*module)
		return BODY_NONE;
	body = plan_body((*module)->plan, va - (*module)->bias);
	if (body != BODY_NONE && at->came && space_known(task->process->space))
		body_wake(run, (*module)->plan, body);
	return body;
}

/*
 * Control arrives at addr: does it do so by coming back from a call (setjmp,
 * swapcontext)?  Else the instruction there is a handler's first, which no
 * table of landing pads tells of.
 */
static bool
arrival_returns(struct plan *plan, uint32_t body, uint64_t addr)
{
	const struct insn *last;
	const struct cfg *cfg;
	size_t next;

	if (!plan_graph(plan, body))
		return true;
	cfg = plan->bodies[body].cfg;
	next = cfg_insn_from(cfg, addr);
	if (!next)
		return false;
	last = &cfg->insns[next - 1];
	return last->addr + last->len == addr && insn_comes_back(last);
}

static void
passage_enter(struct run *run, const struct task *task,
	      const struct passage *at, enum presence how)
{
	struct module *module;
	uint32_t body = passage_body(run, task, at, &module);
	struct passage faulted, *passage = &faulted;
	struct stray *stray;
	struct plan *plan;
	uint64_t addr;

	if (body == BODY_NONE || !plan_infers(module->plan) ||
	    (at->arrived && passage_counted(at, module->plan->image,
					    module->bias)))
		return;
	plan = module->plan;
	faulted = passage_faulted(module, task, at);
	addr = passage->va - module->bias;
	if (passage->arrived && passage->during)
		passage->during = arrival_returns(plan, body, addr);
	stray = meter_stray(plan_meter(plan, run_meter(run, task)), addr,
			    passage->during);
	if (passage->came || how == PRESENT_ANEW)
		stray->came++;
	else if (how == PRESENT_NOT)
		stray->left--;
	else
		stray->left++;
}

static void
transfer_wake(struct run *run, const struct task *task,
	      const struct transfer *transfer)
{
	struct module *module;

	for (size_t i = 0; i < transfer->n; i++)
		passage_body(run, task, &transfer->passages[i], &module);
}

static void
transfer_enter(struct run *run, const struct task *task,
	       const struct transfer *transfer, enum presence how)
{
	if (transfer->unknown)
		space_taint(run, task->process->space, transfer->reason,
			    transfer->unknown);
	for (size_t i = 0; i < transfer->n; i++)
		passage_enter(run, task, &transfer->passages[i], how);
}

void
strays_enter(struct run *run, const struct task *task,
	     const struct transfer *transfer)
{
	if (space_infers(task->process->space))
		transfer_enter(run, task, transfer, PRESENT);
}

/* ---- about to leave */

/*
 * Between a hook and the jump that leaves, a signal may come first, or the
 * end; and if nothing of it was done, the hook will be come to again.  So what
 * is passed over is only entered when the task is seen elsewhere.
 */
struct leaving {
	struct transfer transfer;
	uint64_t from, to;	/* it is done behind the instruction at `to` */
};

static void
leaving_forget(struct task *task)
{
	if (!task->leaving)
		return;
	transfer_free(&task->leaving->transfer);
	free(task->leaving);
	task->leaving = NULL;
}

void
strays_passed(struct run *run, struct task *task, uint64_t pc)
{
	const struct leaving *leaving = task->leaving;

	if (!leaving)
		return;
	if (pc != leaving->from) {
		transfer_enter(run, task, &leaving->transfer, PRESENT);
		/* In the midst of it no stack can be walked. */
		if (pc > leaving->from && pc <= leaving->to && task->exiting)
			run->host->regs_set(task->tid,
					    &leaving->transfer.after);
		else if (pc > leaving->from && pc <= leaving->to)
			space_sever(run, task->process->space, REASON_SEVERED,
				    "a signal came between two stacks");
	}
	leaving_forget(task);
}

/* ---- whole stacks */

/*
 * A task that has not told yet of a trap it ran into has not begun the
 * instruction there.
 */
static void
task_rewind(struct run *run, struct task *task)
{
	struct event *event = run_queued(run, task);
	uint64_t pc;

	switch (trap_untold(run, task)) {
	case UNTOLD_PERHAPS:
		space_sever(run, task->process->space, REASON_SEVERED,
			    "a thread ended at an instruction, or just before");
		break;
	case UNTOLD_TRAP:
		/* Even if that is where it was before. */
		strays_passed(run, task, 0);
		/* fallthrough */
	case UNTOLD_UNDONE:
		if (event && event->kind == EVENT_TRAP)
			event->kind = EVENT_PAUSED;
		break;
	case UNTOLD_NOTHING:
		break;
	}
	patch_signal(run, task, 0);
	if (!run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		strays_passed(run, task, pc);
}

/*
 * A task in a copy is looked at as where it would be without.  One at its
 * last stop cannot be made to run to where that is clear: what has been
 * counted but not begun is taken back.
 */
static void
task_place(struct run *run, struct task *task)
{
	struct position position;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	    !copies_position(task->process->space, pc, &position))
		return;
	if (run->host->reg_set(task->tid, run->arch->reg_pc, position.va))
		return;
	task->fault_va = position.during ? position.va : 0;
	if (position.ahead)
		copies_ahead(run, task, position.va, true);
}

/* Of a stopped task, all frames that matter; 0 or HOST_GONE. */
static int
task_transfer(struct run *run, const struct task *task, bool came,
	      struct transfer *transfer)
{
	if (!run->host->native)
		return inner_frame(run, task, came, transfer);
	return transfer_all(space_stack(run, task->process->space), task->tid,
			    came, transfer);
}

static void
task_frames(struct run *run, struct task *task, enum presence how)
{
	struct transfer transfer = { 0 };

	if (!task_transfer(run, task, false, &transfer))
		transfer_enter(run, task, &transfer, how);
	transfer_free(&transfer);
}

static bool
task_strays(const struct run *run, const struct task *task)
{
	return task->process && task->process->counted && !run->stopping &&
	       space_infers(task->process->space);
}

void
strays_end(struct run *run, struct task *task)
{
	if (task->walked || !task_strays(run, task))
		return;
	task->walked = true;
	/* It has nothing left that it came with. */
	if (task->born)
		return;
	task_rewind(run, task);
	copies_unreturn(run, task);
	task_place(run, task);
	task_frames(run, task, PRESENT);
}

void
strays_unseen(struct run *run, struct task *task)
{
	if (task->walked || !task_strays(run, task))
		return;
	hit_unseen(run, task);
	space_sever(run, task->process->space, REASON_SEVERED,
		    "a thread ended so suddenly that it is not known where");
}

void
strays_birth(struct run *run, struct task *task)
{
	struct transfer transfer = { 0 };
	uint64_t sp = task->maker_sp;

	if (!sp)
		run->host->reg_get(task->tid, run->arch->reg_sp, &sp);
	if (task_strays(run, task)) {
		/* The call that made it may have been done in a slot. */
		patch_signal(run, task, 0);
		/* Killed here, it is not seen to come, nor to leave. */
		if (transfer_birth(space_stack(run, task->process->space),
				   task->tid, sp, &transfer))
			return;
	}
	task->born = false;
	transfer_enter(run, task, &transfer, PRESENT);
	transfer_free(&transfer);
}

/*
 * A task past the prefix of an atomic instruction is taken back to where that
 * begins: no graph has the other place, and there may be a trap, or a patch.
 */
static void
task_unskip(struct run *run, struct task *task, void *process)
{
	struct module *module;
	uint64_t pc = task_pc(run, task), addr;
	const struct cfg *cfg;
	const uint8_t *code;
	uint32_t index;
	size_t avail;

	if (task->process != process || task->state != TASK_STOPPED ||
	    !run->arch->locked)
		return;
	module = space_module(task->process->space, pc);
	index = module ? plan_body(module->plan, pc - module->bias) :
			 BODY_NONE;
	if (index == BODY_NONE || !module->plan->bodies[index].units ||
	    !plan_graph(module->plan, index))
		return;
	addr = pc - module->bias - 1;
	cfg = module->plan->bodies[index].cfg;
	code = image_text(module->plan->image, addr, &avail);
	if (cfg_insn(cfg, addr + 1) < 0 && cfg_insn(cfg, addr) >= 0 && code &&
	    run->arch->locked(code, avail))
		run->host->reg_set(task->tid, run->arch->reg_pc, pc - 1);
}

static void
frames_come(struct run *run, struct task *task, void *process)
{
	struct space *space = task->process ? task->process->space : NULL;
	struct transfer transfer = { 0 };
	struct signal_state state;

	if (task->process != process || task->state != TASK_STOPPED ||
	    task_transfer(run, task, true, &transfer))
		return;
	/* A signal may have come anywhere in those not known. */
	if (transfer.unknown && !run->host->signals(task->tid, &state) &&
	    state.caught)
		space_sever(run, space, REASON_ATTACHED, transfer.unknown);
	transfer_enter(run, task, &transfer, PRESENT);
	/* Who knows what functions are being run may not be copied. */
	for (size_t i = 0; transfer.unknown && i < space->nmodules; i++) {
		copies_refuse(run, space->modules[i]->plan,
			      "what functions it was in the middle of is not "
			      "known");
		plan_miss(space->modules[i]->plan);
	}
	transfer_free(&transfer);
}

static void
task_begin(struct run *run, struct task *task, void *process)
{
	if (task->process == process && task->state == TASK_STOPPED)
		copies_begin(run, task);
}

static void
handlers_begin(struct run *run, struct task *task, void *process)
{
	if (task->process == process && task->state == TASK_STOPPED)
		contexts_find(run, task);
}

void
strays_attach(struct run *run, struct process *process)
{
	if (!space_known(process->space))
		return;
	task_each(run, task_unskip, process);
	if (!run->opts->no_traps)
		task_each(run, frames_come, process);
}

void
strays_begin(struct run *run, struct process *process)
{
	if (!space_known(process->space))
		return;
	task_each(run, task_begin, process);
	if (run->host->native)
		task_each(run, handlers_begin, process);
}

static void
frames_leave(struct run *run, struct task *task, void *ctx)
{
	const enum presence *how = ctx;

	if (!task_strays(run, task) || task->state != TASK_STOPPED ||
	    task->walked || task->born)
		return;
	if (*how == PRESENT) {
		task_rewind(run, task);
		copies_unreturn(run, task);
		task->moved = copies_leave(run, task);
		if (task->moved && task->fault_va != task_pc(run, task))
			copies_ahead(run, task, task_pc(run, task), true);
		else if (!task->moved)
			task_place(run, task);
	}
	task_frames(run, task, *how);
	if (*how != PRESENT && task->unreturned)
		copies_sigreturn(run, task, task->sigreturn.hook);
	if (*how == PRESENT || !task->moved)
		return;
	if (task->fault_va != task_pc(run, task))
		copies_ahead(run, task, task_pc(run, task), false);
	copies_return(run, task);
}

/* Also of those where nothing is derived, or that wait for a vfork child. */
static void
area_look(struct run *run, struct task *task, void *ctx)
{
	if (task->state == TASK_STOPPED)
		tamper_check(run, task);
	if (task->state == TASK_STOPPED || task->vforking)
		areas_fold(run, task);
}

/*
 * A task that was paused just when it ran into a trap has not reported that
 * yet: left alone it would die of the signal.  Let it report.  If its process
 * was stopped it must not go on: it is taken back to the trap.
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
strays_present(struct run *run, enum presence how)
{
	if (how == PRESENT)
		task_each(run, trap_flush, NULL);
	task_each(run, frames_leave, &how);
	if (how == PRESENT)
		task_each(run, area_look, NULL);
}

/* ---- exec */

static void
exec_forget(struct task *task)
{
	if (!task->exec)
		return;
	transfer_free(task->exec);
	free(task->exec);
	task->exec = NULL;
}

void
strays_forget(struct task *task)
{
	exec_forget(task);
	leaving_forget(task);
	free(task->entries);
}

void
strays_hand_over(struct task *from, struct task *to)
{
	exec_forget(to);
	to->exec = from->exec;
	from->exec = NULL;
}

void
strays_exec(struct run *run, struct task *task)
{
	/* Elsewhere the call is not taken to come back anyway. */
	if (!run->host->native)
		return;
	if (task_strays(run, task) && !task->exec)
		space_taint(run, task->process->space, REASON_LEFT,
			    "an exec was not seen to come");
	else if (task_strays(run, task))
		transfer_enter(run, task, task->exec, PRESENT);
	exec_forget(task);
}

static void
exec_prepare(struct run *run, struct task *task, const struct regs *regs)
{
	struct transfer transfer = { 0 };
	uint64_t after = regs->r[run->arch->reg_pc] + run->arch->syscall_len;

	if (transfer_exec(space_stack(run, task->process->space), task->tid,
			  regs, after, &transfer))
		return;
	exec_forget(task);
	task->exec = mem_alloc(sizeof(*task->exec));
	*task->exec = transfer;
}

/* ---- hooks */

static void
hook_transfer(struct run *run, struct task *task, const struct module *module,
	      const struct hook *hook, const struct regs *regs)
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
	if (transfer_find(space_stack(run, task->process->space), task->tid,
			  task->entries, module->plan->image, module->bias,
			  hook, regs, &leaving.transfer))
		return;
	transfer_wake(run, task, &leaving.transfer);
	task->leaving = mem_alloc(sizeof(*task->leaving));
	*task->leaving = leaving;
}

void
strays_hook(struct run *run, struct task *task, const struct module *module,
	    uint32_t number)
{
	const struct hook *hook = &module->plan->hooks[number - 1];
	struct regs regs;

	if (hook->kind == HOOK_SIGRETURN) {
		copies_sigreturn(run, task, hook->addr + module->bias);
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
	    !task_strays(run, task))
		return;
	regs.r[run->arch->reg_pc] = hook->addr + module->bias;
	if (hook->kind == HOOK_TRANSFER || hook->kind == HOOK_ENTRY)
		hook_transfer(run, task, module, hook, &regs);
	else
		exec_prepare(run, task, &regs);
}
