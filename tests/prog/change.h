/*
 * Coroutines by code of one's own: the stack is switched in the way SWITCH,
 * which a compiler gives: from rsi, after rsp was kept at (%rdi).
 */
#ifndef CHANGE_H
#define CHANGE_H

#include <stdint.h>
#include <stdlib.h>

#ifndef SWITCH
#define SWITCH "mov %rsp, (%rdi); mov %rsi, %rsp"
#endif

enum { STACK_SIZE = 1 << 16, REGISTERS = 6 };

/* Keep the stack at *keep and go on with the stack `to`. */
void change(void **keep, void *to);

__asm__(".text\n"
	".globl change\n"
	".type change, @function\n"
	"change:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14\n"
	"	push %r15\n"
	SWITCH "\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	".size change, . - change\n");

/* A stack on which run begins, with 0 as its return address. */
static inline void *
stack_make(void (*run)(void))
{
	uint64_t *stack = (uint64_t *)((char *)malloc(STACK_SIZE) +
				       STACK_SIZE - 64);

	*--stack = 0;
	*--stack = (uint64_t)run;
	for (int i = 0; i < REGISTERS; i++)
		*--stack = 0;
	return stack;
}

#endif
