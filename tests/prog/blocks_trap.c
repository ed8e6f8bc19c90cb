/*
 * Blocks SIGTRAP, for which it has no handler, and says what becomes of that
 * signal: who sent it, whether it waits, what the mask is.  Arguments: how.  A
 * SIGTRAP that waits is there before each work; work comes before each look.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t got;
static int calls;
static char *self;

__attribute__((noinline)) void
work(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i));
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static sigset_t
trap_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	return set;
}

static void
block(int how)
{
	sigset_t set = trap_set();

	sigprocmask(how, &set, NULL);
}

static void
say(const char *what)
{
	sigset_t mask, pending;

	work(1);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	printf("%s: %s, %s\n", what,
	       sigismember(&mask, SIGTRAP) ? "blocked" : "open",
	       sigismember(&pending, SIGTRAP) ? "waits" : "none waits");
	fflush(stdout);
}

/* Take one that waits, or say that there is none. */
static void
take(const char *what)
{
	struct timespec none = { 0, 0 };
	sigset_t set = trap_set();
	siginfo_t info;

	work(2);
	if (sigtimedwait(&set, &info, &none) < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: signal %d, code %d, from %s, value %d\n", what,
		       info.si_signo, info.si_code,
		       info.si_pid == getpid()	? "itself" :
		       info.si_pid == getppid() ? "its parent" :
						  "another",
		       info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
}

/* ---- the modes */

static void
waits(void)
{
	block(SIG_BLOCK);
	say("before");
	raise(SIGTRAP);
	say("raised");
	raise(SIGTRAP);
	take("of two");
	take("of two");
	kill(getpid(), SIGTRAP);
	say("sent");
	take("sent");
	sigqueue(getpid(), SIGTRAP, (union sigval){ .sival_int = 42 });
	raise(SIGTRAP);
	sigqueue(getpid(), SIGTRAP, (union sigval){ .sival_int = 43 });
	say("both");
	take("its own");
	take("the process's");
	take("none");
	block(SIG_UNBLOCK);
	say("after");
}

static void
by_file(void)
{
	sigset_t set = trap_set();
	struct epoll_event event = { .events = EPOLLIN };
	struct signalfd_siginfo info = { 0 };
	int fd, epoll = epoll_create1(0);

	block(SIG_BLOCK);
	fd = signalfd(-1, &set, 0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	raise(SIGTRAP);
	work(3);
	printf("%d is ready\n", epoll_wait(epoll, &event, 1, -1));
	work(3);
	if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		printf("no signal\n");
	printf("signal %d, code %d\n", (int)info.ssi_signo, info.ssi_code);
	say("read");
}

/* From another process, while this one works. */
static void
from_parent(void)
{
	int status, go[2], sent[2];
	char c = 0;
	pid_t pid;

	if (pipe(go) || pipe(sent))
		return;
	block(SIG_BLOCK);
	pid = fork();
	if (!pid) {
		sigset_t set = trap_set();
		int signal;

		say("child");
		if (write(go[1], &c, 1) != 1 || read(sent[0], &c, 1) != 1)
			_exit(1);
		say("sent");
		take("sent");
		if (write(go[1], &c, 1) != 1 || sigwait(&set, &signal))
			_exit(1);
		work(1);
		printf("waited for %d\n", signal);
		fflush(stdout);
		_exit(3);
	}
	for (int i = 0; i < 2; i++) {
		if (read(go[0], &c, 1) != 1)
			break;
		work(1);
		kill(pid, SIGTRAP);
		if (!i && write(sent[1], &c, 1) != 1)
			break;
	}
	waitpid(pid, &status, 0);
	printf("child: %x\n", (unsigned)status);
	say("parent");
}

/* It dies of it. */
static void
unblocks(void)
{
	block(SIG_BLOCK);
	raise(SIGTRAP);
	say("raised");
	block(SIG_UNBLOCK);
	say("never");
}

/* It dies of it. */
static void
polls(void)
{
	struct timespec soon = { 0, 0 };
	sigset_t none;

	sigemptyset(&none);
	block(SIG_BLOCK);
	raise(SIGTRAP);
	ppoll(NULL, 0, &soon, NULL);
	say("raised");
	ppoll(NULL, 0, &soon, &none);
	say("never");
}

/* It dies of it. */
static void
traps(void)
{
	block(SIG_BLOCK);
	raise(SIGTRAP);
	say("raised");
	__asm__ volatile("int3");
	say("never");
}

static void
ignores(void)
{
	block(SIG_BLOCK);
	raise(SIGTRAP);
	say("raised");
	signal(SIGTRAP, SIG_IGN);
	say("ignored");
	raise(SIGTRAP);
	say("raised");
	take("taken");
	raise(SIGTRAP);
	block(SIG_UNBLOCK);
	say("unblocked");
	block(SIG_BLOCK);
	signal(SIGTRAP, SIG_DFL);
	say("default");
	raise(SIGTRAP);
	say("raised");
	take("taken");
}

/* The mask goes to children, and comes back by jumps. */
static void
masks(void)
{
	static ucontext_t context;
	sigjmp_buf back;
	volatile int times = 0;
	int status;

	block(SIG_BLOCK);
	say("blocked");
	if (!sigsetjmp(back, 1)) {
		block(SIG_UNBLOCK);
		say("unblocked");
		siglongjmp(back, 1);
	}
	say("jumped");
	getcontext(&context);
	say("here");
	if (!times++) {
		sigset_t none;

		sigemptyset(&none);
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
		say("unblocked");
		setcontext(&context);
	}
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 8);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, -1, NULL, 8);
	syscall(SYS_rt_sigprocmask, 99, &(sigset_t){ { 0 } }, NULL, 8);
	say("no change");
	if (!fork()) {
		say("forked");
		execl(self, self, "says", "executed", (char *)NULL);
	}
	wait(&status);
	if (!vfork()) {
		work(3);
		execl(self, self, "says", "by vfork", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	printf("system: %d\n", system("exit 3") >> 8);
	say("parent");
}

static void *
thread_takes(void *barrier)
{
	say("thread inherits");
	block(SIG_UNBLOCK);
	say("thread");
	block(SIG_BLOCK);
	say("thread");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	take("thread");
	return barrier;
}

/* One thread blocks it, and is sent it; the other does not block it. */
static void
threads(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	block(SIG_BLOCK);
	pthread_create(&thread, NULL, thread_takes, &barrier);
	pthread_barrier_wait(&barrier);
	block(SIG_UNBLOCK);
	pthread_kill(thread, SIGTRAP);
	work(2);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	say("main");
}

static void
on_trap(int signal)
{
	work(2);
	got++;
}

static void *
thread_raises(void *arg)
{
	for (int i = 0; i < 50; i++) {
		work(1);
		if (i % 10 == 0)
			raise(SIGTRAP);
	}
	return arg;
}

/* Several threads block it at the same time, now with a handler. */
static void
crowd(void)
{
	pthread_t ids[4];

	signal(SIGTRAP, on_trap);
	block(SIG_BLOCK);
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, thread_raises, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	say("joined");
	block(SIG_UNBLOCK);
	printf("got %d\n", (int)got);
	raise(SIGTRAP);
	printf("got %d\n", (int)got);
}

/* Its handler changes the mask, and returns to the old one. */
static void
on_usr(int signal)
{
	say("in handler");
	block(SIG_BLOCK);
	say("blocked in handler");
	block(SIG_UNBLOCK);
	say("unblocked in handler");
}

static void
handles(void)
{
	signal(SIGUSR1, on_usr);
	raise(SIGUSR1);
	say("behind it");
	block(SIG_BLOCK);
	raise(SIGUSR1);
	say("behind it, blocked");
	raise(SIGTRAP);
	say("raised");
	take("taken");
}

/* Blocks it, and then does what it is told, a line at a time. */
static void
serves(void)
{
	char line[16];

	block(SIG_BLOCK);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q') {
		raise(SIGTRAP);
		take(line[0] == 'w' ? "waited" : "?");
		fflush(stdout);
	}
}

static void
set_often(int times)
{
	sigset_t usr;

	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	for (int i = 0; i < times; i++)
		sigprocmask(i % 2 ? SIG_UNBLOCK : SIG_BLOCK, &usr, NULL);
}

/*
 * Sets the mask often, also in children, from before and behind 5,000 calls,
 * and gets a SIGTRAP that it does not block.
 */
static void
often(void)
{
	set_often(2000);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			set_often(2000);
			work(1);
			_exit(0);
		}
		wait(NULL);
	}
	set_often(2000);
	say("often");
	fflush(stdout);
	raise(SIGTRAP);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "waits", waits },
	{ "by-file", by_file },
	{ "from-parent", from_parent },
	{ "unblocks", unblocks },
	{ "polls", polls },
	{ "traps", traps },
	{ "ignores", ignores },
	{ "masks", masks },
	{ "threads", threads },
	{ "crowd", crowd },
	{ "handles", handles },
	{ "serves", serves },
	{ "often", often },
};

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	self = argv[0];
	if (!strcmp(mode, "says"))
		say(argv[2]);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, mode))
			modes[i].run();
	fflush(stdout);
	return 0;
}
