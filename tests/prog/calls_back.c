/*
 * A signal handler has a function called where the signal came, which returns
 * there: so Go's has goroutines let others run.  100 of 800 calls of f are
 * interrupted a byte behind its beginning.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

long f(long n, long *p), g(void);
__asm__(".type f, @function\n"
	"f: .cfi_startproc\n nop\n mov (%rsi), %rax\n add $3, %rax\n ret\n"
	".cfi_endproc\n.size f, . - f\n"
	".type g, @function\n"
	"g: .cfi_startproc\n ret\n.cfi_endproc\n"
	".size g, . - g\n");

static long value;

static void
handler(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	r[REG_RSI] = (greg_t)&value;
	r[REG_RSP] -= sizeof(greg_t);
	*(greg_t *)r[REG_RSP] = r[REG_RIP];
	r[REG_RIP] = (greg_t)g;
}

int
main(void)
{
	struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO,
	};
	long sum = 0;

	sigaction(SIGSEGV, &action, NULL);
	for (long i = 0; i < 800; i++)
		sum += f(i, i % 8 ? &value : NULL);
	return sum == 2400 ? 0 : 1;
}
