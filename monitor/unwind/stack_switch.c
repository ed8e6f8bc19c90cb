/*
 * Finds the frames that a stack switch passes over.  Has the instructions from
 * the hook to the jump emulated on a copy of the registers, while the old stack
 * is still whole, to compute where control goes; then walks both stacks until
 * they meet.  Changes nothing in the task.
 */
#include "monitor/unwind/stack_switch.h"

#include <stdlib.h>
#include <string.h>

#include "arch/abi.h"
#include "flow/propagate.h"
#include "monitor/unwind/switch_code.h"
#include "monitor/unwind/switch_pattern.h"
#include "util/mem.h"
#include "util/search.h"

/* ---- frame edges */

static void
frame_edge_add(struct stack_switch *stack_switch, const struct frame *frame,
	       bool came)
{
	if (frame->begins)
		return;
	*vec_push(stack_switch->frame_edges,
		  stack_switch->n) = (struct frame_edge){
		.va = frame->pc,
		.sp = frame->sp,
		.during = !frame->exact,
		.came = came,
	};
}

/* Add the first n frames of a walk. */
static void
frame_edges_add(struct stack_switch *stack_switch, const struct walk *walk,
		size_t n, bool came)
{
	for (size_t i = 0; i < n; i++)
		frame_edge_add(stack_switch, &walk->frames[i], came);
}

static bool
frame_same(const struct frame *a, const struct frame *b)
{
	return a->pc == b->pc && a->sp == b->sp && a->exact == b->exact;
}

/*
 * Add the frame in which control arrives.  It is taken to come back from a call
 * that returns for the second time (setjmp, swapcontext), so to arrive during
 * that call; abnormal.c finds out where that is not so.
 */
static void
arrival_add(struct stack_switch *stack_switch, const struct walk *after)
{
	struct frame_edge *frame_edge = vec_push(stack_switch->frame_edges,
						 stack_switch->n);

	*frame_edge = (struct frame_edge){
		.va = after->frames[0].pc,
		.during = true,
		.came = true,
		.arrived = true,
		.sp = after->frames[0].sp,
	};
}

/*
 * Whether control just comes back from the call that is left: the switch has
 * passed over no frame.
 */
static bool
just_returns(const struct walk *before, size_t nbefore,
	     const struct walk *after, size_t nafter)
{
	return nbefore == 1 && nafter == 1 && !before->frames[0].exact &&
	       before->frames[0].pc == after->frames[0].pc &&
	       before->frames[0].sp == after->frames[0].sp;
}

static void
frame_edges_set(struct stack_switch *stack_switch, const struct walk *before,
		size_t nbefore, const struct walk *after, size_t nafter)
{
	if (just_returns(before, nbefore, after, nafter))
		return;
	frame_edges_add(stack_switch, before, nbefore, false);
	if (!nafter)
		return;
	arrival_add(stack_switch, after);
	for (size_t i = 1; i < nafter; i++)
		frame_edge_add(stack_switch, &after->frames[i], true);
}

/* Whether the outermost frames differ: one may have gone on meanwhile. */
static bool
walks_apart(const struct walk *before, const struct walk *after)
{
	return before->n && after->n &&
	       before->frames[before->n - 1].sp !=
		       after->frames[after->n - 1].sp;
}

void
stack_switch_diff(const struct walk *before, const struct walk *after,
		  struct stack_switch *stack_switch)
{
	size_t b = before->n, a = after->n;

	while (b && a &&
	       frame_same(&before->frames[b - 1], &after->frames[a - 1])) {
		b--;
		a--;
	}
	frame_edges_set(stack_switch, before, b, after, a);
	if (walks_apart(before, after))
		for (size_t i = 0; i < stack_switch->n; i++)
			stack_switch->frame_edges[i].apart = true;
}

static void
stack_switch_unknown(struct stack_switch *stack_switch, const struct walk *walk)
{
	stack_switch->unknown = mem_printf(
		"a stack could not be walked past %s", walk->why);
	stack_switch->reason = REASON_STACK;
}

static void
stack_switch_unfollowed(struct stack_switch *stack_switch, const char *why)
{
	stack_switch->unknown = mem_strdup(why);
	stack_switch->reason = REASON_LEFT;
}

bool
frame_edge_counted(const struct frame_edge *frame_edge,
		   const struct image *image, uint64_t bias)
{
	uint64_t addr = frame_edge->va - bias;
	const struct func *func = image_func(image, addr);
	size_t pad = search_first(image->npads, i, image->pads[i] >= addr);

	if (!frame_edge->arrived)
		return false;
	if (func && image->arch->first(func->addr) == addr)
		return true;
	return pad < image->npads && image->pads[pad] == addr;
}

/* ---- a stack switch */

/*
 * Turn the registers at a function's entry, or such as there, into those behind
 * its call, which returns to ra.
 */
