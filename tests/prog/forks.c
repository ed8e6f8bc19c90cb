/*
 * Processes that fork, vfork and exec in all ways and call work(), leaf()
 * and node() as often as their arguments say.  Every child's exit status is
 * checked: a process that died otherwise than it should is a failure.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

extern char **environ;

static const char *self;
static volatile long sink;

NOINLINE void
work(void)
{
	sink++;					/* x W */
}

NOINLINE void
leaf(void)
{
	sink++;
}

NOINLINE void
node(void)
{
	sink++;
}

NOINLINE void
in_child(void)
{
	sink++;
}

NOINLINE void
in_parent(void)
{
	sink++;
}

static void
failed(const char *what)
{
	perror(what);
	_exit(99);
}

static void
work_times(int n)
{
	while (n--)
		work();
}

static void
reap(pid_t pid, int status)
{
	int got;

	if (pid < 0 || waitpid(pid, &got, 0) != pid)
		failed("waitpid");
	if (!WIFEXITED(got) || WEXITSTATUS(got) != status) {
		fprintf(stderr, "child: status %x\n", got);
		_exit(98);
	}
}

static void *
thread_work(void *arg)
{
	work_times((long)arg);
	return NULL;
}

static void
threads_work(int threads, long calls)
{
	pthread_t ids[threads];
	int i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, thread_work, (void *)calls))
			failed("thread");
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

/* work: (n + 1) * threads * calls, all at the same time. */
static void
forks(int n, int threads, int calls)
{
	pid_t pids[n];
	int i;

	for (i = 0; i < n; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			threads_work(threads, calls);
			_exit(i);
		}
	}
	threads_work(threads, calls);
	for (i = 0; i < n; i++)
		reap(pids[i], i);
}

/* node: 2^(depth + 1) - 1. */
static void
tree(int depth)
{
	pid_t pids[2];
	int i;

	node();
	if (!depth)
		return;
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			tree(depth - 1);
			_exit(i);
		}
	}
	reap(pids[0], 0);
	reap(pids[1], 1);
}

/* A vfork child shares the memory: sink is the sum of both. */
static void
vforks(int n)
{
	long i;

	for (i = 0; i < n; i++) {
		pid_t pid = vfork();

		if (!pid) {
			in_child();
			in_child();
			_exit(7);
		}
		in_parent();
		reap(pid, 7);
	}
	if (sink != 3L * n)
		failed("shared memory");
}

static void
vfork_exec(int n)
{
	while (n--) {
		pid_t pid = vfork();

		if (!pid) {
			in_child();
			execl(self, self, "leaf", "3", NULL);
			_exit(97);
		}
		in_parent();
		reap(pid, 42);
	}
}

/* A vfork child whose exec fails, and goes on in the shared memory. */
static void
vfork_exec_fails(int n)
{
	while (n--) {
		pid_t pid = vfork();

		if (!pid) {
			execl("/nonexistent", "x", NULL);
			in_child();
			_exit(7);
		}
		in_parent();
		reap(pid, 7);
	}
}

