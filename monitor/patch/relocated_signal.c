/*
 * Delivers signals to tasks that run in relocated functions.  Such a task is
 * moved to the original before its handler is called; the context that the
 * handler returns to is remembered, so that the task goes back into the
 * relocated function then.  With --no-traps the task stays in its relocated
 * function, and contexts are changed only when pmon attaches and when it lets
 * the task go.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/patch/extend.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/process/actions.h"
#include "monitor/process/events.h"
#include "monitor/process/signals.h"
#include "monitor/process/space.h"
#include "monitor/run.h"
#include "relocate/relocate.h"
#include "util/mem.h"

/*
 * A context that a handler may return to, of a task that was moved to the
 * original or, with --no-traps, stays in its relocated function.  Nothing tells
 * that a handler was left by a jump and will never return: when there are too
 * many contexts, the oldest is removed.
 */
enum { MOVED_MAX = 64 };

struct moved_pc {
	uint64_t context;	/* its address */
	uint64_t pc, sp;	/* in it */
	bool left;		/* the task was moved out of a relocated
				   function, or led out of it to a call */
	bool taken_back;	/* the block that begins there has had its count
				   taken back; not if its first instruction
				   faulted */
	struct regs regs;	/* all that are in it, as it was made */
	uint64_t original;	/* the pc in the original, if pc is in a
				   relocated function; else 0 */
	uint64_t restorer;	/* the code that the handler returns to ... */
	bool followed;		/* ... has no hook for it: the task's system
				   calls tell of the return */
};

/* So many followed system calls pass between two looks at the mask. */
enum { FOLLOWED_LOOK = 32 };

/* Have the task's system calls followed as long as a context needs it. */
static void
moved_follow(struct task *task)
{
	task->follows = false;
	for (size_t i = 0; i < task->nmoved_pcs; i++)
		task->follows |= task->moved_pcs[i].followed;
}

static void
moved_drop(struct task *task, size_t i)
{
	task->nmoved_pcs--;
	memmove(task->moved_pcs + i, task->moved_pcs + i + 1,
		(task->nmoved_pcs - i) * sizeof(*task->moved_pcs));
	moved_follow(task);
}

/* Take the context that a handler returns to off the list; was it there? */
static bool
moved_take(struct task *task, uint64_t context, struct moved_pc *moved)
{
	for (size_t i = 0; i < task->nmoved_pcs; i++)
		if (task->moved_pcs[i].context == context) {
			*moved = task->moved_pcs[i];
			moved_drop(task, i);
			return true;
		}
	return false;
}

/* Read all registers that are in a context.  0 or -1. */
static int
context_read(struct run *run, const struct task *task, uint64_t context,
	     struct regs *regs)
{
	const struct abi *abi = run->abi;

	for (uint8_t i = 0; i < abi->ndwarf; i++)
		if (run->host->data_read(task->tid, context + abi->context[i],
					 &regs->r[abi->dwarf[i]],
					 sizeof(*regs->r)))
			return -1;
	return 0;
}

/* Remember a context.  An older one at its address is gone. */
static void
moved_add(struct task *task, const struct moved_pc *moved)
{
	size_t i = 0;

	while (i < task->nmoved_pcs &&
	       task->moved_pcs[i].context != moved->context)
		i++;
	if (i < task->nmoved_pcs)
		moved_drop(task, i);
	else if (task->nmoved_pcs == MOVED_MAX)
		moved_drop(task, 0);
	task->moved_pcs = mem_grow(task->moved_pcs, task->nmoved_pcs + 1,
				   sizeof(*task->moved_pcs));
	task->moved_pcs[task->nmoved_pcs++] = *moved;
	moved_follow(task);
}

bool
relocated_restorer(struct run *run, struct task *task, uint64_t va)
{
	struct module *module = space_module(task->process->space, va);

	if (!module)
		return false;
	if (plan_site(module->plan, va - module->bias) &&
	    plan_site(module->plan, va - module->bias)->hook)
		return true;
	plan_hook(module->plan, &(struct hook){
					.kind = HOOK_SIGRETURN,
					.addr = va - module->bias,
				});
	plan_extended(run, module->plan);
	return true;
}

static void
restorer_hook(struct run *run, struct task *task, uint64_t restorer)
{
	if (!relocated_restorer(run, task, restorer))
		space_calls_underivable(
			run, task->process->space, REASON_LEFT,
			"a signal handler returns to unknown code");
}

static bool
trap_blocked(const struct run *run, const struct task *task)
{
	uint64_t mask;

	return !run->host->native->mask_get(task->tid, &mask) &&
	       signals_have(mask, SIGTRAP);
}

/*
 * Remember a context of a handler that runs now, and see to it that its return
 * is noticed: by a hook or, as nothing is to trap while SIGTRAP is blocked, by
 * the task's system calls.
 */
