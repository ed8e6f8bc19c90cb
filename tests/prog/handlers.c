/*
 * A process to attach to and to leave while signal handlers run, which return
 * into the first bytes of a function.  Usage: handlers [how].  It prints
 * "handler" when the handler that is asked runs, which goes on by a line on
 * stdin, and the number of each call of faults when that returns.  How:
 *
 * other	the handler runs on another stack
 * deep		it has much on its stack
 * within	another handler that runs on another stack has interrupted it in
 *		libc
 * several	the same; and one of a coroutine is left interrupted like that,
 *		so that the other stack leads to two
 * through	faults is called by a function that no unwinder's table tells of
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "through.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

enum { CALLS = 4, STACK = 1 << 18, FAULT = 3 };

static size_t depth = 100000;
static int within, several;
static char *stacks;		/* for other handlers: two; for the coroutine */
static ucontext_t whole, coroutine, interrupted;

static void stack_set(char *at);

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

static void
ask(void)
{
	char line[16];

	puts("handler");
	if (!fgets(line, sizeof(line), stdin))
		_Exit(1);
}

/* The first one of two leaves for where the coroutine was made. */
static void
on_usr(int signal)
{
	static int nth;

	if (!several || nth++ % 2) {
		ask();
		return;
	}
	stack_set(stacks);
	swapcontext(&interrupted, &whole);
}

static void
in_coroutine(void)
{
	faults(0, 0, NULL);
}

/* Past the instruction, wherever that is. */
static void
on_fault(int signal, siginfo_t *info, void *context)
{
	volatile char deep[depth];
	static int level;
	ucontext_t *uc = context;

	memset((char *)deep, 0, depth);
	if (several && !level++) {
		getcontext(&coroutine);
		coroutine.uc_stack.ss_sp = stacks + 2 * STACK;
		coroutine.uc_stack.ss_size = STACK;
		coroutine.uc_link = &whole;
		makecontext(&coroutine, in_coroutine, 0);
		swapcontext(&whole, &coroutine);
		raise(SIGUSR1);
		swapcontext(&whole, &interrupted);
		level = 0;
	} else if (within) {
		raise(SIGUSR1);
	} else {
		ask();
	}
	uc->uc_mcontext.gregs[REG_RIP] += FAULT;
}

static void
stack_set(char *at)
{
	stack_t stack = {
		.ss_sp = at, .ss_size = STACK,
		.ss_flags = several ? (int)SS_AUTODISARM : 0,
	};

	if (sigaltstack(&stack, NULL))
		abort();
}

static void
call(void)
{
	static long i;

	printf("%ld\n", faults(i++, 0, NULL));
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct sigaction fault = { .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction usr = { .sa_flags = SA_ONSTACK | SA_NODEFER };

	fault.sa_sigaction = on_fault;
	usr.sa_handler = on_usr;
	several = !strcmp(how, "several");
	within = several || !strcmp(how, "within");
	if (!strcmp(how, "deep"))
		depth = 1 << 20;
	if (!strcmp(how, "other"))
		fault.sa_flags |= SA_ONSTACK;
	setvbuf(stdout, NULL, _IOLBF, 0);
	stacks = malloc(3 * STACK);
	stack_set(stacks + STACK);
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGUSR1, &usr, NULL);
	for (int i = 0; i < CALLS; i++)
		if (strcmp(how, "through"))
			call();
		else
			through(call);
	return 7;
}