static void
caller_set(const struct arch *arch, uint64_t ra, struct walk_start *start)
{
	start->regs.r[arch->reg_pc] = ra;
	start->regs.r[arch->reg_sp] += sizeof(ra);
	start->exact = false;
}

void
entries_note(struct entries *entries, uint64_t func, uint64_t sp,
	     const struct walk_start *caller)
{
	unsigned i;

	/* An entry of the same function at the same place has ended. */
	for (i = 0; i < ENTRIES; i++)
		if (entries->entries[i].func == func &&
		    entries->entries[i].sp == sp)
			break;
	if (i == ENTRIES)
		i = entries->next++ % ENTRIES;
	entries->entries[i] = (struct entry){ func, sp, *caller };
}

void
entries_add(struct entries *entries, const struct host *host, pid_t tid,
	    const struct arch *arch, const struct regs *regs)
{
	uint64_t func = regs->r[arch->reg_pc], sp = regs->r[arch->reg_sp];
	struct walk_start caller = { .regs = *regs };
	uint64_t ra;

	if (host->data_read(tid, sp, &ra, sizeof(ra)))
		func = 0;
	else
		caller_set(arch, ra, &caller);
	entries_note(entries, func, sp, &caller);
}

static const struct entry *
entry_find(const struct entries *entries, uint64_t func, uint64_t sp)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		if (entries->entries[i].func == func &&
		    entries->entries[i].sp == sp)
			return &entries->entries[i];
	return NULL;
}

/*
 * Where the frames that are left begin: in the caller of the function that has
 * the hook, as that function's own graph has the jump as an exit.  Returns 0,
 * or -1 if the caller is not known.
 */
static int
before_start(struct stack *stack, pid_t tid, const struct switch_at *at,
	     struct walk_start *start)
{
	const struct arch *arch = at->image->arch;
	const struct hook *hook = at->hook;
	const struct entry *entry;
	uint64_t ra;

	*start = (struct walk_start){ .regs = *at->regs };
	if (!hook->depth) {
		start->unknown = hook->changed;
		if (stack_read(stack, tid, start->regs.r[arch->reg_sp], &ra,
			       sizeof(ra)))
			return -1;
		caller_set(arch, ra, start);
		return 0;
	}
	if (hook->depth < 0)
		return -1;
	entry = entry_find(at->entries, hook->func + at->bias,
			   at->regs->r[arch->reg_sp] + (uint64_t)hook->depth);
	if (!entry)
		return -1;
	*start = entry->caller;
	return 0;
}

static bool
frame_met(const struct walk *walk, void *outer)
{
	return frame_same(&walk->frames[walk->n - 1], outer);
}

static bool
two_found(const struct walk *walk, void *ctx)
{
	return walk->n == 2;
}

/*
 * Walk both stacks.  Two frames of the new stack are enough if the second is
 * found in the old one: everything further out is then the same.
 */
static int
stacks_walk(struct stack *stack, pid_t tid, const struct walk_start *before,
	    const struct walk_start *after, struct walk *old, struct walk *new)
{
	const struct walk_until two_frames = { two_found, NULL };
	struct walk_until outer = { frame_met, NULL };
	bool two;
	int err = stack_walk(stack, tid, after, &two_frames, new);

	if (err)
		return err;
	two = new->end == WALK_ENOUGH;
	if (two)
		outer.ctx = &new->frames[1];
	err = stack_walk(stack, tid, before, two ? &outer : NULL, old);
	if (err || old->end != WALK_OUTERMOST || !two)
		return err;
	walk_free(new);
	return stack_walk(stack, tid, after, NULL, new);
}

/* Set the frame edges between two stacks. */
static int
stacks_compare(struct stack *stack, pid_t tid, const struct walk_start *before,
	       const struct walk_start *after,
	       struct stack_switch *stack_switch)
{
	struct walk old = { 0 }, new = { 0 };
	int err = stacks_walk(stack, tid, before, after, &old, &new);

	if (!err && old.end == WALK_TRUNCATED)
		stack_switch_unknown(stack_switch, &old);
	else if (!err && new.end == WALK_TRUNCATED)
		stack_switch_unknown(stack_switch, &new);
	else if (!err)
		stack_switch_diff(&old, &new, stack_switch);
	walk_free(&old);
	walk_free(&new);
	return err;
}

void
stack_switch_frame(const struct regs *from, const struct regs *to,
		   const struct arch *arch, struct stack_switch *stack_switch)
{
	struct frame before = { .pc = from->r[arch->reg_pc],
				.sp = from->r[arch->reg_sp],
				.exact = true };
	struct frame after = { .pc = to->r[arch->reg_pc],
			       .sp = to->r[arch->reg_sp],
			       .exact = true };

	*stack_switch = (struct stack_switch){ .after = *to };
	frame_edge_add(stack_switch, &before, false);
	arrival_add(stack_switch, &(struct walk){ .frames = &after, .n = 1 });
}

