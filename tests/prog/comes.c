/*
 * A signal handler leads control, 7 times, to the middle of a function that is
 * never called.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

extern char inside[];
void trigger(void);

__asm__(".text\n"
	".globl	middle\n"
	".type	middle, @function\n"
	"middle:	.cfi_startproc\n"
	"	mov	$1, %eax\n"
	"	mov	$2, %ecx\n"
	".globl	inside\n"
	"inside:	mov	$3, %edx\n"
	"	mov	$4, %esi\n"
	"	mov	$5, %edi\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size	middle, . - middle\n"
	".globl	trigger\n"
	".type	trigger, @function\n"
	"trigger:	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size	trigger, . - trigger\n");

static void
handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	at->uc_mcontext.gregs[REG_RIP] = (long)inside;
}

int
main(void)
{
	struct sigaction action = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGILL, &action, 0);
	for (int i = 0; i < 7; i++)
		trigger();
	return 0;
}
