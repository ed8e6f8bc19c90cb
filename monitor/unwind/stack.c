/*
 * Walks the frames of a stopped task, from each to its caller, by the rules of
 * the unwind tables or, where there are none, by a frame pointer that the code
 * is seen to keep (stack_text.c).  Decides whether a walk that ends has come to
 * the first frame.  Never guesses: a walk that finds no certain way is
 * truncated.
 */
#include "monitor/unwind/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/unwind/stack_begins.h"
#include "monitor/unwind/stack_foreseen.h"
#include "monitor/unwind/stack_known.h"
#include "monitor/unwind/stack_memory.h"
#include "monitor/unwind/stack_rules.h"
#include "monitor/unwind/stack_text.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	FRAMES_MAX = 1 << 22,
	ENTRY_MAX = 4096,	/* longest code at an entry point */
};

struct stack {
	const struct arch *arch;
	struct stack_begins begins;
	struct dwarf_abi dwarf;
	struct known *known;
	unsigned cached;	/* number of the walks that share pages, or 0 */
	struct stack_pages *foreseen;	/* becomes what they need; or NULL */
};

/* What the walk does next. */
enum step {
	STEP_ON,
	STEP_ENDED,		/* walk->end is set */
	STEP_AGAIN,		/* from the start: the files had changed */
};

struct walking {
	struct stack *stack;
	pid_t tid;
	const struct walk_start *start;
	const struct walk_until *until;	/* or NULL */
	struct walk *walk;
	struct stack_memory memory;
	struct registers regs;	/* of the last frame */
	Dwfl_Module *module;	/* of the last frame's code */
	enum step step;
	bool refreshed;		/* the map was read in this walk */
	struct stack_files now;	/* STEP_AGAIN: with the map */
};

static int
word_read(void *ctx, uint64_t va, uint64_t *word)
{
	const struct walking *w = ctx;

	return stack_memory_read(&w->memory, va, word, sizeof(*word));
}

/* ---- what the tables say of an address */

/* A return address is looked up by the byte before it, in the call. */
static uint64_t
lookup_pc(const struct frame *frame)
{
	return frame->exact ? frame->pc : frame->pc - 1;
}

static Dwfl_Module *
module_at(struct walking *w, uint64_t va)
{
	Dwfl *dwfl = w->stack->known->files.dwfl;

	return dwfl ? dwfl_addrmodule(dwfl, va) : NULL;
}

/* The rule for va, good until the next call; NULL if there is none. */
static const struct rule *
rule_in(struct walking *w, Dwfl_Module *module, uint64_t va)
{
	return known_rule(w->stack->known, &w->stack->dwarf, module, va);
}

static const struct rule *
rule_at(struct walking *w, uint64_t va)
{
	Dwfl_Module *module = module_at(w, va);

	return module ? rule_in(w, module, va) : NULL;
}

/* ---- what the code says of an address */

static struct text
text_of(const struct walking *w)
{
	return (struct text){ &w->stack->known->files, w->stack->arch, w->tid };
}

/* Whether the frame's function keeps a frame pointer there. */
static bool
frame_pointed(struct walking *w, const struct frame *frame)
{
	uint64_t pc = lookup_pc(frame);
	Dwfl_Module *module = module_at(w, pc);
	struct text text = text_of(w);

	return module && known_pointed(w->stack->known, &w->stack->dwarf,
				       module, &text, pc, frame->exact);
}

/* ---- where a walk ends */

/* Say where a walk was truncated, and why. */
static void
truncation_say(struct walking *w, const char *why, uint64_t va, char *text)
{
	Dwfl_Module *module = module_at(w, va);
	const char *name = NULL, *func = NULL;
	GElf_Addr bias = 0;

	if (module) {
		name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL,
					NULL, NULL);
		func = dwfl_module_addrname(module, va);
		dwfl_module_getelf(module, &bias);
	}
	if (!module)
		snprintf(text, WALK_WHY, "code outside any file (%s)", why);
	else if (func)
		snprintf(text, WALK_WHY, "%.100s in %.160s (%s)", func, name,
			 why);
	else
		snprintf(text, WALK_WHY, "0x%" PRIx64 " in %.160s (%s)",
			 va - bias, name, why);
}

static void
walk_truncate(struct walking *w, const char *why, uint64_t va)
{
	struct known *known = w->stack->known;

	w->walk->end = WALK_TRUNCATED;
	w->step = STEP_ENDED;
	if (known->truncation.why != why || known->truncation.va != va) {
		truncation_say(w, why, va, known->truncation.text);
		known->truncation.why = why;
		known->truncation.va = va;
	}
	memcpy(w->walk->why, known->truncation.text, WALK_WHY);
}

