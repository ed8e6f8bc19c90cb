/*
 * Runs breakpoint instructions of its own, of one byte and of two, where a jump
 * by a table leads, also where there is no room for a jump, and behind a call,
 * and says where it is then.  It has a 64-bit constant that code behind it reads
 * again out of the first instruction, as V8's code does, and a call by way of
 * r12.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

enum { ROUNDS = 12 };

long breaks(long way, void (*const *calls)(void));
extern const char breaks_first[], breaks_second[], breaks_third[],
	breaks_fourth[];
static int first, second, third, fourth, others;

static void
on_trap(int signal, siginfo_t *info, void *context)
{
	const char *pc =
		(const char *)((ucontext_t *)context)
			->uc_mcontext.gregs[REG_RIP];

	first += pc == breaks_first;
	second += pc == breaks_second;
	third += pc == breaks_third;
	fourth += pc == breaks_fourth;
	others += pc != breaks_first && pc != breaks_second &&
		  pc != breaks_third && pc != breaks_fourth;
}

__attribute__((noinline)) void
called(void)
{
	__asm__ volatile("");
}

__asm__(".text\n"
	".globl breaks, breaks_first, breaks_second, breaks_third\n"
	".globl breaks_fourth\n"
	".type breaks, @function\n"
	"breaks:\n"
	"	push %r12\n"
	"	mov %rsi, %r12\n"
	"	mov $0, %ecx\n"
	"	movabs $0x1122334455667788, %r8\n"
	".Lbehind:\n"
	"	cmp $5, %rdi\n"
	"	ja 4f\n"
	"	lea .Ltable(%rip), %rax\n"
	"	movslq (%rax, %rdi, 4), %rdx\n"
	"	add %rdx, %rax\n"
	"	jmp *%rax\n"
	"1:	int3\n"
	"breaks_first:\n"
	"	mov $1, %ecx\n"
	"	jmp 4f\n"
	"2:	call *8(%r12)\n"
	"	int3\n"
	"breaks_second:\n"
	"	mov $2, %ecx\n"
	"	jmp 4f\n"
	"3:	call *8(%r12)\n"
	"	mov $3, %ecx\n"
	"	jmp 4f\n"
	"5:	int3\n"
	"breaks_third:\n"
	"6:	mov $4, %ecx\n"
	"	jmp 4f\n"
	"7:	.byte 0xcd, 3\n"
	"breaks_fourth:\n"
	"	mov $5, %ecx\n"
	"4:	mov .Lbehind - 8(%rip), %rax\n"
	"	sub %r8, %rax\n"
	"	add %rcx, %rax\n"
	"	pop %r12\n"
	"	ret\n"
	".size breaks, . - breaks\n"
	".section .rodata\n"
	".balign 4\n"
	".Ltable:\n"
	"	.long 1b - .Ltable, 2b - .Ltable, 3b - .Ltable\n"
	"	.long 5b - .Ltable, 6b - .Ltable, 7b - .Ltable\n"
	".text\n");

int
main(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	void (*const calls[])(void) = { NULL, called };
	long sum = 0;

	action.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < ROUNDS; i++)
		sum += breaks(i % 6, calls);
	printf("sum %ld, breakpoints %d, %d, %d, %d, others %d\n", sum,
	       first, second, third, fourth, others);
}