static void
context_remember(struct run *run, struct task *task, struct moved_pc *moved)
{
	/* The return address is before the context. */
	if (run->host->data_read(task->tid, moved->context - sizeof(uint64_t),
				 &moved->restorer, sizeof(moved->restorer)))
		moved->restorer = 0;
	if (moved->restorer && actions_return(task, moved->restorer))
		relocated_restorer(run, task, moved->restorer);
	moved->followed = trap_blocked(run, task);
	task->followed = 0;
	moved_add(task, moved);
	if (!moved->followed && moved->restorer)
		restorer_hook(run, task, moved->restorer);
}

bool
relocated_followed(struct run *run, struct task *task, uint64_t context)
{
	for (size_t i = 0; i < task->nmoved_pcs; i++)
		if (task->moved_pcs[i].context == context &&
		    task->moved_pcs[i].followed)
			return true;
	/* A handler that was left by a jump returns never. */
	if (++task->followed % FOLLOWED_LOOK || trap_blocked(run, task))
		return false;
	for (size_t i = 0; i < task->nmoved_pcs; i++) {
		struct moved_pc *moved = &task->moved_pcs[i];

		if (moved->followed && moved->restorer)
			restorer_hook(run, task, moved->restorer);
		moved->followed = false;
	}
	task->follows = false;
	return false;
}

void
relocated_contexts_clear(struct task *task)
{
	free(task->moved_pcs);
	task->moved_pcs = NULL;
	task->nmoved_pcs = 0;
	task->follows = false;
}

void
relocated_signal(struct run *run, struct task *task, int signal, bool left)
{
	struct regs regs;
	uint64_t pc, top;
	bool begun;

	if (run->host->regs_get(task->tid, &regs))
		return;
	pc = regs.r[run->arch->reg_pc];
	/* The handler may never return here, or the task may be killed now. */
	begun = !left || task->fault_va == pc;
	if (!begun)
		relocated_ahead(run, task, pc, regs.r[run->arch->reg_sp], true);
	if (!signal_enter(run, task, signal))
		return;
	/* From here on fault_record's place stands for the fault. */
	task->fault_va = 0;
	if (!run->host->reg_get(task->tid, run->arch->reg_sp, &top)) {
		/* The context is behind the return address. */
		struct moved_pc moved = {
			.context = top + sizeof(uint64_t),
			.pc = pc,
			.sp = regs.r[run->arch->reg_sp],
			.left = left,
			.taken_back = !begun,
			.regs = regs,
		};

		context_remember(run, task, &moved);
	}
	run_resume(run, task, 0);
}

/*
 * Whether the context, if it is still there, leads into a relocated function;
 * *va is then the place in the original.  A handler may have changed its pc.
 */
static bool
context_leads(struct run *run, const struct task *task,
	      const struct moved_pc *moved, uint64_t *va)
{
	struct position position;
	uint64_t pc;

	if (!moved->original ||
	    run->host->data_read(task->tid,
				 moved->context + run->abi->context_pc, &pc,
				 sizeof(pc)))
		return false;
	*va = moved->original;
	if (pc == moved->pc)
		return true;
	if (!relocated_position(task->process->space, pc, &position))
		return false;
	*va = position.va;
	return *va != pc;
}

/*
 * Remove the contexts that do not lead into relocated functions any more: the
 * stack overwrites those that handlers have returned to.
 */
static void
contexts_prune(struct run *run, struct task *task)
{
	uint64_t va;
	size_t i = 0;

	while (i < task->nmoved_pcs)
		if (context_leads(run, task, &task->moved_pcs[i], &va))
			i++;
		else
			moved_drop(task, i);
}

void
relocated_signal_in(struct run *run, struct task *task, int signal, uint64_t va)
{
	uint64_t pc, sp, top;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp) ||
	    !signal_enter(run, task, signal))
		return;
	if (task->nmoved_pcs == MOVED_MAX)
		contexts_prune(run, task);
	if (!run->host->reg_get(task->tid, run->arch->reg_sp, &top))
		moved_add(task, &(struct moved_pc){
					.context = top + sizeof(uint64_t),
					.pc = pc,
					.sp = sp,
					.original = va,
				});
	run_resume(run, task, 0);
}

void
relocated_context(struct run *run, struct task *task, uint64_t context,
		  uint64_t pc, uint64_t sp)
{
	const struct space *space = task->process->space;
	uint64_t to;

	/* When the handler returns, a block that begins there is counted. */
	if (!run->opts->no_traps) {
		bool left = relocated_back(space, pc) != pc;
		struct moved_pc moved = {
			.context = context,
			.pc = pc,
			.sp = sp,
			.left = left,
			.taken_back = left,
		};

		if (!context_read(run, task, context, &moved.regs))
			context_remember(run, task, &moved);
		return;
	}
	to = relocated_inside(space, pc);
	if (to != pc &&
	    !run->host->data_write(task->tid, context + run->abi->context_pc,
				   &to, sizeof(to)))
		moved_add(task, &(struct moved_pc){
					.context = context,
					.pc = to,
					.sp = sp,
					.original = pc,
				});
}

