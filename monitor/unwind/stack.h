/*
 * The frames of a stopped task, by the unwinder's tables of the files mapped
 * into it.  Reads the task's stack, and files; never its text, where traps
 * may be planted, and never changes anything.  The only user of libdw.
 */
#ifndef MONITOR_UNWIND_STACK_H
#define MONITOR_UNWIND_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/abi.h"
#include "host/host.h"

struct frame {
	uint64_t pc;		/* the next instruction to run, if exact, else
				   a return address */
	uint64_t sp;		/* the stack pointer there */
	uint64_t cfa;		/* the stack pointer in the caller after the
				   return; 0 in the last frame */
	bool exact;
	bool begins;		/* pc is where a function begins, to be
				   entered by a return: nothing of it has run
				   (a signal's trampoline, makecontext's) */
};

enum walk_end {
	WALK_OUTERMOST,		/* the last frame is the first of its stack */
	WALK_ENOUGH,		/* the caller of stack_walk had enough */
	WALK_LOST,		/* there may be more, see `why` */
};

struct walk {
	struct frame *frames;	/* innermost first */
	size_t n;
	enum walk_end end;
	char why[360];		/* WALK_LOST: where and why */
};

/* Where to start: a task's own registers, or such as it will have. */
struct walk_start {
	struct regs regs;
	uint32_t unknown;	/* 1 << index of those that are not known */
	bool exact;		/* the pc is the next instruction to run */
};

/* What is known of one address space: its files and their tables. */
struct stack;

/*
 * Nothing is read yet: every walk sees to it that the files it meets are
 * those that are mapped.  The host is lent.
 */
struct stack *stack_open(const struct host *host, const struct arch *arch);
void stack_close(struct stack *stack);

const struct host *stack_host(const struct stack *stack);
const struct arch *stack_arch(const struct stack *stack);

/*
 * One task stands still and is looked at more than once: until stack_release
 * its memory is read once only, and files are compared once.
 */
void stack_hold(struct stack *stack);
void stack_release(struct stack *stack);

/* While it is held: n bytes of its memory; 0, or -1. */
int stack_read(struct stack *stack, pid_t tid, uint64_t va, void *buf,
	       size_t n);

/*
 * Walk from `start` through the stack of a stopped task of this address
 * space.  enough, if not NULL, is asked after each new frame, of which all
 * but cfa is known, and ends the walk by returning true.  The walk is in
 * *walk (walk_free), also when it was lost.
 *
 * A pc that a signal may have interrupted has to be where it would be without
 * pmon: in no slot and not behind a trap.  0, or HOST_GONE: the task died.
 */
int stack_walk(struct stack *stack, pid_t tid, const struct walk_start *start,
	       bool (*enough)(const struct walk *walk, void *ctx), void *ctx,
	       struct walk *walk);
void walk_free(struct walk *walk);

/* The task's own registers, as where to start; 0 or HOST_GONE. */
int walk_start(const struct host *host, pid_t tid, struct walk_start *start);

/*
 * Copy n bytes of text at va out of the file mapped there, so without traps;
 * 0, or -1 if there are fewer.
 */
int stack_text(struct stack *stack, pid_t tid, uint64_t va, void *buf,
	       size_t n);

#endif
