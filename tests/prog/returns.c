/*
 * Handlers that run with all signals blocked: they make system calls, change
 * their mask, are interrupted by others, fork, and return or jump out.  Says what
 * it finds of its mask.  Argument: how.
 *
 * calls	all of that, with a handler of SIGTRAP
 * leaves	handlers that are left by a jump, and then one that returns
 * dies		a SIGTRAP that waits until the handler has returned ends it
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 4, CALLS = 40 };

static volatile sig_atomic_t round_now, inner, got;
static sigjmp_buf back;
static int dying;

__attribute__((noinline)) void
work(void)
{
	__asm__ volatile(".rept 16; nop; .endr");
}

/* Not by libc's code, where a call of any number has a hook. */
#define CALL(nr, a, b)                                                     \
	({                                                                 \
		long result_;                                              \
		__asm__ volatile("mov %1, %%eax\n\tsyscall"                \
				 : "=&a"(result_)                          \
				 : "i"(nr), "D"((long)(a)), "S"((long)(b)) \
				 : "rcx", "r11", "memory");                \
		result_;                                                   \
	})

__attribute__((noinline)) static void
send(int signal)
{
	CALL(SYS_tkill, CALL(SYS_gettid, 0, 0), signal);
}

static int
blocks(int signal)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, signal);
}

static void
unblock(int how, int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(how, &set, NULL);
}

static void
on_inner(int signal)
{
	work();
	inner++;
}

static void
on_trap(int signal)
{
	got++;
}

static void
on_calls(int signal)
{
	int status = 0;
	pid_t pid;

	for (int i = 0; i < CALLS; i++)
		CALL(SYS_getppid, 0, 0);
	work();
	unblock(SIG_UNBLOCK, SIGUSR2);
	send(SIGUSR2);
	if (round_now == 1)
		unblock(SIG_UNBLOCK, SIGTRAP);
	if (round_now == 2) {
		unblock(SIG_UNBLOCK, SIGTRAP);
		unblock(SIG_BLOCK, SIGTRAP);
	}
	if (round_now != 3)
		return;
	fflush(stdout);
	pid = fork();
	if (pid)
		waitpid(pid, &status, 0);
	else
		dying = 1;
	if (pid)
		printf("child: %x\n", (unsigned)status);
}

static void
on_leaves(int signal)
{
	work();
	if (round_now < ROUNDS - 1)
		siglongjmp(back, 1);
}

static void
on_dies(int signal)
{
	work();
	if (round_now == ROUNDS - 1)
		send(SIGTRAP);
}

static void
catch(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

/* Is interrupted as many times, and does something behind it. */
__attribute__((noinline)) static void
interrupted(void)
{
	for (round_now = 0; round_now < ROUNDS; round_now++) {
		if (!sigsetjmp(back, 1))
			send(SIGUSR1);
		work();
		printf("round %d: TRAP %d, USR1 %d, USR2 %d\n", round_now,
		       blocks(SIGTRAP), blocks(SIGUSR1), blocks(SIGUSR2));
		if (dying) {
			fflush(stdout);
			_exit(7);
		}
	}
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "dies"))
		catch(SIGTRAP, on_trap);
	catch(SIGUSR2, on_inner);
	catch(SIGUSR1, !strcmp(argv[1], "calls")  ? on_calls :
		       !strcmp(argv[1], "leaves") ? on_leaves :
						    on_dies);
	setvbuf(stdout, NULL, _IOLBF, 0);
	interrupted();
	for (int i = 0; i < 2 * CALLS; i++)
		CALL(SYS_getppid, 0, 0);
	send(SIGTRAP);
	printf("%d inner, %d traps\n", (int)inner, (int)got);
}
