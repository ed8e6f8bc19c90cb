/*
 * Handlers' returns: makes the context of each lead back into the relocated
 * function, and finds what control leaves and comes to if the handler has
 * changed the context.  A return is seen at a hook, or at the system call itself
 * if the handler runs with SIGTRAP blocked: a trap there would unblock the
 * signal and reset its action.  The mask that the task has behind its handler is
 * the context's and is left alone.
 */
#include "monitor/unwind/sigreturn.h"

#include "monitor/patch/extend.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/process/faults.h"
#include "monitor/process/space.h"
#include "monitor/process/trap_mask.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/unwind/stack_switch.h"
#include "relocate/relocate.h"

/* Whether a call or system call ends at the va. */
static bool
call_ends(const struct space *space, uint64_t va)
{
	struct code_at at = code_at(space, va - 1);
	const struct insn *last;
	const struct cfg *cfg;
	size_t next;

	if (!at.fplan || !plan_graph(at.module->plan, at.index))
		return true;
	cfg = at.fplan->cfg;
	next = cfg_insn_from(cfg, va - at.module->bias);
	if (!next)
		return false;
	last = &cfg->insns[next - 1];
	return last->addr + last->len != va - at.module->bias ||
	       last->kind == INSN_CALL || last->kind == INSN_CALL_INDIRECT ||
	       last->kind == INSN_SYSCALL;
}

/*
 * A handler may have a function called where the signal came, as Go's does.
 * That returns to no call, perhaps into the middle of an entry patch.
 */
static void
frame_park(struct run *run, struct task *task, uint64_t va, uint64_t sp)
{
	struct code_at at = code_at(task->process->space, va);

	if (sp)
		fault_park(task, va, sp);
	if (!at.fplan || !at.fplan->relocated)
		return;
	plan_enter(at.module->plan, at.addr);
	plan_extended(run, at.module->plan);
}

/* Whether there is an entry patch of that kind at the va. */
static bool
patch_is(const struct space *space, uint64_t va, enum entry_patch_kind kind)
{
	const struct entry_patch *patch = entry_patch_at(space, va);

	return patch && patch->kind == kind;
}

/* Whether the graph has an edge from outside to the va. */
static bool
enters_by_edge(const struct space *space, uint64_t va)
{
	struct code_at at = code_at(space, va);
	const struct cfg *cfg;
	long block;

	if (!at.fplan || !at.fplan->units ||
	    !plan_graph(at.module->plan, at.index))
		return false;
	cfg = at.fplan->cfg;
	block = cfg_block(cfg, at.addr);
	return block >= 0 && cfg->blocks[block].external;
}

/* The handler has led the task elsewhere: find what it left and came to. */
static void
context_changed(struct run *run, struct task *task,
		const struct context_change *change)
{
	struct space *space = task->process->space;
	struct stack_switch stack_switch = { 0 };
	uint64_t pc = change->from.r[run->arch->reg_pc];
	uint64_t to = change->to.r[run->arch->reg_pc];
	uint8_t sp = run->arch->reg_sp;
	struct code_at from = code_at(space, pc), at = code_at(space, to);

	if (at.module)
		plan_came(at.module->plan, to - at.module->bias);
	frame_park(run, task, pc, 0);
	/* What a signal interrupts in such a module is in doubt anyway. */
	if (!task_abnormals(run, task) ||
	    (from.module && from.module->plan->options.leaks))
		return;
	if (from.fplan && at.fplan == from.fplan &&
	    change->from.r[sp] == change->to.r[sp])
		stack_switch_frame(&change->from, &change->to, run->arch,
				   &stack_switch);
	else if (stack_switch_context(space_stack(run, space), task->tid,
				      &change->from, &change->to,
				      &stack_switch))
		return;
	for (size_t i = 0; i < stack_switch.n; i++) {
		struct frame_edge *edge = &stack_switch.frame_edges[i];

		edge->parked = edge->arrived &&
			       patch_is(space, edge->va, ENTRY_PATCH_GUARD);
		if (edge->arrived && enters_by_edge(space, edge->va)) {
			*edge = stack_switch.frame_edges[--stack_switch.n];
			i--;
			continue;
		}
		if (edge->came && edge->during && !edge->arrived &&
		    (edge->va == pc || !call_ends(space, edge->va)))
			frame_park(run, task, edge->va, edge->sp);
	}
	stack_switch_wake(run, task, &stack_switch);
	if (stack_switch.unknown)
		fault_interrupts(space, to);
	/* The patch would count another edge: see relocated_sigreturn. */
	if (patch_is(space, to, ENTRY_PATCH_TABLE) &&
	    enters_by_edge(space, to)) {
		fault_interrupts(space, to);
		space_calls_underivable(run, space, REASON_LEFT,
					"a signal handler led control to the "
					"middle of a function");
	}
	stack_switch_enter(run, task, &stack_switch, PRESENT);
	stack_switch_free(&stack_switch);
}

void
sigreturn_about(struct run *run, struct task *task, uint64_t va)
{
	struct context_change change;

	trap_mask_return(run, task);
	if (relocated_sigreturn(run, task, va, &change))
		context_changed(run, task, &change);
}

void
sigreturn_syscall(struct run *run, struct task *task)
{
	struct regs regs;

	if (!task->follows || run->host->regs_get(task->tid, &regs) ||
	    !relocated_followed(run, task, regs.r[run->arch->reg_sp]) ||
	    (int)regs.r[run->abi->reg_orig] != run->abi->nr_sigreturn)
		return;
	sigreturn_about(run, task,
			regs.r[run->arch->reg_pc] - run->arch->syscall_len);
}