static void
walk_outermost(struct walking *w)
{
	w->walk->end = WALK_OUTERMOST;
	w->step = STEP_ENDED;
}

/*
 * Whether a return address is a function's beginning: makecontext, for one,
 * puts it there for a return to begin the function, and nobody called from
 * there.
 */
static bool
frame_begins(struct walking *w, const struct frame *frame)
{
	const struct rule *rule;

	if (frame->exact || rule_at(w, frame->pc - 1))
		return false;
	rule = rule_at(w, frame->pc);
	return rule && rule->lo == frame->pc;
}

/*
 * Whether the code from a file's entry point up to the frame's pc has no
 * tables: the dynamic linker's start, or that of a program without one.
 */
static bool
frame_is_entry(struct walking *w, const struct frame *frame)
{
	Dwfl_Module *module = module_at(w, frame->pc);
	const struct mapped_file *file = module ? files_of(module) : NULL;

	if (!file || !file->entry || frame->pc < file->entry ||
	    frame->pc - file->entry >= ENTRY_MAX)
		return false;
	for (uint64_t va = file->entry; va <= frame->pc; va++)
		if (rule_in(w, module, va))
			return false;
	return true;
}

/*
 * Whether the function begins by setting the stack pointer: then it has no
 * caller, whatever its table says (glibc's __start_context).
 */
static bool
frame_sets_stack(struct walking *w, const struct frame *frame)
{
	const struct rule *rule = rule_at(w, lookup_pc(frame));
	struct text text = text_of(w);

	return rule && text_sets_stack(&text, rule->lo);
}

/*
 * There is no way on from the last frame, or none that can be trusted: decide
 * whether that frame is the first of the stack.
 */
static void
walk_resolve(struct walking *w, const char *why)
{
	struct walk *walk = w->walk;
	struct frame *last;

	if (!walk->n) {
		walk_truncate(w, why, w->start->regs.r[w->stack->arch->reg_pc]);
		return;
	}
	last = &walk->frames[walk->n - 1];
	last->cfa = 0;
	if (frame_begins(w, last)) {
		last->begins = true;
		walk_outermost(w);
	} else if (frame_is_entry(w, last) || frame_sets_stack(w, last)) {
		walk_outermost(w);
	} else if (walk->n > 1 && frame_sets_stack(w, last - 1)) {
		walk->n--;
		last[-1].cfa = 0;
		walk_outermost(w);
	} else {
		walk_truncate(w, why, lookup_pc(last));
	}
}

/* ---- frames without tables */

/* Get the caller's registers by the frame pointer. */
static int
pointer_apply(struct walking *w)
{
	struct stack *stack = w->stack;
	struct registers *regs = &w->regs;
	uint64_t fp = regs->value[stack->dwarf.fp];

	if (!(regs->known & UINT32_C(1) << stack->dwarf.fp) ||
	    word_read(w, fp + stack->dwarf.abi->frame_return,
		      &regs->value[stack->dwarf.pc]) ||
	    word_read(w, fp, &regs->value[stack->dwarf.fp]))
		return -1;
	regs->value[stack->dwarf.sp] = fp + stack->dwarf.abi->frame_size;
	regs->known = UINT32_C(1) << stack->dwarf.fp |
		      UINT32_C(1) << stack->dwarf.sp |
		      UINT32_C(1) << stack->dwarf.pc;
	return 0;
}

/* ---- frames */

/*
 * Read the map again, once in a walk; true if the files have changed, so the
 * walk must start again.
 */
static bool
walk_refresh(struct walking *w)
{
	if (w->refreshed)
		return false;
	w->refreshed = true;
	if (!files_changed(&w->stack->known->files, w->tid, &w->now))
		return false;
	w->step = STEP_AGAIN;
	return true;
}

/* The module of the frame's code, if it is what is mapped; or NULL. */
static Dwfl_Module *
frame_module(struct walking *w, const struct frame *frame)
{
	Dwfl_Module *module = NULL;
	bool stale = false;

	if (w->stack->known->files.dwfl)
		module = files_module(&w->stack->known->files, &w->memory,
				      lookup_pc(frame), &stale);
	if (module && !stale)
		return module;
	if (!walk_refresh(w))
		walk_resolve(w, stale ? "the file has changed" :
					"there is no file");
	return NULL;
}

