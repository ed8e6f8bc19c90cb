/*
 * Sets the actions of signals, often: actions TEST [N].
 */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t handled;

__attribute__((noinline)) void
handle(int signal)
{
	handled++;
}

__attribute__((noinline)) void
unblock(int signal, siginfo_t *info, void *context)
{
	handled++;
	sigdelset(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
}

__attribute__((noinline)) int
work(int x)
{
	return x + 1;
}

static void
many(int n)
{
	for (int i = 0; i < n; i++) {
		signal(SIGUSR1, handle);
		signal(SIGUSR1, SIG_DFL);
	}
}

/* The C library resets all actions in the child, which shares the memory. */
static void
spawns(char *self, int n)
{
	char *const argv[] = { self, "nothing", NULL };
	int status;
	pid_t pid;

	for (int i = 0; i < n; i++)
		if (!posix_spawn(&pid, self, NULL, NULL, argv, environ))
			waitpid(pid, &status, 0);
}

static void
block(int how, int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(how, &set, NULL);
}

static void
say(const char *what)
{
	sigset_t set;

	work(0);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("%s: %s, handled %d\n", what,
	       sigismember(&set, SIGTRAP) ? "blocked" : "not blocked",
	       (int)handled);
}

/* A handler has the mask changed by its return alone. */
static void
edits(void)
{
	const struct sigaction action = {
		.sa_sigaction = unblock,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGUSR1, &action, NULL);
	block(SIG_BLOCK, SIGTRAP);
	say("before");
	raise(SIGUSR1);
	say("behind");
}

/* A child that shares the memory, but not the actions, sets them. */
static void
vforks(void)
{
	int status;

	for (int i = 0; i < 3; i++) {
		signal(SIGTRAP, handle);
		if (!vfork()) {
			signal(SIGUSR1, SIG_DFL);
			signal(SIGTRAP, i == 1 ? SIG_IGN : SIG_DFL);
			signal(SIGSEGV, SIG_IGN);
			_exit(work(i));
		}
		wait(&status);
		block(SIG_BLOCK, SIGTRAP);
		say("blocks");
		raise(SIGTRAP);
		say("raised");
		block(SIG_UNBLOCK, SIGTRAP);
		say("unblocks");
	}
	raise(SIGTRAP);
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	say("ignores");
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(argv[1], "many"))
		many(n);
	else if (!strcmp(argv[1], "spawns"))
		spawns(argv[0], n);
	else if (!strcmp(argv[1], "edits"))
		edits();
	else if (!strcmp(argv[1], "vforks"))
		vforks();
	printf("%d\n", work(n));
	return 0;
}