void
relocated_contexts(struct run *run, struct task *task)
{
	uint64_t va;

	for (size_t i = 0; i < task->nmoved_pcs; i++) {
		const struct moved_pc *moved = &task->moved_pcs[i];

		if (context_leads(run, task, moved, &va))
			run->host->data_write(task->tid,
					      moved->context +
						      run->abi->context_pc,
					      &va, sizeof(va));
	}
}

void
relocated_inherit(struct task *child, const struct task *maker)
{
	for (size_t i = 0; i < maker->nmoved_pcs; i++) {
		struct moved_pc moved = maker->moved_pcs[i];

		/* The child comes to before the instruction, even if it had
		   begun in its maker. */
		moved.taken_back = moved.left;
		moved_add(child, &moved);
	}
}

const struct entry_patch *
entry_patch_at(const struct space *space, uint64_t va)
{
	struct code_at at = code_at(space, va);

	return at.fplan && at.fplan->relocated ?
		       relocated_entry_patch(at.fplan->relocated, at.addr) :
		       NULL;
}

/*
 * Whether control that comes to va over no edge is to go through the entry
 * patch there: that counts what happens then, a call, a return or a landing,
 * and no edge of the graph.  A guard tells of the abnormal edge itself.
 */
static bool
entry_patch_leads(const struct space *space, uint64_t va)
{
	const struct entry_patch *patch = entry_patch_at(space, va);

	return patch && (patch->kind == ENTRY_PATCH_ENTRY ||
			 patch->kind == ENTRY_PATCH_RETURN ||
			 patch->kind == ENTRY_PATCH_PAD ||
			 patch->kind == ENTRY_PATCH_GUARD);
}

bool
relocated_sigreturn(struct run *run, struct task *task, uint64_t hook,
		    struct context_change *change)
{
	const struct abi *abi = run->abi;
	struct space *space = task->process->space;
	struct moved_pc moved = { 0 };
	uint64_t context, pc, sp, to;
	bool changed;

	task->sigreturn = (struct sigreturn){ 0 };
	task->unreturned = false;

	if (run->host->reg_get(task->tid, run->arch->reg_sp, &context) ||
	    run->host->data_read(task->tid, context + abi->context_pc, &pc,
				 sizeof(pc)) ||
	    run->host->data_read(task->tid, context + abi->context_sp, &sp,
				 sizeof(sp)))
		return false;
	changed = moved_take(task, context, &moved) &&
		  (moved.pc != pc || moved.sp != sp);
	change->from = moved.regs;
	if (changed && context_read(run, task, context, &change->to))
		return false;
	if (changed ? entry_patch_leads(space, pc) :
		      !moved.left && entry_patch_at(space, pc))
		return changed;
	moved.taken_back |= changed;
	if (moved.taken_back)
		relocated_ahead(run, task, pc, sp, false);
	to = relocated_back(space, pc);
	if (to == pc ||
	    run->host->data_write(task->tid, context + abi->context_pc, &to,
				  sizeof(to)))
		return changed;
	task->sigreturn = (struct sigreturn){
		.hook = hook,
		.context = context,
		.pc = pc,
		.sp = sp,
		.taken_back = moved.taken_back,
	};
	return changed;
}

/* The code that returns from a handler has no more bytes than this. */
enum { RESTORER_MAX = 16 };

bool
relocated_unreturn(struct run *run, struct task *task)
{
	const struct sigreturn *to = &task->sigreturn;
	uint64_t pc, sp;

	if (!to->hook || task->unreturned ||
	    run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp) ||
	    pc - to->hook >= RESTORER_MAX || sp != to->context ||
	    run->host->data_write(task->tid, to->context + run->abi->context_pc,
				  &to->pc, sizeof(to->pc)))
		return false;
	task->unreturned = true;
	moved_add(task, &(struct moved_pc){
				.context = to->context,
				.pc = to->pc,
				.sp = to->sp,
				.left = true,
				.taken_back = to->taken_back,
			});
	if (to->taken_back)
		relocated_ahead(run, task, to->pc, to->sp, true);
	return true;
}

void
fault_interrupts(const struct space *space, uint64_t pc)
{
	struct position position;
	struct code_at at;

	if (!relocated_position(space, pc, &position))
		position.va = pc;
	at = code_at(space, position.va);
	if (at.fplan)
		at.fplan->interrupted = true;
}
