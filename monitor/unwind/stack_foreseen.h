/*
 * Which pages of memory a stack switch will need, by what others needed.
 * Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_FORESEEN_H
#define MONITOR_UNWIND_STACK_FORESEEN_H

#include "monitor/unwind/stack_memory.h"

/*
 * The pages needed the last time that a task was at pc with about this stack
 * pointer, or none.  They may belong to another process: this only foresees,
 * and what is read decides.
 */
struct stack_pages *stack_foreseen(uint64_t pc, uint64_t sp);

#endif
