/*
 * An interpreter with computed gotos, one of whose instructions does not exist,
 * and a function that begins with such an instruction behind the mark of its
 * entry, where the jump to a springboard ends.  A handler of SIGILL passes
 * these by.  argv[1]: rounds; with a second argument there is no handler, and
 * SIGILL is blocked, ignored or neither (b, i, n), which ends the program.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

extern char ill_at[];
void begins(void);

__asm__(".text\n"
	".globl begins\n"
	".type begins, @function\n"
	"begins: endbr64\n"
	"	ud2\n"
	"	leaq 1f(%rip), %rdx\n"
	"	jmp *%rdx\n"
	"1:	ret\n"
	".size begins, .-begins\n");

static int caught[2];

static void
on_ill(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char *at = info->si_addr;

	(void)signal;
	if (at == (char *)uc->uc_mcontext.gregs[REG_RIP])
		caught[at == ill_at]++;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}

static __attribute__((noinline, noclone)) long
run(const void **code, const void *const **labels, long n)
{
	static const void *const all[] = { &&more, &&ill, &&again, &&halt };
	long sum = 0;

	if (labels) {
		*labels = all;
		return 0;
	}
	goto **code;
more:
	sum += 3;
	code++;
	goto **code;
ill:
	n--;
	__asm__ volatile("ill_at: ud2" : "+r"(sum), "+r"(n));
	code++;
	goto **code;
again:
	code += n > 0 ? -2 : 1;
	goto **code;
halt:
	return sum;
}

int
main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = on_ill, .sa_flags = SA_SIGINFO
	};
	const void *const *labels, *code[4];
	long n = atol(argv[1]);
	sigset_t set;

	run(NULL, &labels, 0);
	for (int i = 0; i < 4; i++)
		code[i] = labels[i];
	sigemptyset(&set);
	sigaddset(&set, SIGILL);
	if (argc < 3)
		sigaction(SIGILL, &action, NULL);
	else if (*argv[2] == 'b')
		sigprocmask(SIG_BLOCK, &set, NULL);
	else if (*argv[2] == 'i')
		signal(SIGILL, SIG_IGN);
	for (int i = 0; i < 3; i++)
		printf("%ld\n", run(code, NULL, n));
	for (long i = 0; i < n; i++)
		begins();
	printf("%d %d\n", caught[0], caught[1]);
	return 0;
}
