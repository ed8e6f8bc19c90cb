/*
 * Walks the frames of a stopped task by the unwind tables of the files mapped
 * into it, or by the code in these files (doc/theory/unwinding.md).  Reads the
 * task's stack, and files; never the task's text, where traps may be planted,
 * and never changes anything.  The only user of libdw.
 */
#ifndef MONITOR_UNWIND_STACK_H
#define MONITOR_UNWIND_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/host.h"
#include "util/fail.h"

struct frame {
	uint64_t pc;		/* the next instruction to run, if exact, else
				   a return address */
	uint64_t sp;		/* the stack pointer there */
	uint64_t cfa;		/* the stack pointer in the caller after the
				   return; 0 in the last frame */
	bool exact;
	bool begins;		/* a return to pc begins a function, of which
				   nothing has run yet (a signal's trampoline,
				   makecontext's) */
};

enum { WALK_WHY = 360 };

enum walk_end {
	WALK_OUTERMOST,		/* the last frame is the first of its stack */
	WALK_ENOUGH,		/* `enough` returned true */
	WALK_TRUNCATED,		/* there may be more, see `why` */
};

struct walk {
	struct frame *frames;	/* innermost first */
	size_t n;
	enum walk_end end;
	char why[WALK_WHY];	/* WALK_TRUNCATED: where and why */
};

/* Where a walk starts: the registers that the task has, or will have. */
struct walk_start {
	struct regs regs;
	uint32_t unknown;	/* 1 << index of those that are not known */
	bool exact;		/* the pc is the next instruction to run */
	bool arrives;		/* a stack switch leads to it, perhaps to a
				   stack that begins there */
};

/* Where a walk may end early. */
struct walk_until {
	/* Called after each new frame, whose cfa is not set yet: whether the
	   frames found are enough. */
	bool (*enough)(const struct walk *walk, void *ctx);
	void *ctx;
};

/* What is known of one address space: its files and their unwind tables. */
struct stack;

/*
 * Make a struct stack, which reads nothing yet; every walk checks that the
 * files it meets are those that are mapped.  The host is lent.
 */
struct stack *stack_open(const struct host *host, const struct arch *arch);
/* Make one for a copy of the address space, as fork makes. */
struct stack *stack_copy(const struct stack *stack);
/* Free the stack's files and tables; stack may be NULL. */
void stack_close(struct stack *stack);

const struct host *stack_host(const struct stack *stack);
const struct arch *stack_arch(const struct stack *stack);

/*
 * Until stack_uncache a task stands still and is looked at more than once: read
 * its memory and compare its files only once.
 */
void stack_cache(struct stack *stack);
/*
 * The same for a task at pc, with stack pointer sp: read at once what was needed
 * the last time there.
 */
void stack_cache_at(struct stack *stack, pid_t tid, uint64_t pc, uint64_t sp);
void stack_uncache(struct stack *stack);

/*
 * Between stack_cache and stack_uncache: read n bytes of the task's memory.
 * Returns 0, or -1.
 */
int stack_read(struct stack *stack, pid_t tid, uint64_t va, void *buf,
	       size_t n) MUST_CHECK;

/*
 * Walk from `start` through the stack of a stopped task of this address space,
 * to its end if `until` is NULL.  *walk has the frames found, even if the walk
 * was truncated; walk_free frees them.
 *
 * If a signal may have interrupted the task, its pc must be where it would be
 * without pmon: neither in a slot nor behind a trap.  Returns 0, or HOST_GONE
 * if the task died.
 */
int stack_walk(struct stack *stack, pid_t tid, const struct walk_start *start,
	       const struct walk_until *until, struct walk *walk) MUST_CHECK;
/* Free the frames of a walk. */
void walk_free(struct walk *walk);

/* How the caller of a frame is found, from the code and the tables alone. */
struct frame_way {
	bool outermost;		/* it has none; all else is 0 */
	bool by_fp;		/* the cfa is the frame pointer plus offset,
				   else the stack pointer plus a constant */
	int64_t offset;
	bool fp_saved;		/* the caller's frame pointer is in memory,
				   else it is the frame's */
	int32_t fp_at, return_at;	/* from the cfa */
};

/*
 * Find the way on from a frame of the last walk; false if it is another, so
 * that more has to be known of registers and memory.
 */
bool stack_way(struct stack *stack, pid_t tid, const struct frame *frame,
	       struct frame_way *way);

/* Set *start to the task's own registers.  Returns 0, or HOST_GONE. */
int walk_start(const struct host *host, pid_t tid,
	       struct walk_start *start) MUST_CHECK;

/*
 * Copy n bytes of text at va from the file that is mapped there, so without
 * traps.  Returns 0, or -1 if the file has fewer.
 */
int stack_text(struct stack *stack, pid_t tid, uint64_t va, void *buf,
	       size_t n) MUST_CHECK;

#endif
