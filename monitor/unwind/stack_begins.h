/*
 * The beginnings of the stacks that a program has made in its address space
 * itself.  Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_BEGINS_H
#define MONITOR_UNWIND_STACK_BEGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero, it is empty. */
struct stack_begins {
	uint64_t *sps;		/* in increasing order */
	size_t n;
};

/*
 * A stack begins at sp, the stack pointer that its outermost function would
 * have behind its return.  Beyond some 65,000 none is added.
 */
void begins_add(struct stack_begins *begins, uint64_t sp);
/* Whether begins_add was called for sp. */
bool begins_have(const struct stack_begins *begins, uint64_t sp);
/* Add all of *from. */
void begins_copy(struct stack_begins *to, const struct stack_begins *from);
/* Free what *begins owns. */
void begins_free(struct stack_begins *begins);

#endif
