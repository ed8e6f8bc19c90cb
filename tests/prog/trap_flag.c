/*
 * Faults at popf, with a stack pointer that leads nowhere.  The handler gives it
 * the right one.  If the processor's trap flag were set in the context that the
 * handler returns to, each would be followed by a SIGTRAP.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { ROUNDS = 3 };

void pops(void);
static int faults, traps;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	faults++;
	regs[REG_RSP] = regs[REG_RAX];
}

static void
on_trap(int signal)
{
	traps++;
}

__asm__(".text\n"
	".globl pops\n"
	".type pops, @function\n"
	"pops:\n"
	"	pushf\n"
	"	mov %rsp, %rax\n"
	"	mov $8, %esp\n"
	"	popf\n"
	"	ret\n"
	".size pops, . - pops\n");

int
main(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = 1 << 16, .ss_sp = malloc(1 << 16) };

	sigaltstack(&stack, NULL);
	action.sa_sigaction = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	signal(SIGTRAP, on_trap);
	for (int i = 0; i < ROUNDS; i++)
		pops();
	printf("%d faults, %d traps\n", faults, traps);
}
