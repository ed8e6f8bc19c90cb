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

/* Addresses of pages. */
struct stack_pages {
	uint64_t va[DATA_PARTS];
	size_t n;
};

/* A number, not 0, for a walk that has no page yet. */
unsigned stack_memory_begin(void);
/* Read size bytes at va.  0, or -1 without a message. */
int stack_memory_read(const struct stack_memory *memory, uint64_t va, void *buf,
		      size_t size) MUST_CHECK;
/*
 * Read these pages, those that there are, in one request: the walk will need
 * them, as far as anyone can tell.
 */
void stack_memory_fetch(const struct stack_memory *memory,
			const struct stack_pages *pages);
/* The first pages that the latest walk has needed. */
struct stack_pages stack_memory_needed(void);

#endif
