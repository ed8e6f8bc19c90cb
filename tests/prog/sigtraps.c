/*
 * Uses SIGTRAP itself: handles, blocks or ignores it, and says what it then
 * finds of its handler, its mask and of signals that wait.  Argument: how.
 * How often work was called it says at the end.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t got, calls;
static sigjmp_buf back;

__attribute__((noinline)) void
work(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i));
	calls++;
}

static void
say(const char *what)
{
	struct sigaction action;
	sigset_t mask, pending;

	sigaction(SIGTRAP, NULL, &action);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	printf("%s: %s, %s, %s, got %d\n", what,
	       action.sa_handler == SIG_DFL ? "default" :
	       action.sa_handler == SIG_IGN ? "ignored" : "handled",
	       sigismember(&mask, SIGTRAP) ? "blocked" : "open",
	       sigismember(&pending, SIGTRAP) ? "waits" : "none waits",
	       (int)got);
}

__attribute__((noinline)) static void
on_trap(int signal)
{
	work(2);
	got++;
	work(3);
}

__attribute__((noinline)) static void
on_nested(int signal)
{
	work(4);
	if (!got++) {
		raise(SIGTRAP);
		say("in handler");
	}
	work(1);
}

__attribute__((noinline)) static void
on_usr(int signal)
{
	work(2);
	say("in SIGUSR1's handler");
}

__attribute__((noinline)) static void
on_leave(int signal)
{
	work(2);
	got++;
	siglongjmp(back, 1);
}

static void
catch(int signal, void (*handler)(int), int full)
{
	struct sigaction action = { .sa_handler = handler };

	if (full)
		sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static void
block(int how)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(how, &set, NULL);
}

static void
block_one(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(how, &set, NULL);
}

__attribute__((noinline)) static void
trap(void)
{
	__asm__ volatile("int3");
}

/* ---- the modes */

static void
blocked(void)
{
	catch(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 3; i++) {
		block(SIG_BLOCK);
		work(i);
		say("blocked");
		block(SIG_UNBLOCK);
		say("unblocked");
		raise(SIGTRAP);
	}
	block_one(SIG_BLOCK);
	work(3);
	say("it alone");
	block_one(SIG_UNBLOCK);
	trap();
	say("own");
}

static void
waits(void)
{
	catch(SIGTRAP, on_trap, 0);
	block_one(SIG_BLOCK);
	raise(SIGTRAP);
	work(3);
	work(4);
	say("raised");
	kill(getpid(), SIGTRAP);
	work(4);
	say("sent");
	block_one(SIG_UNBLOCK);
	say("unblocked");
}

static void
forks(void)
{
	int status;
	pid_t pid;

	catch(SIGTRAP, on_trap, 0);
	block(SIG_BLOCK);
	pid = fork();
	if (!pid) {
		work(2);
		say("child");
		block(SIG_UNBLOCK);
		raise(SIGTRAP);
		say("child, unblocked");
		fflush(stdout);
		_exit(got);
	}
	waitpid(pid, &status, 0);
	printf("child: %x\n", (unsigned)status);
	say("parent");
	block(SIG_UNBLOCK);
	raise(SIGTRAP);
	say("unblocked");
}

static void
spawns(void)
{
	catch(SIGTRAP, on_trap, 0);
	block(SIG_BLOCK);
	if (system("exit 3") != 3 << 8)
		printf("system failed\n");
	say("spawned");
	block(SIG_UNBLOCK);
	raise(SIGTRAP);
}

static void
handlers(void)
{
	sigset_t set;
	struct timespec soon = { 0, 0 };

	catch(SIGTRAP, on_trap, 0);
	catch(SIGUSR1, on_usr, 1);
	raise(SIGUSR1);
	say("after");
	raise(SIGTRAP);
	block_one(SIG_BLOCK);
	block(SIG_BLOCK);
	raise(SIGUSR1);
	sigfillset(&set);
	sigdelset(&set, SIGUSR1);
	sigsuspend(&set);
	say("suspended");
	raise(SIGUSR1);
	catch(SIGUSR1, on_usr, 0);
	ppoll(NULL, 0, &soon, &set);
	say("polled");
	block(SIG_UNBLOCK);
	raise(SIGTRAP);
	say("unblocked");
}

