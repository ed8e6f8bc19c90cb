/*
 * Signal handlers that are running when a process is attached to: finds what
 * they return to, wherever on the stack that is, and tells relocated_signal.c.
 * There a patch may be written over the middle of which the pc is.  Unwinders'
 * tables are not needed for that: the kernel's layout of a handler's frame has
 * the address of the code that makes the system call sigreturn, and behind it
 * the context.
 */
#include <string.h>

#include "monitor/patch/contexts.h"
#include "monitor/patch/relocated.h"
#include "monitor/run.h"
#include "util/fail.h"

enum {
	PIECE = 4096,
	/* What is that far up the stack from a handler is not looked at: where
	   a thread's stack ends nothing tells. */
	STACK_MAX = 1 << 18,
	/* Handlers may run on stacks of their own. */
	STACKS_MAX = 4,
	/* From a context on, as far as it is looked at. */
	CONTEXT_MAX = 512,
	/* The code that returns from a handler. */
	RETURN_MAX = 16,
};

/* A part of a stack, as it was read. */
struct part {
	uint64_t lo, hi;
	uint8_t bytes[PIECE + CONTEXT_MAX];
};

static uint64_t
word_at(const struct part *part, uint64_t va)
{
	uint64_t word;

	memcpy(&word, part->bytes + (va - part->lo), sizeof(word));
	return word;
}

/* From va on as much as there is: up to the end of a page where it ends. */
static bool
part_read(struct run *run, const struct task *task, uint64_t va,
	  struct part *part)
{
	uint64_t end = (va + PIECE) & ~(uint64_t)(PIECE - 1);

	part->lo = va;
	part->hi = end + CONTEXT_MAX;
	if (!run->host->data_read(task->tid, va, part->bytes, part->hi - va))
		return true;
	part->hi = end;
	return !run->host->data_read(task->tid, va, part->bytes, end - va);
}

/* May a patch be there? */
static bool
relocated_handler_at(const struct space *space, uint64_t va)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->relocated && va - space->modules[i]->lo <
		    space->modules[i]->hi - space->modules[i]->lo)
			return true;
	return false;
}

/* Is there code at va that loads the call's number and makes the call? */
static bool
returns_signal(struct run *run, const struct task *task, uint64_t va)
{
	const struct arch *arch = run->arch;
	uint8_t code[RETURN_MAX];
	uint32_t nr;

	if (run->host->data_read(task->tid, va, code, sizeof(code)))
		return false;
	for (size_t i = sizeof(nr); i + arch->syscall_len <= sizeof(code);
	     i++) {
		memcpy(&nr, code + i - sizeof(nr), sizeof(nr));
		if (!memcmp(code + i, arch->syscall, arch->syscall_len))
			return nr == (uint32_t)run->abi->nr_sigreturn;
	}
	return false;
}

/*
 * Look through the part for contexts, whose stack pointer is higher.  The
 * lowest that is on another stack, or 0.
 */
static uint64_t
part_contexts(struct run *run, struct task *task, const struct part *part,
	      uint64_t lo)
{
	const struct space *space = task->process->space;
	uint64_t other = 0;

	for (uint64_t va = part->lo; va + CONTEXT_MAX < part->hi; va += 8) {
		uint64_t context = va + sizeof(uint64_t), pc, sp;

		pc = word_at(part, context + run->abi->context_pc);
		if (!relocated_handler_at(space, pc) ||
		    !returns_signal(run, task, word_at(part, va)))
			continue;
		sp = word_at(part, context + run->abi->context_sp);
		relocated_context(run, task, context, pc, sp);
		if (sp < lo || sp - lo >= STACK_MAX)
			other = sp;
	}
	return other;
}

static uint64_t
stack_contexts(struct run *run, struct task *task, uint64_t sp)
{
	uint64_t other = 0, next;
	struct part part;

	for (uint64_t va = sp; va - sp < STACK_MAX &&
	     part_read(run, task, va, &part);
	     va = (va + PIECE) & ~(uint64_t)(PIECE - 1)) {
		next = part_contexts(run, task, &part, sp);
		if (next)
			other = next;
	}
	return other;
}

void
contexts_find(struct run *run, struct task *task)
{
	struct signal_state state;
	uint64_t sp;

	must(run->abi->context_pc < CONTEXT_MAX - 2 * sizeof(uint64_t) &&
	     run->abi->context_sp < CONTEXT_MAX - 2 * sizeof(uint64_t));
	if (run->host->signals(task->tid, &state) || !state.caught ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return;
	for (int i = 0; sp && i < STACKS_MAX; i++)
		sp = stack_contexts(run, task, sp & ~(uint64_t)7);
}