/* Add the frame that the registers describe. */
static void
frame_add(struct walking *w, bool exact)
{
	struct walk *walk = w->walk;
	struct frame frame = {
		.pc = w->regs.value[w->stack->dwarf.pc],
		.sp = w->regs.value[w->stack->dwarf.sp],
		.exact = exact,
	};
	const struct rule *rule;

	*vec_push(walk->frames, walk->n) = frame;
	w->module = frame_module(w, &frame);
	if (!w->module)
		return;
	/* The trampoline that a handler returns to has not run yet. */
	if (!frame.exact) {
		rule = rule_in(w, w->module, frame.pc);
		walk->frames[walk->n - 1].begins = rule && rule->signal;
	}
	if (w->until && w->until->enough(walk, w->until->ctx)) {
		walk->end = WALK_ENOUGH;
		w->step = STEP_ENDED;
	}
}

/*
 * Whether a stack begins in the last frame, which has no return address.  So it
 * is if control came to a function's first instruction by a stack switch, now
 * or before.  A return address that was overwritten by zeros looks the same,
 * but is elsewhere.
 */
static bool
frame_is_first(struct walking *w, const struct rule *rule)
{
	const struct walk *walk = w->walk;
	uint64_t sp = w->regs.value[w->stack->dwarf.sp];

	if (w->start->arrives && walk->n == 1 && rule &&
	    rule_enters(&w->stack->dwarf, rule, walk->frames[0].pc))
		begins_add(&w->stack->begins, sp);
	return begins_have(&w->stack->begins, sp);
}

/*
 * Whether these registers can be those of the last frame's caller, as the rule,
 * if any, says; if not, the walk has ended.
 */
static bool
caller_check(struct walking *w, const struct rule *rule)
{
	uint64_t sp = w->regs.value[w->stack->dwarf.sp];
	struct walk *walk = w->walk;
	struct frame *last = &walk->frames[walk->n - 1];

	if (!w->regs.value[w->stack->dwarf.pc]) {
		if (frame_is_first(w, rule))
			walk_outermost(w);
		else
			walk_resolve(w, "the return address is 0");
		return false;
	}
	/*
	 * A signal handler may run on another stack than what it interrupted.
	 * The innermost frame may have its return address in a register, like
	 * vfork's.
	 */
	if (!last->begins &&
	    (sp < last->sp || (sp == last->sp && walk->n > 1))) {
		walk_resolve(w, "the stack goes backwards");
		return false;
	}
	if (walk->n == FRAMES_MAX) {
		walk_truncate(w, "too many frames", last->pc);
		return false;
	}
	last->cfa = sp;
	return true;
}

/* Go on from the last frame to its caller. */
static void
frame_next(struct walking *w)
{
	struct stack *stack = w->stack;
	const struct word_reader reader = { word_read, w };
	const struct frame *last = &w->walk->frames[w->walk->n - 1];
	const struct rule *rule = rule_in(w, w->module, lookup_pc(last));
	bool signal = rule && rule->signal;

	if (rule && rule->outermost) {
		walk_outermost(w);
		return;
	}
	if (rule &&
	    rule_apply(&stack->dwarf, w->module, rule, &reader, &w->regs)) {
		walk_resolve(w, "no way to unwind");
		return;
	}
	if (!rule && (!frame_pointed(w, last) || pointer_apply(w))) {
		walk_resolve(w, "no unwind table");
		return;
	}
	if (caller_check(w, rule))
		frame_add(w, signal);
}

/* ---- interface */

struct stack *
stack_open(const struct host *host, const struct arch *arch)
{
	struct stack *stack = mem_alloc(sizeof(*stack));

	stack->arch = arch;
	stack->dwarf.abi = abi_find(arch);
	must(stack->dwarf.abi);
	for (unsigned i = 0; i < stack->dwarf.abi->ndwarf; i++) {
		if (stack->dwarf.abi->dwarf[i] == arch->reg_sp)
			stack->dwarf.sp = i;
		if (stack->dwarf.abi->dwarf[i] == arch->reg_pc)
			stack->dwarf.pc = i;
		if (stack->dwarf.abi->dwarf[i] == arch->reg_fp)
			stack->dwarf.fp = i;
	}
	stack->known = known_open(files_none(host));
	return stack;
}

struct stack *
stack_copy(const struct stack *stack)
{
	struct stack *copy = stack_open(stack->known->files.host, stack->arch);

	known_close(copy->known);
	copy->known = known_share(stack->known);
	begins_copy(&copy->begins, &stack->begins);
	return copy;
}

void
stack_close(struct stack *stack)
{
	if (!stack)
		return;
	begins_free(&stack->begins);
	known_close(stack->known);
	free(stack);
}

const struct host *
stack_host(const struct stack *stack)
{
	return stack->known->files.host;
}

const struct arch *
stack_arch(const struct stack *stack)
{
	return stack->arch;
}

