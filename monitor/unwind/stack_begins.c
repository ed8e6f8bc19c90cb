/*
 * Keeps the beginnings of the stacks that a program has made in its address
 * space itself, as for coroutines.  Reads nothing of the task.
 */
#include "monitor/unwind/stack_begins.h"

#include <stdlib.h>
#include <string.h>

#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

enum { BEGINS_MAX = 1 << 16 };

void
begins_add(struct stack_begins *begins, uint64_t sp)
{
	size_t at;

	if (begins->n == BEGINS_MAX || begins_have(begins, sp))
		return;
	at = search_first(begins->n, i, begins->sps[i] > sp);
	vec_push(begins->sps, begins->n);
	memmove(&begins->sps[at + 1], &begins->sps[at],
		(begins->n - 1 - at) * sizeof(*begins->sps));
	begins->sps[at] = sp;
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
