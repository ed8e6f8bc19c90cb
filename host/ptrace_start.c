/*
 * How native processes come to be traced and cease to be: launching, attaching,
 * detaching.  Translates no events.
 */
#include "host/ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/procfs.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * In the child: say that it runs, wait until it is traced, and become the
 * program.  If pmon is gone by then nobody monitors the program, and it must
 * not run.  pmon raises its own limits only after the fork, so the program does
 * not inherit them.
 */
static _Noreturn void
launch_child(const char *path, char **argv, int go, int report)
{
	ssize_t n;
	char c;
	int err;

	if (write(report, "", 1) != 1)
		_exit(127);
	while ((n = read(go, &c, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(127);
	execv(path, argv);
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(127);
}

/* Each process followed needs a handle on its memory, a file descriptor. */
static void
files_unlimit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int launch_report = -1;

int
ptrace_launch(const char *path, char **argv, pid_t *tid)
{
	int go[2], report[2];
	pid_t pid;
	char ran;

	if (pipe2(go, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		return fail("cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return fail("cannot fork: %s", strerror(errno));
	if (!pid) {
		close(go[1]);
		launch_child(path, argv, go[0], report[1]);
	}
	close(report[1]);
	/*
	 * A tracer of pmon has the child too until it lets that go: seize the
	 * child when it has run.  If it never does, seizing fails.
	 */
	while (read(report[0], &ran, 1) < 0 && errno == EINTR)
		;
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_OPTIONS | PTRACE_O_EXITKILL)) {
		int err = errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(go[0]);
		close(go[1]);
		close(report[0]);
		return fail("cannot trace a process started here: %s",
			    strerror(err));
	}
	files_unlimit();
	/*
	 * The child is blocked in read: let it go on to exec.  If it was killed
	 * the pipe still has a reader here, so there is no SIGPIPE.
	 */
	if (write(go[1], "", 1) != 1)
		kill(pid, SIGKILL);
	close(go[0]);
	close(go[1]);
	launch_report = report[0];
	*tid = pid;
	return HOST_OK;
}

int
ptrace_launch_error(void)
{
	int err = 0;

	if (launch_report < 0)
		return 0;
	if (read(launch_report, &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(launch_report);
	launch_report = -1;
	return err;
}

static int
attach_refused(pid_t pid, int err)
{
	uint64_t tracer = procfs_status(pid, "TracerPid", 10, 0);
	char *open_path, *exe;
	FILE *f;
	char scope = '0';

	if (kill(pid, 0) && errno == ESRCH)
		return fail("process %d: no such process", (int)pid);
	if (err != EPERM && err != EACCES)
		return fail("process %d: cannot be attached to: %s", (int)pid,
			    strerror(err));
	if (tracer)
		return fail("process %d: already traced by process %d",
			    (int)pid, (int)tracer);
	errno = 0;
	exe = procfs_exe(pid, &open_path);
	free(open_path);
	if (!exe && errno == ENOENT)
		return fail("process %d: a kernel thread, not a program",
			    (int)pid);
	free(exe);
	f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	if (f) {
		scope = fgetc(f);
		fclose(f);
	}
	if (scope != '0' && geteuid())
		return fail(
			"process %d: not permitted: kernel.yama.ptrace_scope"
			" is %c; attaching needs CAP_SYS_PTRACE (root)",
			(int)pid, scope);
	return fail("process %d: not permitted: it is another user's or "
		    "privileged; attaching needs CAP_SYS_PTRACE (root)",
		    (int)pid);
}

/*
 * Where /proc does not say so: only a task that is traced here can be
 * interrupted, which does no harm to one that is being attached to.
 */
static bool
traced_here(pid_t tid)
{
	uint64_t tracer = procfs_status(tid, "TracerPid", 10, UINT64_MAX);

	if (tracer == UINT64_MAX)
		return !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return (pid_t)tracer == getpid();
}

enum { SEIZE_MS = 10 };

static sigjmp_buf seize_left;
static volatile sig_atomic_t seizing;

static void
on_seize_tick(int signal)
{
	if (seizing)
		siglongjmp(seize_left, 1);
}

/*
 * Seize a thread.  A thread in exec waits until the traced threads that it ends
 * have been waited for, and PTRACE_SEIZE waits for the exec: a deadlock.  The
 * kernel restarts PTRACE_SEIZE after any signal, so a timer's handler leaves it
 * by a jump, and the ended threads are waited for.
 */
static int
seize(pid_t tid)
{
	volatile bool left = false;
	int err;

	while (sigsetjmp(seize_left, 1)) {
		seizing = 0;
		left = true;
		ptrace_early_take();
	}
	seizing = 1;
	err = ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_OPTIONS) ? errno : 0;
	seizing = 0;
	/* The jump may have come just after success. */
	return left && traced_here(tid) ? 0 : err;
}

/*
 * Turn the timer of seize on or off.  The jump would also leave another
 * signal's handler that has just begun and must run to its end, so all other
 * signals are blocked meanwhile.
 */
static void
seize_ticks(bool on)
{
	static const struct itimerspec often = {
		{ 0, SEIZE_MS * 1000000 },
		{ 0, SEIZE_MS * 1000000 },
	};
	static timer_t timer;
	static sigset_t before;
	struct sigaction action = { .sa_flags = SA_RESTART };
	struct sigevent how = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGRTMIN,
	};
	sigset_t others;

	if (!on) {
		timer_delete(timer);
		signal(SIGRTMIN, SIG_IGN);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return;
	}
	action.sa_handler = on_seize_tick;
	sigaction(SIGRTMIN, &action, NULL);
	sigfillset(&others);
	sigdelset(&others, SIGRTMIN);
	sigprocmask(SIG_SETMASK, &others, &before);
	must(!timer_create(CLOCK_MONOTONIC, &how, &timer) &&
	     !timer_settime(timer, 0, &often, NULL));
}

static bool
tid_known(const pid_t *tids, size_t n, pid_t tid)
{
	for (size_t i = 0; i < n; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/*
 * Seize one thread.  Returns its id, 0 if it vanished or is traced already
 * (because the thread that made it is: an event reports it), or HOST_ERROR with
 * errno.  A leader that has ended cannot be seized, but an exec in another
 * thread puts that thread in its place: the leader then seen alive is another
 * thread, which is tried again.
 */
static pid_t
attach_thread(pid_t pid, pid_t tid)
{
	char state;
	int err;

	for (int tries = 0; tries < 3; tries++) {
		if (traced_here(tid))
			return 0;
		err = seize(tid);
		if (!err) {
			if (ptrace_request(PTRACE_INTERRUPT, tid, NULL, NULL) !=
			    HOST_GONE)
				return tid;
			/* An exec has just made it the leader. */
			ptrace_request(PTRACE_INTERRUPT, pid, NULL, NULL);
			return pid;
		}
		state = procfs_state(tid);
		/* A leader that left its threads behind is a zombie. */
		if ((err == ESRCH && tid != pid) || state == 'Z' ||
		    state == 'X')
			return 0;
	}
	errno = err;
	return HOST_ERROR;
}

/*
 * Look at the process's threads once.  Returns how many of them were newly
 * seized, or HOST_ERROR with errno.  After an exec the leader may be another
 * thread than before, which is not traced.
 */
static int
attach_threads(pid_t pid, pid_t **tids, size_t *n, size_t first)
{
	size_t nfound = 0;
	pid_t *found = NULL, tid;
	int more = 0;

	/* A thread that is overlooked would die of the first trap. */
	if (procfs_threads(pid, &found, &nfound))
		return HOST_ERROR;
	for (size_t i = 0; i < nfound; i++) {
		bool known = tid_known(*tids + first, *n - first, found[i]);

		if (known && (found[i] != pid || traced_here(pid)))
			continue;
		if (known)
			ptrace_early_remove(pid);
		tid = attach_thread(pid, found[i]);
		if (tid > 0) {
			if (!tid_known(*tids + first, *n - first, tid))
				*vec_push(*tids, *n) = tid;
			more++;
		} else if (tid < 0) {
			free(found);
			return HOST_ERROR;
		}
	}
	free(found);
	return more;
}

int
ptrace_attach(pid_t pid, pid_t **tids, size_t *n)
{
	size_t first = *n;
	int more, err;

	if (pid == getpid())
		return fail("process %d: pmon cannot monitor itself", (int)pid);
	if (traced_here(pid))
		return attach_refused(pid, EPERM);
	seize_ticks(true);
	/*
	 * Threads may start threads meanwhile.  Those of a traced thread are
	 * traced by its clone event; the others are found in the next round.
	 */
	do
		more = attach_threads(pid, tids, n, first);
	while (more > 0);
	err = errno;
	seize_ticks(false);
	if (more < 0)
		return attach_refused(pid, err);
	if (*n == first)
		return fail("process %d: has ended", (int)pid);
	files_unlimit();
	return HOST_OK;
}

int
ptrace_detach(pid_t tid, int signal)
{
	ptrace_regs_invalidate(tid);
	return ptrace_request(PTRACE_DETACH, tid, NULL, (void *)(long)signal);
}
