/*
 * Leaves a loop of calls at a time, from a handler, wherever a signal finds
 * it.  Writes how often each instruction of the loop was begun: calls are
 * counted in what is called, and the handler sees what was about to be run.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

unsigned long entered;
extern char loop_call, loop_test, loop_jump;
void loop(void), callee(void);

__asm__(".text\n"
	".globl loop, callee, loop_call, loop_test, loop_jump\n"
	".type loop, @function\n"
	"loop:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"loop_call:\n"
	"	call callee\n"
	"loop_test:\n"
	"	cmpq $0, entered(%rip)\n"
	"loop_jump:\n"
	"	jne loop_call\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size loop, . - loop\n"
	".type callee, @function\n"
	"callee:\n"
	"	.cfi_startproc\n"
	"	incq entered(%rip)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size callee, . - callee\n");

static const struct itimerval soon = { .it_value.tv_usec = 50 };
static sigjmp_buf env;
/* Instructions that had been reached, but not begun, when they were left. */
static unsigned long at_call, at_callee, at_return, at_test, at_jump;

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	uintptr_t ret = (uintptr_t)callee + 7;

	/* Too soon. */
	if (pc < (uintptr_t)&loop_call || pc > ret) {
		setitimer(ITIMER_REAL, &soon, NULL);
		return;
	}
	at_call += pc == (uintptr_t)&loop_call;
	at_callee += pc == (uintptr_t)callee;
	at_return += pc == ret;
	at_test += pc == (uintptr_t)&loop_test;
	at_jump += pc == (uintptr_t)&loop_jump;
	siglongjmp(env, 1);
}

int
main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO,
	};
	volatile int times = argc > 1 ? atoi(argv[1]) : 1;
	unsigned long calls, returned, tested;

	sigaction(SIGALRM, &action, NULL);
	if (!sigsetjmp(env, 1) || --times > 0) {
		setitimer(ITIMER_REAL, &soon, NULL);
		loop();
	}
	/* Who was in callee had called it and did not come back. */
	calls = entered + at_callee;
	returned = entered - at_return;
	tested = returned - at_test;
	printf("call %lu, test %lu, jump %lu\n", calls, tested,
	       tested - at_jump);
	return 0;
}
