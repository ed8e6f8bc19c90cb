/*
 * Finds abnormal edges: control that leaves functions, or comes into them, over
 * no edge of their graphs (Ball & Larus 1994, section 3.2).  Handles the hooks
 * where stacks are left, and tells clients which frames are left or come to.
 * Marks plans as underivable where that is not known.  Counts nothing, and
 * never walks the stack of a task that begins or ends: abnormal_tasks.c does.
 */
#include "monitor/unwind/abnormal.h"

#include <stdlib.h>

#include "monitor/patch/extend.h"
#include "monitor/patch/lift.h"
#include "monitor/patch/linker.h"
#include "monitor/patch/maps.h"
#include "monitor/patch/relocated_signal.h"
#include "monitor/patch/switches.h"
#include "monitor/process/actions.h"
#include "monitor/process/client.h"
#include "monitor/process/clones.h"
#include "monitor/process/faults.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "monitor/process/trap_mask.h"
#include "monitor/run.h"
#include "monitor/unwind/sigreturn.h"
#include "monitor/unwind/stack_switch.h"
#include "monitor/unwind/switch_learn.h"
#include "relocate/relocate.h"
#include "util/mem.h"

struct stack *
space_stack(struct run *run, struct space *space)
{
	if (!space->stack)
		space->stack = stack_open(run->host, run->arch);
	return space->stack;
}

bool
task_infers(const struct task *task)
{
	return task->process && task->process->counted &&
	       space_infers(task->process->space);
}

bool
task_abnormals(const struct run *run, const struct task *task)
{
	return !run->stopping && task_infers(task);
}

void
task_switch_free(struct stack_switch **stack_switch)
{
	if (!*stack_switch)
		return;
	stack_switch_free(*stack_switch);
	free(*stack_switch);
	*stack_switch = NULL;
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

	if (frame_edge->during || frame_edge->came || frame_edge->parked ||
	    !fault_left(task, frame_edge->va, frame_edge->sp))
		return faulted;
	code = image_text(image, frame_edge->va - module->bias, &avail);
	if (code && !image->arch->decode(code, avail, frame_edge->va, &insn)) {
		faulted.during = true;
		faulted.va += insn.len;
	}
	return faulted;
}

