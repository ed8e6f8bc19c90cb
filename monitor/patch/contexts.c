/*
 * Finds, when pmon attaches to a process, the contexts that running signal
 * handlers will return to, wherever on a stack those are, and tells
 * relocated_signal.c of them: a patch may be written across a context's pc.
 * Unwind tables are not needed.  The kernel puts the address of the code that
 * calls sigreturn at the beginning of a handler's frame, and the context behind
 * that address.  Writes nothing itself.
 */
#include <string.h>

#include "monitor/patch/contexts.h"
#include "monitor/patch/relocated.h"
#include "monitor/run.h"
#include "util/fail.h"

enum {
	PIECE = 4096,
	/* How far up the stack from a handler pmon looks: nothing tells where a
	   thread's stack ends. */
	STACK_MAX = 1 << 18,
	/* Stacks that pmon follows: handlers may have their own. */
	STACKS_MAX = 4,
	/* The part of a context that pmon looks at. */
	CONTEXT_MAX = 512,
	/* Bytes of the code that returns from a handler. */
	RETURN_MAX = 16,
};

/* A part of a stack, read from memory. */
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

/*
 * Read the stack from va to the end of its page and CONTEXT_MAX bytes further,
 * or only to the end of the page if the stack ends there.
 */
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

/* Whether there may be a patch at va. */
static bool
relocated_handler_at(const struct space *space, uint64_t va)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->relocated && va - space->modules[i]->lo <
		    space->modules[i]->hi - space->modules[i]->lo)
			return true;
	return false;
}

/* Whether the code at va loads the number of sigreturn and makes that call. */
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
 * Report the contexts in the part.  Returns the stack pointer of the last of
 * them that is on another stack than `lo`, or 0.
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
