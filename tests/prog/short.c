/*
 * Functions in assembler whose first block is shorter than a jump, or that are
 * so themselves, without padding between them.  N calls of each; with a second
 * argument, in the middle of that, `intruder` goes on in the middle of
 * `branches` and `looper` in that of `loops`, N times each, and longjmp leaves
 * `escape`; none of them has information about its frame.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

long branches(long a, long b);
long steps(long a, long b);
long loops(long a, long b);
long shared(long a, long b);
long again(long a, long b);
void nothing(void);
long tail(long a, long b);
long zero(long a, long b);
long one(long a, long b);
long cases(long a, long b);
long escape(long a, long b);
long pivot(long a, long b);
void out(long a, long b);
long intruder(long a, long b);
long looper(long a, long b);

#define FUNC(name, code) \
	".globl " name "\n.type " name ", @function\n" name ":\n" code \
	".size " name ", . - " name "\n"

__asm__(".text\n.p2align 4\n"
	/* Four bytes, then a block that only falls from them. */
	FUNC("branches", "	test %esi, %esi\n	jne 1f\n"
			 "fallen:	lea 7(%rdi), %rsi\n"
			 "1:	lea (%rdi, %rsi), %rax\n	ret\n")
	/* The next block ends before the jump does in the one behind. */
	FUNC("steps", "	stc\n	jnc 1f\n	jnc 1f\n	mov %rdi, %rax\n"
		      "	ret\n1:	lea 1(%rdi), %rax\n	ret\n")
	/* Four bytes, then a loop's head. */
	FUNC("loops", "	push %rbx\n	mov %rdi, %rbx\n"
		      "1:	cmp $0x12345678, %esi\n	je 2f\n"
		      "turn:	add $0x1000, %rbx\n	dec %esi\n"
		      "	cmp $3, %esi\n	jg 1b\n"
		      "2:	mov %rbx, %rax\n	pop %rbx\n	ret\n")
	/* Four bytes, and what they fall into is a target, too. */
	FUNC("shared", "	test %esi, %esi\n	je 2f\n"
		       "1:	add $9, %rdi\n	dec %esi\n"
		       "2:	test %esi, %esi\n	jg 1b\n"
		       "	lea 11(%rdi), %rax\n	ret\n")
	/* Jumps to its beginning, behind a call. */
	FUNC("again", "	push %rdi\n	mov %rsi, %rax\n	pop %rdi\n"
		      "	cmp $3, %rsi\n	jl 1f\n	push %rdi\n"
		      "	call zero\n	pop %rdi\n	sub $3, %rsi\n"
		      "	jmp again\n1:	ret\n")
	/* Jumps to its beginning from where only a table leads. */
	FUNC("cases", "	cmp $3, %rsi\n	ja 9f\n	lea 8f(%rip), %rax\n"
		      "	movslq (%rax, %rsi, 4), %rdx\n	add %rax, %rdx\n"
		      "	jmp *%rdx\n3:	dec %rdi\n2:	dec %rsi\n"
		      "	jmp cases\n1:	inc %rdi\n"
		      "9:	lea (%rdi, %rsi), %rax\n	ret\n"
		      "	.section .rodata\n	.balign 4\n"
		      "8:	.long 9b - 8b, 1b - 8b, 2b - 8b, 3b - 8b\n"
		      "	.text\n")
	/* Jumps there behind a call that may never come back. */
	FUNC("escape", "	cmp $1, %rsi\n	jl 1f\n	push %rdi\n"
		       "	push %rsi\n	push %rsi\n	call out\n"
		       "	pop %rsi\n	pop %rsi\n	pop %rdi\n"
		       "	dec %rsi\n	jmp escape\n"
		       "1:	lea 5(%rdi), %rax\n	ret\n")
	/* Ends three bytes behind a call, with a jump to its beginning. */
	FUNC("pivot", "	mov $1, %edx\n	call down\n	jg pivot\n	ret\n")
	FUNC("down", "	lea (%rdi, %rsi), %rax\n	dec %esi\n	ret\n")
	FUNC("nothing", "	ret\n")
	FUNC("tail", "	jmp one\n")
	FUNC("zero", "	xor %eax, %eax\n	ret\n")
	FUNC("one", "	lea 1(%rdi), %eax\n	ret\n")
	FUNC("intruder", "	mov %edi, %eax\n	jmp fallen\n")
	FUNC("looper", "	push %rbx\n	mov %rdi, %rbx\n	jmp turn\n"));

static jmp_buf env;
static int intrudes;

void
out(long a, long b)
{
	if (intrudes && a % 2 && b == 2)
		longjmp(env, 1);
}

int
main(int argc, char **argv)
{
	static long (*const funcs[])(long, long) = {
		branches, steps, loops, shared, again, cases, tail, zero,
		one, pivot,
	};
	long n = argc > 1 ? atol(argv[1]) : 100, sum = 0;

	intrudes = argc > 2;
	for (long i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(funcs) / sizeof(*funcs); k++)
			sum = sum * 3 + funcs[k](i, i % 8);
		nothing();
		if (!setjmp(env))
			sum += escape(i, i % 8);
		if (i == n / 2 && intrudes)
			for (long k = 0; k < n; k++)
				sum += intruder(k, 5) + looper(k, k % 8);
	}
	printf("%lx\n", sum);
	return 0;
}
