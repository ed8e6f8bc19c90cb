/*
 * What the code of a function says of its frames.  Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_TEXT_H
#define MONITOR_UNWIND_STACK_TEXT_H

#include "arch/arch.h"
#include "monitor/unwind/stack_files.h"

/* The text of a stopped task. */
struct text {
	struct stack_files *files;
	const struct arch *arch;
	pid_t tid;
};

/* Whether the function at va `function` begins by setting the stack pointer. */
bool text_sets_stack(const struct text *text, uint64_t function);

/*
 * Whether the function begins with push fp; mov sp, fp, and pc, a va, is behind
 * that and, if the task is exactly there, not where the frame is taken down
 * again.
 */
bool text_points(const struct text *text, uint64_t function, uint64_t pc,
		 bool exact);

#endif