/* The other threads go on while one waits for its vfork child. */
static void
vfork_threads(int n, int calls)
{
	pthread_t ids[4];
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, thread_work,
				   (void *)(long)calls))
			failed("thread");
	vfork_exec(n);
	for (i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

static void
spawns(int n)
{
	char *argv[] = { (char *)self, "leaf", "2", NULL };

	while (n--) {
		pid_t pid;

		if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
			failed("spawn");
		in_parent();
		reap(pid, 42);
	}
}

static void
systems(int n)
{
	char command[4096];

	snprintf(command, sizeof(command), "%s leaf 2; exit 3", self);
	while (n--) {
		int status = system(command);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
			failed("system");
	}
}

/* The daemon works when its parents are gone; its end closes the pipe. */
static void
daemonize(int calls)
{
	int fds[2];
	char c;

	if (pipe(fds))
		failed("pipe");
	pid_t pid = fork();
	if (!pid) {
		setsid();
		if (fork())
			_exit(0);
		close(fds[0]);
		/* Until the parent is gone. */
		while (getppid() != 1 && getppid() == getsid(0))
			;
		work_times(calls);
		if (write(fds[1], "x", 1) != 1)
			failed("write");
		_exit(0);
	}
	reap(pid, 0);
	close(fds[1]);
	if (read(fds[0], &c, 1) != 1)
		failed("the daemon is lost");
}

/* Like it, but this process ends first. */
static void
orphan(int calls)
{
	pid_t parent = getpid();

	if (fork())
		return;
	while (getppid() == parent)
		;
	work_times(calls);
	_exit(0);
}

static void *
forker(void *arg)
{
	int i;

	for (i = 0; i < (long)arg; i++) {
		pid_t pid = fork();

		if (!pid) {
			in_child();
			_exit(5);
		}
		reap(pid, 5);
	}
	return NULL;
}

/* Threads fork while others are at traps: each child has all traps. */
static void
thread_forks(int n, int calls)
{
	pthread_t ids[8];
	int i;

	for (i = 0; i < 8; i++)
		if (pthread_create(&ids[i], NULL, i & 1 ? forker : thread_work,
				   (void *)(long)(i & 1 ? n : calls)))
			failed("thread");
	for (i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

static void *
endless(void *arg)
{
	for (;;)
		node();
	return arg;
}

static void *
execer(void *arg)
{
	in_parent();
	execl(self, self, "leaf", arg, NULL);
	_exit(97);
}

/* exec in a thread: all others end, and it becomes the process. */
static void
thread_exec(char *calls)
{
	pthread_t id;
	int i;

	for (i = 0; i < 6; i++)
		if (pthread_create(&id, NULL, endless, NULL))
			failed("thread");
	if (pthread_create(&id, NULL, execer, calls))
		failed("thread");
	endless(NULL);
}

static void
chain(int n)
{
	char number[16];

	work();
	if (!n)
		return;
	snprintf(number, sizeof(number), "%d", n - 1);
	execl(self, self, "chain", number, NULL);
	failed(self);
}

static void *
chain_next(void *arg)
{
	execl(self, self, "threadchain", arg, NULL);
	_exit(97);
}

/* The same, each time by one thread of several. */
static void
thread_chain(int n)
{
	static char number[16];
	pthread_t id;
	int i;

	work();
	if (!n)
		return;
	snprintf(number, sizeof(number), "%d", n - 1);
	for (i = 0; i < 4; i++)
		if (pthread_create(&id, NULL, i < 3 ? endless : chain_next,
				   number))
			failed("thread");
	endless(NULL);
}

/* Processes by the hundreds that end at once. */
static void
storm(int n)
{
	int i;

	signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			in_child();
			_exit(0);
		}
		if (pid < 0)
			failed("fork");
		if (i % 16 == 15)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
}

/* Children that are killed at whatever they are doing. */
static void
killed(int n)
{
	pid_t parent = getpid();

	while (n--) {
		int fds[2], status;
		char c;

		if (pipe(fds))
			failed("pipe");
		pid_t pid = fork();
		if (!pid) {
			/* Not longer than its parent, which may be gone. */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(0);
			if (write(fds[1], "x", 1) != 1)
				failed("write");
			endless(NULL);
		}
		if (read(fds[0], &c, 1) != 1)
			failed("read");
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
		    WTERMSIG(status) != SIGKILL)
			failed("killed");
		close(fds[0]);
		close(fds[1]);
	}
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	int m = argc > 3 ? atoi(argv[3]) : 1;
	int k = argc > 4 ? atoi(argv[4]) : 1;

	self = argv[0];
	if (!strcmp(mode, "leaf")) {
		while (n--)
			leaf();
		return 42;
	}
	if (!strcmp(mode, "forks"))
		forks(n, m, k);
	else if (!strcmp(mode, "tree"))
		tree(n);
	else if (!strcmp(mode, "vfork"))
		vforks(n);
	else if (!strcmp(mode, "vforkexec"))
		vfork_exec(n);
	else if (!strcmp(mode, "vforkfail"))
		vfork_exec_fails(n);
	else if (!strcmp(mode, "vforkthreads"))
		vfork_threads(n, m);
	else if (!strcmp(mode, "spawn"))
		spawns(n);
	else if (!strcmp(mode, "system"))
		systems(n);
	else if (!strcmp(mode, "daemon"))
		daemonize(n);
	else if (!strcmp(mode, "orphan"))
		orphan(n);
	else if (!strcmp(mode, "threadfork"))
		thread_forks(n, m);
	else if (!strcmp(mode, "threadexec"))
		thread_exec(argv[2]);
	else if (!strcmp(mode, "chain"))
		chain(n);
	else if (!strcmp(mode, "threadchain"))
		thread_chain(n);
	else if (!strcmp(mode, "storm"))
		storm(n);
	else if (!strcmp(mode, "killed"))
		killed(n);
	return 11;
}
