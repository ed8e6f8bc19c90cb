/*
 * Most of the time the kernel would send this process SIGSYS for each system
 * call (PR_SET_SYSCALL_USER_DISPATCH).  A dot on the standard input is answered
 * with "ok" if only the calls that were meant to were sent; q ends the program.
 * Status 77: the kernel cannot do that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { DISPATCH = 59, NO_CALL = 500, RESULT = 7 };

static volatile char blocks;
static volatile long handled;

void
handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	blocks = 0;
	handled += info->si_syscall == NO_CALL;
	at->uc_mcontext.gregs[REG_RAX] = RESULT;
}

int
main(void)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };
	long wanted = 0;
	ssize_t n;
	char c = 0;

	sigaction(SIGSYS, &action, NULL);
	fcntl(0, F_SETFL, O_NONBLOCK);
	if (prctl(DISPATCH, 1, 0, 0, &blocks))
		return 77;
	while (c != 'q') {
		blocks = 1;
		/* Not too often: if pmon attaches at a signal, each is a trap. */
		for (volatile int i = 0; i < 20000; i++)
			;
		if (syscall(NO_CALL) != RESULT || handled != ++wanted)
			return 1;
		c = 0;
		n = read(0, &c, 1);
		if (!n)
			return 2;
		if (n == 1 && c == '.') {
			puts("ok");
			fflush(stdout);
		}
	}
	return 0;
}
