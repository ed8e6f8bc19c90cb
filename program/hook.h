/*
 * Finds the places in an image's text where code may leave its stack frames
 * other than by returning, and the system calls that matter to the monitor.
 * Goes by what the instructions do, so functions need no names.  Pure: touches
 * no process.
 */
#ifndef PROGRAM_HOOK_H
#define PROGRAM_HOOK_H

#include "symtab/image.h"

enum hook_kind {
	/*
	 * A stack switch.  The straight-line code from addr to `end` loads the
	 * registers of the place to go to, the stack pointer among them, and
	 * the instruction at `end` jumps there: longjmp, setcontext,
	 * swapcontext, _Unwind_RaiseException and its like, and any other code
	 * that switches stacks in this way.
	 */
	HOOK_STACK_SWITCH,
	/*
	 * The entry of a function that has a HOOK_STACK_SWITCH but overwrites
	 * its own frame before that (libgcc's): only here is it known where the
	 * function was called from.  end equals addr.
	 */
	HOOK_ENTRY,
	/* A system call instruction that does execve or execveat. */
	HOOK_EXEC,
	/* A system call instruction that does clone or clone3, any flags. */
	HOOK_CLONE,
	/* One that does rt_sigaction: traps need SIGTRAP. */
	HOOK_SIGACTION,
	/* One that does rt_sigprocmask: traps unblock SIGTRAP. */
	HOOK_SIGPROCMASK,
	/*
	 * One that does whatever call its caller names (syscall(2)); with
	 * HOOKS_MAPS, one whose number is not known.
	 */
	HOOK_CALL,
	/* One that may change what code the process can execute. */
	HOOK_MAP,
	/* None of these, whatever happens: of no interest.  In no plan. */
	HOOK_OTHER_CALL,
	/* The monitor's: the program's start, with its libraries loaded. */
	HOOK_START,
	/* The monitor's: where the dynamic linker tells of more libraries. */
	HOOK_LOADED,
	/* The monitor's: where signal handlers return to. */
	HOOK_SIGRETURN,
};

/* A place for a trap: at addr, before the instruction there has begun. */
struct hook {
	uint64_t addr;
	uint64_t end;
	uint8_t kind;		/* enum hook_kind */
	uint64_t func;		/* entry of its function; 0: the monitor's */
	/*
	 * Of a system call with HOOKS_MAPS: where its number is set, so that
	 * the kind is right only if control comes to addr from there; 0 if the
	 * kind is right anyway.
	 */
	uint64_t from;
	/*
	 * Of a HOOK_CALL or HOOK_SIGACTION: the instructions from here up to
	 * addr can run elsewhere, and more than once, and control comes to addr
	 * over them alone; 0 if there are none, or too few for a jump.
	 * Of a HOOK_STACK_SWITCH or HOOK_ENTRY: addr, if a jump can be there,
	 * and the code up to `end` can run elsewhere; else 0.
	 */
	uint64_t filter;
	/* The remaining fields are for HOOK_STACK_SWITCH. */
	/*
	 * How many bytes the stack pointer at addr is below that at the
	 * function's entry; -1 if that is not known, or if the code up to the
	 * jump cannot be computed (then end equals addr).  If 0 the caller can
	 * be found from the registers, except those in `changed`, which the
	 * function may have changed.  If not 0, and end is not addr, there is a
	 * HOOK_ENTRY at func, too.
	 */
	int32_t depth;
	uint32_t changed;	/* 1 << register */
};

/* Which hooks to look for. */
enum hooks_wanted {
	HOOKS_CALLS = 1,	/* HOOK_CLONE, HOOK_SIGACTION, HOOK_SIGPROCMASK,
				   HOOK_CALL */
	HOOKS_EXECS = 2,	/* HOOK_EXEC */
	HOOKS_SWITCHES = 4,	/* HOOK_STACK_SWITCH, HOOK_ENTRY */
	HOOKS_MAPS = 8,		/* all system calls: also HOOK_MAP, each that
				   may be one (HOOK_CALL), and those that are
				   none (HOOK_OTHER_CALL) */
};

/*
 * Append the hooks of a function to *hooks, an array of *n that the caller
 * owns.
 */
void hook_find(const struct image *image, const struct func *func,
	       unsigned wanted, struct hook **hooks, size_t *n);

/* The same for one range of a function (func may be NULL). */
void hook_find_in(const struct image *image, const struct func *func,
		  const struct range *range, unsigned wanted,
		  struct hook **hooks, size_t *n);

#endif