/* A frame that a handler has put on the stack is in no call. */
static struct frame_edge
frame_edge_parked(const struct task *task, const struct frame_edge *frame_edge)
{
	struct frame_edge parked = *frame_edge;

	if (frame_edge->during && !frame_edge->arrived &&
	    fault_parked(task, frame_edge->va, frame_edge->sp)) {
		parked.parked = true;
		parked.during = false;
	}
	return parked;
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

/*
 * Whether the trap that leads into the relocated function tells of control that
 * comes to addr, as no entry patch there counts it: see relocated_arrive.
 */
static bool
trap_tells(const struct plan *plan, uint32_t fplan, uint64_t addr)
{
	const struct site *site = plan_site(plan, addr);
	const struct entry_patch *patch;

	if (!plan->fplans[fplan].relocated || plan->fplans[fplan].lost ||
	    !site || !site->leads)
		return false;
	patch = relocated_entry_patch(plan->fplans[fplan].relocated, addr);
	return !patch || patch->kind == ENTRY_PATCH_GUARD;
}

/* The plan of a frame edge, with the abnormal edge there; NULL: none is. */
static struct plan *
frame_edge_find(struct run *run, const struct task *task,
		const struct frame_edge *at, enum presence how,
		struct abnormal_edge *edge)
{
	struct frame_edge parked = frame_edge_parked(task, at);
	struct module *module;
	uint32_t fplan = frame_edge_fplan(run, task, &parked, &module);
	struct frame_edge faulted, *frame_edge = &faulted;
	struct plan *plan;
	uint64_t addr;

	if (fplan == FPLAN_NONE || !plan_infers(module->plan) ||
	    (at->arrived &&
	     frame_edge_counted(at, module->plan->image, module->bias)))
		return NULL;
	plan = module->plan;
	faulted = frame_edge_faulted(module, task, &parked);
	addr = frame_edge->va - module->bias;
	if (frame_edge->parked && trap_tells(plan, fplan, addr))
		return NULL;
	if (frame_edge->arrived && frame_edge->during)
		frame_edge->during = arrival_returns(plan, fplan, addr);
	*edge = (struct abnormal_edge){
		.addr = addr,
		.during = frame_edge->during,
		.sp = at->sp,
		.apart = at->apart,
	};
	if (frame_edge->came || how == PRESENT_ANEW)
		edge->came = 1;
	else
		edge->left = how == PRESENT_NOT ? UINT64_MAX : 1;
	return plan;
}

static void
frame_edge_enter(struct run *run, const struct task *task,
		 const struct frame_edge *at, enum presence how)
{
	struct abnormal_edge edge;
	struct plan *plan = frame_edge_find(run, task, at, how, &edge);

	if (plan)
		client_abnormal(run, task, plan, &edge);
}

void
stack_switch_wake(struct run *run, const struct task *task,
		  const struct stack_switch *stack_switch)
{
	struct module *module;

	for (size_t i = 0; i < stack_switch->n; i++)
		frame_edge_fplan(run, task, &stack_switch->frame_edges[i],
				 &module);
}

void
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
leaving_free(struct task *task)
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
	if (pc == leaving->from) {
		client_left(run, task, 0);
	} else {
		stack_switch_enter(run, task, &leaving->stack_switch, PRESENT);
		client_left(run, task,
			    leaving->stack_switch.after.r[run->arch->reg_sp]);
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
	leaving_free(task);
}

/* ---- exec */

void
abnormal_free(struct task *task)
{
	task_switch_free(&task->exec);
	leaving_free(task);
	task_switch_free(&task->waits);
	free(task->entries);
}

void
abnormal_hand_over(struct task *from, struct task *to)
{
	task_switch_free(&to->exec);
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
	task_switch_free(&task->exec);
}

static void
exec_prepare(struct run *run, struct task *task, const struct regs *regs)
{
	struct stack_switch stack_switch = { 0 };
	uint64_t after = regs->r[run->arch->reg_pc] + run->arch->syscall_len;

	if (stack_switch_exec(space_stack(run, task->process->space), task->tid,
			      regs, after, &stack_switch))
		return;
	task_switch_free(&task->exec);
	task->exec = mem_alloc(sizeof(*task->exec));
	*task->exec = stack_switch;
}

/* ---- hooks */

/*
 * The task goes to a stack that cannot be walked.  If that is older than the
 * attach, it may come back to functions that have no counters yet.
 */
static void
space_miss(const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		struct plan *plan = space->modules[i]->plan;

		if (plan->attached)
			plan_miss(plan);
		plan->attached = false;
	}
}

/* What the switch enters; false if that is in more than one plan. */
static bool
stack_switch_edges(struct run *run, const struct task *task,
		   const struct stack_switch *stack_switch,
		   struct switch_edges *edges)
{
	*edges = (struct switch_edges){ 0 };
	for (size_t i = 0; i < stack_switch->n; i++) {
		struct abnormal_edge edge;
		struct plan *plan = frame_edge_find(
			run, task, &stack_switch->frame_edges[i], PRESENT,
			&edge);

		if (plan && edges->plan && edges->plan != plan)
			return false;
		if (!plan)
			continue;
		edges->plan = plan;
		*vec_push(edges->edges, edges->n) = edge;
	}
	return true;
}

/* Count others that are the same in the program, if such switches recur. */
static void
switch_learn(struct run *run, const struct task *task,
	     const struct switch_at *at, struct module *module,
	     const struct stack_switch *stack_switch)
{
	const struct site *site = plan_site(module->plan, at->hook->addr);
	struct switch_site *sw = switch_of(
		module, (size_t)(site - module->plan->sites));
	struct switch_pattern pattern;
	struct switch_edges edges;

	if (!sw || module->switches_off || stack_switch->unknown ||
	    client_follows(run) || !switch_due(task, at, sw, &pattern))
		return;
	if (stack_switch_edges(run, task, stack_switch, &edges))
		switch_count(run, task, module, sw, &pattern, &edges);
	free(edges.edges);
}

