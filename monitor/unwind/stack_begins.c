/*
 * Keeps the beginnings of the stacks that a program has made in its address
 * space itself, as for coroutines.  Reads nothing of the task.
 */
#include "monitor/unwind/stack_begins.h"

#include <stdlib.h>

#include "util/addrs.h"

enum { BEGINS_MAX = 1 << 16 };

void
begins_add(struct stack_begins *begins, uint64_t sp)
{
	if (begins->n < BEGINS_MAX)
		addrs_add(&begins->sps, &begins->n, sp);
}

bool
begins_have(const struct stack_begins *begins, uint64_t sp)
{
	return addrs_has(begins->sps, begins->n, sp);
}

void
begins_copy(struct stack_begins *to, const struct stack_begins *from)
{
	for (size_t i = 0; i < from->n; i++)
		begins_add(to, from->sps[i]);
}

void
begins_free(struct stack_begins *begins)
{
	free(begins->sps);
	*begins = (struct stack_begins){ 0 };
}
