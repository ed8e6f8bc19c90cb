/*
 * Memory of a stopped task, read by pages.  Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_MEMORY_H
#define MONITOR_UNWIND_STACK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "host/host.h"
#include "util/fail.h"

/* What a walk reads. */
struct stack_memory {
	const struct host *host;
	pid_t tid;
	unsigned walk;		/* walks of one number share pages */
};

/* A number, not 0, for a walk that has no page yet. */
unsigned stack_memory_begin(void);
/* Read size bytes at va.  0, or -1 without a message. */
int stack_memory_read(const struct stack_memory *memory, uint64_t va, void *buf,
		      size_t size) MUST_CHECK;

#endif