/*
 * If the function that switches has overwritten its own frame, find its caller
 * as a filter at its entry has recorded it.
 */
static void
entry_look(struct run *run, struct task *task, const struct module *module,
	   const struct hook *hook, const struct regs *regs)
{
	uint64_t sp = regs->r[run->arch->reg_sp] + (uint64_t)hook->depth;
	struct walk_start caller = { 0 };
	uint32_t known;

	if (hook->depth <= 0 ||
	    !entry_recorded(run, task, module, sp, &caller.regs, &known))
		return;
	caller.regs.r[run->arch->reg_sp] = sp + sizeof(uint64_t);
	caller.unknown = ~known;
	entries_note(task->entries, hook->func + module->bias, sp, &caller);
}

static void
hook_stack_switch(struct run *run, struct task *task, struct module *module,
		  const struct hook *hook, const struct regs *regs)
{
	struct switch_at at = {
		.image = module->plan->image,
		.bias = module->bias,
		.hook = hook,
		.regs = regs,
	};
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
	entry_look(run, task, module, hook, regs);
	at.entries = task->entries;
	if (stack_switch_find(space_stack(run, task->process->space), task->tid,
			      &at, &leaving.stack_switch))
		return;
	switch_learn(run, task, &at, module, &leaving.stack_switch);
	stack_switch_wake(run, task, &leaving.stack_switch);
	if (leaving.stack_switch.unknown)
		space_miss(task->process->space);
	task->leaving = mem_alloc(sizeof(*task->leaving));
	*task->leaving = leaving;
	client_leaves(run, task);
}

/*
 * The task may be about to change its mask.  A handler may do so, too, and
 * returns to the mask from before.
 */
static void
hook_mask(struct run *run, struct task *task, const struct regs *regs)
{
	uint64_t restorer;

	if (!trap_mask_hook(run, task, regs))
		return;
	restorer = actions_restorer(run, task);
	if (restorer)
		relocated_restorer(run, task, restorer);
}

void
abnormal_hook(struct run *run, struct task *task, struct module *module,
	      uint32_t number)
{
	/* A copy: more hooks may come. */
	const struct hook hook = module->plan->hooks[number - 1];
	struct regs regs;

	if (hook.kind == HOOK_SIGRETURN) {
		sigreturn_about(run, task, hook.addr + module->bias);
		return;
	}
	if (hook.kind == HOOK_START) {
		sigtrap_ask(run, task);
		switches_begin(run, task);
		linker_look(run, task);
		return;
	}
	if (hook.kind == HOOK_LOADED) {
		linker_told(run, task);
		return;
	}
	if (run->host->regs_get(task->tid, &regs))
		return;
	if (hook.kind == HOOK_SIGACTION || hook.kind == HOOK_CALL)
		actions_hook(run, task, &regs);
	if (hook.kind == HOOK_SIGPROCMASK || hook.kind == HOOK_CALL)
		hook_mask(run, task, &regs);
	if (hook.kind == HOOK_SIGPROCMASK && trap_mask_ended(run))
		plan_unhook(run, module->plan, hook.addr);
	if (hook.kind == HOOK_CLONE || hook.kind == HOOK_CALL)
		clones_hook(run, task, &regs);
	if (hook.kind == HOOK_MAP || hook.kind == HOOK_CALL)
		maps_hook(run, task, &regs);
	if (hook.kind == HOOK_CLONE || hook.kind == HOOK_SIGACTION ||
	    hook.kind == HOOK_SIGPROCMASK || hook.kind == HOOK_MAP ||
	    !task_abnormals(run, task))
		return;
	regs.r[run->arch->reg_pc] = hook.addr + module->bias;
	if (hook.kind == HOOK_STACK_SWITCH || hook.kind == HOOK_ENTRY)
		hook_stack_switch(run, task, module, &hook, &regs);
	else
		exec_prepare(run, task, &regs);
}
