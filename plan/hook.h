/*
 * Where code may leave its stack frames otherwise than by returning: the
 * places in an image's text, found by what the instructions do, so that it
 * does not matter whether they have names.  Pure: touches no process.
 */
#ifndef PLAN_HOOK_H
#define PLAN_HOOK_H

#include "arch/abi.h"
#include "symtab/image.h"

enum hook_kind {
	/*
	 * From here on straight to `end` the registers are loaded that are
	 * to be found elsewhere, the stack pointer among them, and the
	 * instruction at `end` jumps there: longjmp, setcontext, swapcontext,
	 * _Unwind_RaiseException and its like, and whatever else switches
	 * stacks so.
	 */
	HOOK_STACK_SWITCH,
	/*
	 * The entry of a function that has such a place, but overwrites its
	 * own frame before (libgcc's): where it was called from is known here
	 * only.  end is as addr.
	 */
	HOOK_ENTRY,
	/* A system call instruction that does execve or execveat. */
	HOOK_EXEC,
	/* One that does clone or clone3, whose flags may be any. */
	HOOK_CLONE,
	/* One that does rt_sigaction: SIGTRAP matters to traps. */
	HOOK_SIGACTION,
	/* One that may do any of these: the number tells (syscall(2)). */
	HOOK_CALL,
	/* Not found here: the program's start, when its libraries are there. */
	HOOK_START,
	/* Not found here: where the dynamic linker says that more are. */
	HOOK_LOADED,
	/* Nor here: where signal handlers return to. */
	HOOK_SIGRETURN,
};

/* A trap belongs at addr, before the instruction there is run. */
struct hook {
	uint64_t addr;
	uint64_t end;
	uint8_t kind;		/* enum hook_kind */
	/* The rest is a HOOK_STACK_SWITCH's. */
	uint64_t func;		/* entry of its function */
	/*
	 * At addr the stack pointer is this much below that at the entry; -1 if
	 * that is not known, or what is done from addr to the jump cannot be
	 * computed: end is as addr then.  At 0 the caller can be told from
	 * registers, of which `changed` are no more as they were; else a
	 * HOOK_ENTRY at func comes before.
	 */
	int32_t depth;
	uint32_t changed;	/* 1 << register */
};

/* Which are looked for. */
enum hooks_wanted {
	HOOKS_CALLS = 1,	/* HOOK_CLONE, HOOK_SIGACTION, HOOK_CALL */
	HOOKS_STACKS = 2,	/* the others: where stacks are left */
};

/* The hooks of a function, appended to *hooks. */
void hook_find(const struct image *image, const struct func *func,
	       unsigned wanted, struct hook **hooks, size_t *n);

/* Those of one range of a function (which may be NULL). */
void hook_find_in(const struct image *image, const struct func *func,
		  const struct range *range, unsigned wanted,
		  struct hook **hooks, size_t *n);

#endif
