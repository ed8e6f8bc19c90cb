/*
 * Finds the stack frames that control leaves, or comes back to, over no edge of
 * a graph, and at which instructions.  Kirchhoff's law holds again in a
 * function if its frame edges are counted as ways out of it and into it: Ball
 * and Larus, "Optimally Profiling and Tracing Programs", 1994, section 3.2.
 * Changes nothing in the task.
 */
#ifndef MONITOR_UNWIND_STACK_SWITCH_H
#define MONITOR_UNWIND_STACK_SWITCH_H

#include "monitor/unwind/stack.h"
#include "program/hook.h"
#include "util/fail.h"

/*
 * Control left a function, or came to it, at an instruction, but not by what
 * that instruction does.
 */
struct frame_edge {
	/*
	 * With `during`, the address after an instruction that has begun and
	 * that this frame edge does not complete: a call (va is its return
	 * address) or a system call.  Else control left, or came, just before
	 * the instruction at va.
	 */
	uint64_t va;
	uint64_t sp;		/* the stack pointer there; 0: not known */
	bool during;
	bool came;		/* else left */
	bool parked;		/* va is no call's return address: see
				   fault_parked */
	bool arrived;		/* it came, and the task goes on here; not
				   counted at a function's entry or a landing
				   pad, see frame_edge_counted */
	bool apart;		/* the stacks have no frame in common */
};

struct stack_switch {
	struct frame_edge *frame_edges;
	size_t n;
	struct regs after;	/* stack_switch_find: registers after the
				   switch */
	/*
	 * If not NULL, says why not all frame edges are known.
	 * stack_switch_find then finds none; the other functions give those of
	 * the innermost frames, which are certain.
	 */
	char *unknown; /* owned */
	uint8_t reason;		/* why, as enum count_reason */
};

/*
 * The functions with a HOOK_ENTRY that a task was seen to enter and may still
 * be in.  One for each task; all zero, it is empty.
 */
enum { ENTRIES = 8 };

struct entries {
	struct entry {
		uint64_t func, sp;	/* run-time addresses, at the entry */
		struct walk_start caller;	/* as after a return */
	} entries[ENTRIES];
	unsigned next;
};

/*
 * Add an entry: a task has stopped, with registers `regs`, before the
 * instruction of a HOOK_ENTRY.
 */
void entries_add(struct entries *entries, const struct host *host, pid_t tid,
		 const struct arch *arch, const struct regs *regs);

/* The same where the function, and its caller after its return, are known. */
void entries_note(struct entries *entries, uint64_t func, uint64_t sp,
		  const struct walk_start *caller);

/* Where a task is that is about to switch stacks. */
struct switch_at {
	const struct image *image;
	uint64_t bias;		/* of the image */
	const struct hook *hook;	/* a HOOK_STACK_SWITCH of the image */
	const struct regs *regs;	/* the pc where it would be without
					   pmon */
	const struct entries *entries;	/* of the task */
};

/*
 * A task has stopped before the instruction of a hook: find the frames that the
 * stack switch passes over.  The instruction at at->hook->end does the switch;
 * a task that ends or gets a signal with its pc in (addr, end] has not done it.
 * Returns 0, or HOST_GONE.
 */
int stack_switch_find(struct stack *stack, pid_t tid,
		      const struct switch_at *at,
		      struct stack_switch *stack_switch) MUST_CHECK;

/*
 * The same stack switch, as a pattern for others that are the same, but for
 * pattern->counter; false if more would have to be compared than words of the
 * stacks.
 */
bool stack_switch_pattern(struct stack *stack, pid_t tid,
			  const struct switch_at *at,
			  struct switch_pattern *pattern);

/*
 * A task is about to go on with the registers `to` where it had `from` before a
 * signal, as the handler has changed the context that it returns to.
 */
int stack_switch_context(struct stack *stack, pid_t tid,
			 const struct regs *from, const struct regs *to,
			 struct stack_switch *stack_switch) MUST_CHECK;

/* The same if the task goes on in the same frame: no stack is walked. */
void stack_switch_frame(const struct regs *from, const struct regs *to,
			const struct arch *arch,
			struct stack_switch *stack_switch);

/*
 * The same before a HOOK_EXEC or HOOK_CALL, or at the entry of the system call;
 * `after` is the address after its instruction.  If the exec succeeds, which
 * EVENT_EXEC tells, all frames are left.  A call other than exec has no frame
 * edges.
 */
int stack_switch_exec(struct stack *stack, pid_t tid, const struct regs *regs,
		      uint64_t after,
		      struct stack_switch *stack_switch) MUST_CHECK;

/*
 * A new task has not run yet; its maker's stack pointer was sp.  The task has a
 * copy of the maker's stack (fork), runs on that stack (vfork), or has one of
 * its own, where only the rest of clone(2) is come to.
 */
int stack_switch_birth(struct stack *stack, pid_t tid, uint64_t sp,
		       struct stack_switch *stack_switch) MUST_CHECK;

/*
 * All frames of a stopped task are left, as at its end, or come to (`came`), as
 * when counting begins.
 */
int stack_switch_all(struct stack *stack, pid_t tid, bool came,
		     struct stack_switch *stack_switch) MUST_CHECK;

/* Free what *stack_switch owns, and zero it. */
void stack_switch_free(struct stack_switch *stack_switch);

/*
 * Add the frame edges from one stack to another.  The outermost frames that
 * both have in common are not left.  `before` begins with the frame that is
 * left first.
 */
void stack_switch_diff(const struct walk *before, const struct walk *after,
		       struct stack_switch *stack_switch);

/*
 * Whether the block that the frame edge comes to counts the arrival: at a
 * function's entry, or a landing pad if the image was opened with IMAGE_FLOW.
 */
bool frame_edge_counted(const struct frame_edge *frame_edge,
			const struct image *image, uint64_t bias);

#endif