static void
nested(void)
{
	catch(SIGTRAP, on_nested, 0);
	trap();
	say("trap");
	got = 0;
	raise(SIGTRAP);
	say("raised");
	catch(SIGTRAP, on_leave, 1);
	if (!sigsetjmp(back, 1))
		trap();
	say("left");
	if (!sigsetjmp(back, 1))
		raise(SIGTRAP);
	say("left again");
}

static void
ignored(void)
{
	catch(SIGTRAP, SIG_IGN, 0);
	work(3);
	say("ignored");
	raise(SIGTRAP);
	work(2);
	say("raised");
	catch(SIGTRAP, on_trap, 0);
	raise(SIGTRAP);
	say("caught");
	syscall(SYS_rt_sigaction, SIGTRAP, (unsigned long[]){
		(unsigned long)SIG_IGN, 0, 0, 0 }, NULL, 8);
	work(2);
	say("ignored");
	raise(SIGTRAP);
}

/* It dies of it. */
static void
dies(void)
{
	catch(SIGTRAP, on_trap, 0);
	block(SIG_BLOCK);
	work(1);
	say("blocked");
	trap();
	say("never");
}

static void
dies_ignored(void)
{
	catch(SIGTRAP, SIG_IGN, 0);
	work(1);
	say("ignored");
	trap();
	say("never");
}

static void
reset(void)
{
	struct sigaction action = { .sa_handler = on_trap,
				    .sa_flags = SA_RESETHAND };

	sigaction(SIGTRAP, &action, NULL);
	block_one(SIG_BLOCK);
	work(2);
	block_one(SIG_UNBLOCK);
	raise(SIGTRAP);
	work(2);
	say("once");
	fflush(stdout);
	raise(SIGTRAP);
}

static void *
thread(void *arg)
{
	for (int i = 0; i < 3; i++)
		work(i);
	say("thread");
	return arg;
}

static void
threads(void)
{
	pthread_t id;

	catch(SIGTRAP, on_trap, 0);
	block(SIG_BLOCK);
	for (int i = 0; i < 2; i++) {
		pthread_create(&id, NULL, thread, NULL);
		pthread_join(id, NULL);
	}
	say("joined");
	block(SIG_UNBLOCK);
	raise(SIGTRAP);
	say("unblocked");
}

/* Does what it is told, a line at a time. */
static void
serves(void)
{
	char line[16];

	catch(SIGTRAP, on_trap, 0);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin))
		switch (line[0]) {
		case 'b':
			block(SIG_BLOCK);
			work(1);
			say("blocked");
			break;
		case 'u':
			block(SIG_UNBLOCK);
			say("unblocked");
			break;
		case 't':
			trap();
			say("trapped");
			break;
		case 'q':
			return;
		}
}

/* The same, but it is always at it. */
static void
spins(void)
{
	struct pollfd in = { 0, POLLIN, 0 };

	catch(SIGTRAP, on_trap, 0);
	block(SIG_BLOCK);
	printf("ready\n");
	while (!poll(&in, 1, 0))
		for (int i = 0; i < 1000; i++)
			work(i);
	say("blocked");
	block(SIG_UNBLOCK);
	raise(SIGTRAP);
	say("unblocked");
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "blocked", blocked }, { "waits", waits }, { "forks", forks },
	{ "spawns", spawns }, { "handlers", handlers }, { "nested", nested },
	{ "ignored", ignored }, { "dies", dies },
	{ "dies-ignored", dies_ignored }, { "reset", reset },
	{ "threads", threads }, { "serves", serves }, { "spins", spins },
};

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(mode, "serves") && strcmp(mode, "spins"))
		say("begin");
	if (!strcmp(mode, "exec")) {
		catch(SIGTRAP, argc > 2 ? SIG_IGN : on_trap, 0);
		work(1);
		execl(argv[0], argv[0], "blocked", (char *)NULL);
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, mode))
			modes[i].run();
	work(5);
	say("end");
	printf("counts: work %d\n", (int)calls);
	return 0;
}