static void
registers_start(struct walking *w)
{
	const struct abi *abi = w->stack->dwarf.abi;

	w->regs.known = 0;
	for (unsigned i = 0; i < abi->ndwarf; i++) {
		w->regs.value[i] = w->start->regs.r[abi->dwarf[i]];
		if (!(w->start->unknown & UINT32_C(1) << abi->dwarf[i]))
			w->regs.known |= UINT32_C(1) << i;
	}
}

/*
 * Go on with the map that has been read.  If it is the first, all that share the
 * struct known get it: a shell's children have their stacks walked, the shell
 * itself may not.
 */
static void
files_renew(struct stack *stack, struct stack_files now, pid_t tid)
{
	files_read(&now, tid);
	if (!stack->known->files.dwfl) {
		files_free(&stack->known->files);
		stack->known->files = now;
		return;
	}
	known_close(stack->known);
	stack->known = known_open(now);
}

static void
walk_once(struct walking *w)
{
	w->walk->n = 0;
	w->step = STEP_ON;
	registers_start(w);
	frame_add(w, w->start->exact);
	while (w->step == STEP_ON)
		frame_next(w);
}

void
stack_cache(struct stack *stack)
{
	stack->cached = stack_memory_begin();
}

void
stack_cache_at(struct stack *stack, pid_t tid, uint64_t pc, uint64_t sp)
{
	stack_cache(stack);
	stack->foreseen = stack_foreseen(pc, sp);
	stack_memory_fetch(&(struct stack_memory){ stack->known->files.host,
						   tid, stack->cached },
			   stack->foreseen);
}

void
stack_uncache(struct stack *stack)
{
	if (stack->foreseen)
		*stack->foreseen = stack_memory_needed();
	stack->foreseen = NULL;
	stack->cached = 0;
}

int
stack_read(struct stack *stack, pid_t tid, uint64_t va, void *buf, size_t n)
{
	const struct stack_memory memory = { stack->known->files.host, tid,
					     stack->cached };

	must(stack->cached);
	return stack_memory_read(&memory, va, buf, n);
}

int
stack_walk(struct stack *stack, pid_t tid, const struct walk_start *start,
	   const struct walk_until *until, struct walk *walk)
{
	struct walking w = {
		.stack = stack,
		.tid = tid,
		.start = start,
		.until = until,
		.walk = walk,
		.memory = { stack->known->files.host, tid,
			    stack->cached ? stack->cached :
					    stack_memory_begin() },
	};

	*walk = (struct walk){ 0 };
	for (;;) {
		walk_once(&w);
		if (w.step != STEP_AGAIN)
			break;
		files_renew(stack, w.now, tid);
	}
	/* If memory or the maps could not be read, the task may have died. */
	if (walk->end == WALK_TRUNCATED &&
	    host_killed(stack->known->files.host, tid))
		return HOST_GONE;
	return HOST_OK;
}

void
walk_free(struct walk *walk)
{
	free(walk->frames);
	walk->frames = NULL;
	walk->n = 0;
}

/* Where the rule says that a register is saved, from the cfa. */
static bool
rule_saves(const struct rule *rule, unsigned reg, int32_t *at)
{
	for (unsigned i = 0; i < rule->nsaved; i++)
		if (rule->saved_reg[i] == reg) {
			*at = rule->saved_at[i];
			return true;
		}
	return false;
}

bool
stack_way(struct stack *stack, pid_t tid, const struct frame *frame,
	  struct frame_way *way)
{
	struct walking w = { .stack = stack, .tid = tid };
	const struct rule *rule = rule_at(&w, lookup_pc(frame));

	*way = (struct frame_way){
		.outermost = rule ? rule->outermost : frame->begins,
	};
	/* What frame_next finds where there is no rule. */
	if (!rule)
		return frame->begins && !frame_pointed(&w, frame);
	if (rule->outermost || rule->signal || frame->begins)
		return rule->outermost;
	way->by_fp = rule->cfa_reg == stack->dwarf.fp;
	way->offset = rule->cfa_offset;
	way->fp_saved = rule_saves(rule, stack->dwarf.fp, &way->fp_at);
	return rule->simple &&
	       (way->by_fp || rule->cfa_reg == stack->dwarf.sp) &&
	       rule_saves(rule, stack->dwarf.pc, &way->return_at);
}

int
walk_start(const struct host *host, pid_t tid, struct walk_start *start)
{
	*start = (struct walk_start){ .exact = true };
	return host->regs_get(tid, &start->regs);
}

int
stack_text(struct stack *stack, pid_t tid, uint64_t va, void *buf, size_t n)
{
	struct stack_files now;

	if (!stack->known->files.dwfl &&
	    files_changed(&stack->known->files, tid, &now))
		files_renew(stack, now, tid);
	return files_text(&stack->known->files, tid, va, buf, n);
}
