/*
 * Sends itself a signal by a system call whose number is the caller's, so that
 * pmon looks at the call.  The handler says whether it finds the program behind
 * that call.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

extern const char behind[];

static void
on_signal(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;

	puts(at->uc_mcontext.gregs[REG_RIP] == (greg_t)behind ? "behind" :
								"elsewhere");
}

__attribute__((noinline)) long
call(long nr, long a, long b)
{
	long result;

	__asm__ volatile("syscall\n"
			 ".globl behind\n"
			 "behind:"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b)
			 : "rcx", "r11", "memory");
	return result;
}

int
main(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGUSR1, &action, NULL);
	return (int)call(SYS_kill, getpid(), SIGUSR1);
}
