/*
 * Where a stack switch goes: its code, run on a copy of a task.  Private to
 * stack_switch.c.
 */
#ifndef MONITOR_UNWIND_SWITCH_CODE_H
#define MONITOR_UNWIND_SWITCH_CODE_H

#include "monitor/unwind/stack.h"
#include "program/hook.h"
#include "util/fail.h"

/*
 * Turn the registers that a task has at a hook into those that it will have
 * behind the jump, by the instructions from hook->addr to hook->end.  Between
 * stack_cache and stack_uncache.  Returns 0, or -1 if that cannot be computed.
 */
int switch_code_run(struct stack *stack, pid_t tid, const struct image *image,
		    uint64_t bias, const struct hook *hook,
		    struct regs *regs) MUST_CHECK;

#endif
