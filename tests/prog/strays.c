/*
 * A signal handler goes on behind instructions that stop the program.  So
 * functions return that look as if they never did, and control comes behind
 * calls of them.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <ucontext.h>

void deep(void), some(void);
__asm__(".type ud, @function\n"
	"ud:	.cfi_startproc\n"
	"	ud2\n"
	"ud_behind: nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size ud, . - ud\n"
	".type halt, @function\n"
	"halt:	.cfi_startproc\n"
	"	hlt\n"
	"halt_behind: ret\n"
	"	.cfi_endproc\n"
	".size halt, . - halt\n"
	".type one, @function\n"
	"one:	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call ud\n"
	"one_behind: add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size one, . - one\n"
	".type jumps, @function\n"
	"jumps:	.cfi_startproc\n"
	"	nop\n"
	"	jmp one\n"
	"	.cfi_endproc\n"
	".size jumps, . - jumps\n"
	".type deep, @function\n"
	"deep:	.cfi_startproc\n"
	"	mov $2, %eax\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	test %eax, %eax\n"
	"	jz deep_end\n"
	"	call jumps\n"
	"deep_behind: nop\n"
	"deep_end: add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size deep, . - deep\n"
	".type some, @function\n"
	"some:	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov $4, %ebx\n"
	"some_loop: test $1, %bl\n"
	"	jz some_join\n"
	"	call halt\n"
	"some_join: dec %ebx\n"
	"	jnz some_loop\n"
	"some_end: pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size some, . - some\n");

static void
skip(int signal, siginfo_t *info, void *context)
{
	/* hlt has one byte, ud2 two. */
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] +=
	    signal == SIGSEGV ? 1 : 2;
}

int
main(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = skip;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 6; i++) {
		deep();
		some();
	}
	__asm__ volatile("ud2\n"
			 "main_behind: nop");
	return 0;
}
