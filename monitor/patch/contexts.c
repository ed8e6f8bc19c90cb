/*
 * Finds, when pmon attaches to a process, the contexts that running signal
 * handlers will return to, wherever on a stack those are, and tells
 * relocated_signal.c of them: a patch may be written across a context's pc.
 * Unwind tables are not needed.  The kernel puts the address of the code that
 * calls sigreturn at the beginning of a handler's frame, and the context behind
 * that address.  A context says where the stack is that its handler returns to.
 * Writes nothing itself.
 */
#include "monitor/patch/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/relocated_signal.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

enum {
	PIECE = 1 << 16,
	/* Stack pointers from which pmon looks: handlers may have stacks of
	   their own. */
	STACKS_MAX = 64,
	/* The part of a context that pmon looks at. */
	CONTEXT_MAX = 512,
	/* Bytes of the code that returns from a handler. */
	RETURN_MAX = 16,
};

/*
 * How far pmon looks from a stack pointer, at most: the mapping may be a heap
 * that has the stack in it.  And how much pmon reads for one task.
 */
static const uint64_t STACK_MAX = 1 << 26, WORK_MAX = 1 << 28;

/* A part of a stack, read from memory. */
struct part {
	uint64_t lo, hi;
	uint8_t bytes[PIECE + CONTEXT_MAX];
};

/* The stacks of a process. */
struct search {
	const struct process *process;
	struct mapping *maps;	/* ascending; read when they are needed */
	size_t nmaps;
	/* Of one task: where to look from, and what was looked at. */
	uint64_t from[STACKS_MAX];
	struct seen {
		uint64_t lo, hi;
	} seen[STACKS_MAX];
	size_t nfrom, nseen;
	uint64_t work;		/* bytes read */
	bool found;		/* a context; nothing is told of it if ... */
	bool asks;		/* ... pmon only asks whether there is one */
	bool partial;		/* not all stacks were looked at to their ends */
	struct part part;
};

static uint64_t
word_at(const struct part *part, uint64_t va)
{
	uint64_t word;

	memcpy(&word, part->bytes + (va - part->lo), sizeof(word));
	return word;
}

/* The mapping that has the va, or NULL. */
static const struct mapping *
mapping_at(const struct search *search, uint64_t va)
{
	size_t n = search_first(search->nmaps, i, search->maps[i].lo > va);

	return n && va < search->maps[n - 1].hi ? &search->maps[n - 1] : NULL;
}

/*
 * Read the stack from va to the end of its piece and CONTEXT_MAX bytes further,
 * but not beyond `end`.
 */
static bool
part_read(struct run *run, const struct task *task, uint64_t va, uint64_t end,
	  struct part *part)
{
	part->lo = va;
	part->hi = (va + PIECE) / PIECE * PIECE + CONTEXT_MAX;
	if (part->hi > end)
		part->hi = end;
	return !run->host->data_read(task->tid, va, part->bytes, part->hi - va);
}

/* Whether there may be a patch at va. */
static bool
relocated_handler_at(const struct space *space, uint64_t va)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->relocated &&
		    va - space->modules[i]->lo <
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
 * Is the context one that a handler returns to?  Most words are told from one
 * by their values alone.
 */
static bool
is_context(struct run *run, const struct task *task,
	   const struct search *search, uint64_t va)
{
	const struct part *part = &search->part;
	uint64_t context = va + sizeof(uint64_t);
	const struct mapping *code, *stack, *restorer;

	restorer = mapping_at(search, word_at(part, va));
	if (!restorer || !restorer->exec)
		return false;
	code = mapping_at(search,
			  word_at(part, context + run->abi->context_pc));
	stack = mapping_at(search,
			   word_at(part, context + run->abi->context_sp));
	return code && code->exec && stack && stack->write &&
	       returns_signal(run, task, word_at(part, va));
}

/* Report the contexts in the part, and note the stacks that they lead to. */
static void
part_contexts(struct run *run, struct task *task, struct search *search)
{
	const struct space *space = task->process->space;
	const struct part *part = &search->part;

	for (uint64_t va = part->lo; va + CONTEXT_MAX < part->hi; va += 8) {
		uint64_t context = va + sizeof(uint64_t), pc, sp;

		if (!is_context(run, task, search, va))
			continue;
		pc = word_at(part, context + run->abi->context_pc);
		sp = word_at(part, context + run->abi->context_sp);
		search->found = true;
		if (!search->asks &&
		    (relocated_handler_at(space, pc) || space_infers(space)))
			relocated_context(run, task, context, pc, sp);
		if (search->nfrom < STACKS_MAX)
			search->from[search->nfrom++] = sp & ~(uint64_t)7;
	}
}

/* The end of what was looked at and has the va, or else va. */
static uint64_t
seen_end(const struct search *search, uint64_t va)
{
	for (size_t i = 0; i < search->nseen; i++)
		if (va - search->seen[i].lo <
		    search->seen[i].hi - search->seen[i].lo)
			return search->seen[i].hi;
	return va;
}

/* Look from sp to the end of its mapping. */
static void
stack_contexts(struct run *run, struct task *task, struct search *search,
	       uint64_t sp)
{
	const struct mapping *map = mapping_at(search, sp);
	struct seen *seen = &search->seen[search->nseen];
	uint64_t end, va = sp;

	search->partial |= !map;
	if (!map)
		return;
	end = map->hi - sp > STACK_MAX ? sp + STACK_MAX : map->hi;
	while (va < end && search->work < WORK_MAX) {
		if (seen_end(search, va) != va) {
			va = seen_end(search, va);
			continue;
		}
		if (!part_read(run, task, va, map->hi, &search->part))
			break;
		search->work += PIECE;
		part_contexts(run, task, search);
		va = (va + PIECE) / PIECE * PIECE;
	}
	search->partial |= va < map->hi;
	*seen = (struct seen){ sp, va };
	search->nseen++;
}

static void
task_contexts(struct run *run, struct task *task, void *ctx)
{
	struct search *search = ctx;
	struct signal_state state;
	uint64_t sp;

	if (task->process != search->process || task->state != TASK_STOPPED ||
	    run->host->signals(task->tid, &state) || !state.caught ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp) ||
	    (!search->maps &&
	     run->host->maps(task->tid, &search->maps, &search->nmaps)))
		return;
	search->from[0] = sp & ~(uint64_t)7;
	search->nfrom = 1;
	search->nseen = 0;
	search->work = 0;
	for (size_t i = 0; i < search->nfrom; i++)
		stack_contexts(run, task, search, search->from[i]);
}

bool
contexts_excluded(struct run *run, struct task *task)
{
	struct search *search = mem_alloc(sizeof(*search));
	bool excluded;

	search->process = task->process;
	search->asks = true;
	task_contexts(run, task, search);
	excluded = search->nseen && !search->found && !search->partial;
	mappings_free(search->maps, search->nmaps);
	free(search);
	return excluded;
}

void
contexts_find(struct run *run, const struct process *process)
{
	struct search *search = mem_alloc(sizeof(*search));

	must(run->abi->context_pc < CONTEXT_MAX - 2 * sizeof(uint64_t) &&
	     run->abi->context_sp < CONTEXT_MAX - 2 * sizeof(uint64_t));
	search->process = process;
	task_each(run, task_contexts, search);
	mappings_free(search->maps, search->nmaps);
	free(search);
}
