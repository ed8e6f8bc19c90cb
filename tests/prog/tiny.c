/*
 * Functions too short for a jump, called often, and what may lie behind such:
 * padding that control goes through, and a function that nothing names.
 */
#include <stdio.h>
#include <stdlib.h>

extern void nothing(void);
extern long same(long x);
extern void thunk(long x, void (*f)(void));
extern long falls(long x);
extern long landed(long x);

__asm__(
	"	.text\n"
	"	.globl nothing, same, thunk, falls, landed\n"
	"	.type nothing, @function\n"
	"	.type same, @function\n"
	"	.type thunk, @function\n"
	"	.type falls, @function\n"
	"	.type landed, @function\n"
	"	.p2align 4\n"
	"nothing:\n"
	"	ret\n"
	"	.size nothing, . - nothing\n"
	/* Begins as padding does. */
	"	.p2align 4\n"
	"	.fill 8, 1, 0x90\n"
	"	lea 7(%rdi), %rax\n"
	"	ret\n"
	"	.p2align 4\n"
	"same:\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	"	.size same, . - same\n"
	"	.p2align 4\n"
	"thunk:\n"
	"	jmp *%rsi\n"
	"	.size thunk, . - thunk\n"
	"	.p2align 4\n"
	"falls:\n"
	"	inc %rdi\n"
	"	.size falls, . - falls\n"
	"	.p2align 4\n"
	"landed:\n"
	"	lea 2(%rdi), %rax\n"
	"	ret\n"
	"	.size landed, . - landed\n");

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, wrong = 0;
	long (*volatile unnamed)(long) =
		(long (*)(long))((char *)nothing + 16);

	for (long i = 0; i < n; i++) {
		nothing();
		thunk(i, nothing);
		wrong += same(i) != i || landed(i) != i + 2 ||
			 unnamed(i) != i + 7;
		/* This one has no room. */
		if (i % 1000 == 0)
			wrong += falls(i) != i + 3;
	}
	printf("%ld wrong\n", wrong);
	return 0;
}
