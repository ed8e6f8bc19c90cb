/*
 * Keeps where the stacks of an address space begin that the program has made
 * itself, as those of coroutines.  Reads nothing of the task.
 */
#include "monitor/unwind/stack_begins.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/search.h"

enum { BEGINS_MAX = 1 << 16 };

/* The number of the first that is not below sp. */
static size_t
begins_find(const struct stack_begins *begins, uint64_t sp)
{
	return search_first(begins->n, i, begins->sps[i] >= sp);
}

void
begins_add(struct stack_begins *begins, uint64_t sp)
{
	size_t at = begins_find(begins, sp);

	if (begins->n == BEGINS_MAX || begins_have(begins, sp))
		return;
	vec_push(begins->sps, begins->n);
	memmove(&begins->sps[at + 1], &begins->sps[at],
		(begins->n - 1 - at) * sizeof(*begins->sps));
	begins->sps[at] = sp;
}

bool
begins_have(const struct stack_begins *begins, uint64_t sp)
{
	size_t at = begins_find(begins, sp);

	return at < begins->n && begins->sps[at] == sp;
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
