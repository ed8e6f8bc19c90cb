/*
 * Two coroutines that are switched to from all depths, by code that loads the
 * stack pointer in the way SWITCH, which a compiler gives: from rsi, after
 * rsp was kept at (%rdi).
 */
#include <stdint.h>
#include <stdlib.h>

#ifndef SWITCH
#define SWITCH "mov %rsp, (%rdi); mov %rsi, %rsp"
#endif

enum { SIZE = 1 << 16, REGISTERS = 6 };

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

static void *outside, *inside[2];
static volatile int sum;

static __attribute__((noinline)) void
body(int which)
{
	for (int i = 0;; i++) {
		sum += i;
		if (i & 1)
			sum++;
		change(&inside[which], outside);
	}
}

static void
first(void)
{
	body(0);
}

static void
second(void)
{
	body(1);
}

static void
make(int which, void (*run)(void))
{
	uint64_t *stack = (uint64_t *)((char *)malloc(SIZE) + SIZE - 64);

	*--stack = 0;
	*--stack = (uint64_t)run;
	for (int i = 0; i < REGISTERS; i++)
		*--stack = 0;
	inside[which] = stack;
}

static __attribute__((noinline)) void
go(int depth, int which)
{
	if (!depth) {
		change(&outside, inside[which]);
		return;
	}
	go(depth - 1, which);
	sum++;
}

int
main(void)
{
	make(0, first);
	make(1, second);
	for (int i = 0; i < 6; i++)
		go(i, i & 1);
	return sum == 23 ? 0 : 1;
}