int
stack_switch_context(struct stack *stack, pid_t tid, const struct regs *from,
		     const struct regs *to, struct stack_switch *stack_switch)
{
	struct walk_start before = { .regs = *from, .exact = true };
	struct walk_start after = { .regs = *to, .exact = true };
	int err;

	*stack_switch = (struct stack_switch){ .after = *to };
	stack_cache(stack);
	err = stacks_compare(stack, tid, &before, &after, stack_switch);
	stack_uncache(stack);
	return err;
}

/* The same as stack_switch_find, with the stack cached. */
static int
switch_find(struct stack *stack, pid_t tid, const struct switch_at *at,
	    struct stack_switch *stack_switch)
{
	struct walk_start before,
		after = { .regs = *at->regs, .exact = true, .arrives = true };

	if (before_start(stack, tid, at, &before)) {
		stack_switch_unfollowed(
			stack_switch,
			at->hook->depth < 0 ?
				"a function leaves a stack in a way that pmon "
				"does not follow" :
				"the caller of the function that leaves a "
				"stack is not known");
		return HOST_OK;
	}
	if (switch_code_run(stack, tid, at->image, at->bias, at->hook,
			    &after.regs)) {
		stack_switch_unfollowed(stack_switch,
					"the target of the function that "
					"leaves a stack is not known");
		return HOST_OK;
	}
	stack_switch->after = after.regs;
	return stacks_compare(stack, tid, &before, &after, stack_switch);
}

int
stack_switch_find(struct stack *stack, pid_t tid, const struct switch_at *at,
		  struct stack_switch *stack_switch)
{
	const struct arch *arch = at->image->arch;
	int err;

	*stack_switch = (struct stack_switch){ 0 };
	stack_cache_at(stack, tid, at->regs->r[arch->reg_pc],
		       at->regs->r[arch->reg_sp]);
	err = switch_find(stack, tid, at, stack_switch);
	stack_uncache(stack);
	return err;
}

/* Where the stack pointer is at the jump, which a return moves on from. */
static uint64_t
sp_at_jump(const struct switch_at *at, const struct regs *after)
{
	const struct image *image = at->image;
	const struct arch *arch = image->arch;
	const uint8_t *code;
	struct insn insn;
	size_t avail;

	code = image_text(image, at->hook->end, &avail);
	if (!code || arch->decode(code, avail, at->hook->end, &insn) ||
	    insn.kind != INSN_RETURN)
		return after->r[arch->reg_sp];
	return after->r[arch->reg_sp] - sizeof(uint64_t);
}

static bool
walks_pattern(struct stack *stack, pid_t tid, const struct switch_at *at,
	      const struct walk_start *before, const struct walk_start *after,
	      const struct walk *old, const struct walk *new,
	      struct switch_pattern *pattern)
{
	const struct arch *arch = at->image->arch;
	const struct pattern_stack stacks[] = {
		{ old, at->regs->r[arch->reg_sp] + (uint64_t)at->hook->depth,
		  false, !(before->unknown & UINT32_C(1) << arch->reg_fp) },
		{ new, sp_at_jump(at, &after->regs), true, true },
	};

	*pattern = (struct switch_pattern){
		.target = after->regs.r[arch->reg_pc],
		.distance = stacks[1].sp - stacks[0].sp,
	};
	return old->end != WALK_TRUNCATED &&
	       new->end != WALK_TRUNCATED &&pattern_add(stack, tid, &stacks[0],
							pattern) &&
	       pattern_add(stack, tid, &stacks[1], pattern);
}

bool
stack_switch_pattern(struct stack *stack, pid_t tid, const struct switch_at *at,
		     struct switch_pattern *pattern)
{
	struct walk_start before,
		after = { .regs = *at->regs, .exact = true, .arrives = true };
	struct walk old = { 0 }, new = { 0 };
	bool found;

	stack_cache(stack);
	found = !before_start(stack, tid, at, &before) &&
		!switch_code_run(stack, tid, at->image, at->bias, at->hook,
				 &after.regs) &&
		!stacks_walk(stack, tid, &before, &after, &old, &new) &&
		walks_pattern(stack, tid, at, &before, &after, &old, &new,
			      pattern);
	stack_uncache(stack);
	walk_free(&old);
	walk_free(&new);
	return found;
}

/* ---- whole stacks */

/* Is the instruction just before va a system call? */
static bool
behind_call(struct stack *stack, pid_t tid, uint64_t va)
{
	const struct arch *arch = stack_arch(stack);
	uint8_t code[sizeof(arch->syscall)];

	return !stack_text(stack, tid, va - arch->syscall_len, code,
			   arch->syscall_len) &&
	       !memcmp(code, arch->syscall, arch->syscall_len);
}

