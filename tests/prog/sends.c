/*
 * Sends itself a signal so many times (the second argument), each time in a
 * function of its own: directly behind a system call that it contains.  The
 * handler returns, or with "w" as the first argument the signal is blocked and
 * comes in sigsuspend.  Prints how often each function was called.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long handled;

static void
on_signal(int signal)
{
	handled++;
}

/* Each does one system call: one that may do any would be of interest to pmon. */
#define CALL(name, nr)                                                     \
	static __attribute__((noinline)) long name(long a, long b)         \
	{                                                                  \
		long result;                                               \
                                                                           \
		__asm__ volatile("syscall"                                 \
				 : "=a"(result)                            \
				 : "0"((long)(nr)), "D"(a), "S"(b)         \
				 : "rcx", "r11", "memory");                \
		return result;                                             \
	}

CALL(send, SYS_kill)
CALL(wait, SYS_rt_sigsuspend)

int
main(int argc, char **argv)
{
	int waits = argv[1][0] == 'w';
	long n = strtol(argv[2], NULL, 10);
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t set;
	/* As the kernel reads it. */
	unsigned long none = 0;

	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (waits)
		sigprocmask(SIG_BLOCK, &set, NULL);
	for (long i = 0; i < n; i++) {
		send(getpid(), SIGUSR1);
		if (waits)
			wait((long)&none, sizeof(none));
	}
	fprintf(stderr, "counts: on_signal %ld\n", handled);
	return 4;
}
