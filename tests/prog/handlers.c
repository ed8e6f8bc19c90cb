/*
 * A process to attach to and to leave while a signal handler runs, which returns
 * into the first bytes of a function.  Usage: handlers [other]; then its handler
 * runs on another stack.  It prints "handler" when one runs, which goes on by a
 * line on stdin, and the number of each call of faults when that returns.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { CALLS = 4, DEEP = 100000, STACK = 1 << 18, FAULT = 3 };

/*
 * By the second instruction, of FAULT bytes, in the middle of what a patch
 * takes.
 */
long faults(long n, long unused, const long *nowhere);

__asm__(
	".text\n"
	".globl faults\n"
	".type faults,@function\n"
"faults: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 3,-16\n"
	"mov (%rdx),%rax\n"
	"mov %rdi,%rbx\n"
	"lea 1(%rbx),%rax\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size faults,.-faults\n"
);

/* Past the instruction, wherever that is. */
static void
on_fault(int signal, siginfo_t *info, void *context)
{
	volatile char deep[DEEP];
	char line[16];
	ucontext_t *uc = context;

	memset((char *)deep, 0, sizeof(deep));
	puts("handler");
	if (!fgets(line, sizeof(line), stdin))
		_Exit(1);
	uc->uc_mcontext.gregs[REG_RIP] += FAULT;
}

int
main(int argc, char **argv)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	stack_t stack = { .ss_size = STACK };

	action.sa_sigaction = on_fault;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) {
		stack.ss_sp = malloc(STACK);
		sigaltstack(&stack, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGSEGV, &action, NULL);
	for (long i = 0; i < CALLS; i++)
		printf("%ld\n", faults(i, 0, NULL));
	return 7;
}