/*
 * Is the task in a system call?  Its pc is behind that then, but control is
 * not: the call may never come back.
 */
static bool
start_in_call(struct stack *stack, pid_t tid, const struct walk_start *start)
{
	const struct arch *arch = stack_arch(stack);
	const struct abi *abi = abi_find(arch);

	return start->exact && abi->reg_orig != REG_NONE &&
	       (int64_t)start->regs.r[abi->reg_orig] >= 0 &&
	       behind_call(stack, tid, start->regs.r[arch->reg_pc]);
}

/*
 * Walk again from before a system call.  glibc has no tables behind the call
 * that makes a thread, as the new thread comes there too; the stack is the same
 * before the call.
 */
static int
walk_behind_call(struct stack *stack, pid_t tid, const struct walk_start *start,
		 struct walk *walk)
{
	const struct arch *arch = stack_arch(stack);
	struct walk_start call = *start;

	if (!behind_call(stack, tid, start->regs.r[arch->reg_pc]))
		return HOST_OK;
	walk_free(walk);
	call.regs.r[arch->reg_pc] -= arch->syscall_len + 1;
	if (stack_walk(stack, tid, &call, NULL, walk))
		return HOST_GONE;
	if (!walk->n)
		return HOST_OK;
	walk->frames[0].pc = start->regs.r[arch->reg_pc];
	/* The new thread has no frames further out. */
	if (walk->end == WALK_TRUNCATED &&
	    !call.regs.r[abi_find(arch)->reg_result]) {
		walk->n = 1;
		walk->end = WALK_OUTERMOST;
	}
	return HOST_OK;
}

static int
stack_switch_whole(struct stack *stack, pid_t tid,
		   const struct walk_start *start, bool came,
		   struct stack_switch *stack_switch)
{
	struct walk walk;
	int err = stack_walk(stack, tid, start, NULL, &walk);

	if (!err && walk.end == WALK_TRUNCATED && walk.n <= 1 && start->exact)
		err = walk_behind_call(stack, tid, start, &walk);
	if (!err && walk.end == WALK_TRUNCATED)
		stack_switch_unknown(stack_switch, &walk);
	if (!err && walk.n && start_in_call(stack, tid, start))
		walk.frames[0].exact = false;
	if (!err)
		frame_edges_add(stack_switch, &walk, walk.n, came);
	walk_free(&walk);
	return err;
}

int
stack_switch_all(struct stack *stack, pid_t tid, bool came,
		 struct stack_switch *stack_switch)
{
	struct walk_start start;

	*stack_switch = (struct stack_switch){ 0 };
	if (walk_start(stack_host(stack), tid, &start))
		return HOST_GONE;
	return stack_switch_whole(stack, tid, &start, came, stack_switch);
}

int
stack_switch_birth(struct stack *stack, pid_t tid, uint64_t sp,
		   struct stack_switch *stack_switch)
{
	struct walk_start start;

	*stack_switch = (struct stack_switch){ 0 };
	if (walk_start(stack_host(stack), tid, &start))
		return HOST_GONE;
	if (start.regs.r[stack_arch(stack)->reg_sp] == sp)
		return stack_switch_whole(stack, tid, &start, true,
					  stack_switch);
	*vec_push(stack_switch->frame_edges,
		  stack_switch->n) = (struct frame_edge){
		.va = start.regs.r[stack_arch(stack)->reg_pc],
		.during = start_in_call(stack, tid, &start),
		.came = true,
	};
	return HOST_OK;
}

int
stack_switch_exec(struct stack *stack, pid_t tid, const struct regs *regs,
		  uint64_t after, struct stack_switch *stack_switch)
{
	const struct arch *arch = stack_arch(stack);
	const struct abi *abi = abi_find(arch);
	struct walk_start start = { .regs = *regs, .exact = true };
	uint64_t nr = regs->r[abi->reg_nr], pc = regs->r[arch->reg_pc];
	int err;

	*stack_switch = (struct stack_switch){ 0 };
	/* At the entry of the call, another register has its number. */
	if (pc == after)
		nr = regs->r[abi->reg_orig];
	if (nr != (uint64_t)abi->nr_exec && nr != (uint64_t)abi->nr_execat)
		return HOST_OK;
	err = stack_switch_whole(stack, tid, &start, false, stack_switch);
	if (!err && stack_switch->n) {
		stack_switch->frame_edges[0].va = after;
		stack_switch->frame_edges[0].during = true;
	}
	return err;
}

void
stack_switch_free(struct stack_switch *stack_switch)
{
	free(stack_switch->frame_edges);
	free(stack_switch->unknown);
	*stack_switch = (struct stack_switch){ 0 };
}
