/*
 * A short loop of two blocks with many instructions in each round, which
 * signals interrupt all the time: a handler must see it in its own code, never
 * in a copy.  Writes how often the loop was run, and where signals came.
 * Argument: the signal's number.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

enum { ROUNDS = 1 << 20, SIGNALS = 100 };

extern char __executable_start, etext, rounds_end;
unsigned rounds(long n);

__asm__(".text\n"
	".globl rounds, rounds_end\n"
	".type rounds, @function\n"
	"rounds:\n"
	"	xor %eax, %eax\n"
	"1:	.rept 18\n"
	"	inc %eax\n"
	"	.endr\n"
	"	test $1, %dil\n"
	"	je 2f\n"
	"	inc %eax\n"
	"2:	.rept 18\n"
	"	inc %eax\n"
	"	.endr\n"
	"	dec %rdi\n"
	"	jne 1b\n"
	"	ret\n"
	"rounds_end:\n"
	".size rounds, . - rounds\n");

static volatile sig_atomic_t inside, outside;

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];

	if (pc >= (uintptr_t)rounds && pc < (uintptr_t)&rounds_end)
		inside++;
	else if (pc < (uintptr_t)&__executable_start || pc >= (uintptr_t)&etext)
		outside++;
}

int
main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = atoi(argv[1]),
	};
	struct itimerspec each = { { 0, 1000000 }, { 0, 1000000 } };
	timer_t timer;
	unsigned calls = 0;

	if (argc < 2 || sigaction(event.sigev_signo, &action, NULL) ||
	    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) ||
	    timer_settime(timer, 0, &each, NULL))
		return 3;
	for (; inside < SIGNALS; calls++)
		if (rounds(ROUNDS) != ROUNDS / 2 * 73u)
			return 1;
	timer_delete(timer);
	fprintf(stderr, "counts: rounds %u, elsewhere %d\n", calls, outside);
	return outside ? 2 : 4;
}
