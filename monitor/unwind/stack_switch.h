/*
 * Transfers of control that leave stack frames, or come to frames left
 * before, over no edge of a graph: which frames, and at which instructions.
 * Kirchhoff's law holds again in a function if its frame edges are counted as
 * ways out of it and into it: Ball and Larus, "Optimally Profiling and
 * Tracing Programs", 1994, section 3.2.  Changes nothing in the task.
 */
#ifndef MONITOR_UNWIND_STACK_SWITCH_H
#define MONITOR_UNWIND_STACK_SWITCH_H

#include "plan/hook.h"
#include "monitor/unwind/stack.h"

/*
 * Control left a function (or came to it) at an instruction, other than by
 * what this does.
 */
struct frame_edge {
	/*
	 * during: the address after the instruction, which has begun, and
	 * not been completed by this frame edge: a call (it is the return
	 * address) or a system call.  Else left, or came, just before the
	 * instruction at va.
	 */
	uint64_t va;
	uint64_t sp;		/* the stack pointer there; 0: not known */
	bool during;
	bool came;		/* else left */
	bool arrived;		/* came; here the task goes on: at a function's
				   entry or a landing pad this is no frame edge,
				   see frame_edge_counted */
};

struct stack_switch {
	struct frame_edge *frame_edges;
	size_t n;
	struct regs after;	/* stack_switch_find: the registers behind it */
	/*
	 * Not NULL: why not all frame edges are known.  Those there are (of
	 * stack_switch_all, stack_switch_birth and stack_switch_exec;
	 * stack_switch_find then has none) are certain: of the innermost
	 * frames.
	 */
	char *unknown; /* owned, as frame edges: stack_switch_free ... */
	uint8_t reason;		/* ... and as enum count_reason */
};

/*
 * The functions with a HOOK_ENTRY that a task was seen to enter, and may be
 * in.  One for each task; zeroed, it is empty.
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
 * A task stopped with its registers `regs` before the instruction of a
 * HOOK_ENTRY.
 */
void entries_add(struct entries *entries, const struct host *host, pid_t tid,
		 const struct arch *arch, const struct regs *regs);

/*
 * A task stopped with its registers `regs` (the pc where it would be without
 * pmon) before the instruction of a HOOK_STACK_SWITCH of an image that is
 * mapped with this bias: what the stack switch passes over.  It is done when
 * the instruction at hook->end is; a task that comes to its end or to a signal
 * with the pc in (addr, end] has not done it.  0, or HOST_GONE.
 */
int stack_switch_find(struct stack *stack, pid_t tid,
		      const struct entries *entries, const struct image *image,
		      uint64_t bias, const struct hook *hook,
		      const struct regs *regs,
		      struct stack_switch *stack_switch);

/*
 * The same before a HOOK_EXEC or HOOK_CALL, or at the entry of the system
 * call, with `after` the address after its instruction: all frames are left,
 * if it succeeds: with EVENT_EXEC.  A call that is none to exec has no
 * frame edges.
 */
int stack_switch_exec(struct stack *stack, pid_t tid, const struct regs *regs,
		      uint64_t after, struct stack_switch *stack_switch);

/*
 * A new task, which has not run yet, was made by one whose stack pointer was
 * sp: with a relocated function of its stack (fork), on the same stack (vfork),
 * or on one of its own, where it comes to nothing but the rest of clone(2).
 */
int stack_switch_birth(struct stack *stack, pid_t tid, uint64_t sp,
		       struct stack_switch *stack_switch);

/*
 * All frames of a stopped task are left, as by its end; or come to, by the
 * beginning of counting.
 */
int stack_switch_all(struct stack *stack, pid_t tid, bool came,
		     struct stack_switch *stack_switch);

void stack_switch_free(struct stack_switch *stack_switch);

/*
 * From one stack's frames to another's: those they have in common, outermost,
 * are no frame edges.  `before` begins with the frame that is left first.
 */
void stack_switch_diff(const struct walk *before, const struct walk *after,
		       struct stack_switch *stack_switch);

/*
 * The arrival is counted by the block it comes to: a landing pad (if the
 * image was opened with IMAGE_FLOW) or a function's entry.
 */
bool frame_edge_counted(const struct frame_edge *frame_edge,
			const struct image *image, uint64_t bias);

#endif
