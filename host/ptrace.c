/*
 * The native host: Linux processes by ptrace(2), which with wait(2) is called
 * nowhere else.  Translates wait statuses to events and says what a process
 * looks like; keeps no list of tasks and decides nothing.
 */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/procfs.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	TRACE_OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC |
			PTRACE_O_TRACEEXIT,
};

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(struct regs),
	       "struct regs holds all registers");

/* A ptrace request on a stopped task: it works, or the task was killed. */
static int
request(int req, pid_t tid, void *addr, void *data)
{
	if (ptrace(req, tid, addr, data) != -1)
		return HOST_OK;
	if (errno == ESRCH)
		return HOST_GONE;
	return fail("process %d: ptrace request %d: %s", (int)tid, req,
		    strerror(errno));
}

/* ---- starting and attaching */

/*
 * In the child: wait until it is traced, then become the program.  What the
 * monitor set for itself in the meantime is not the program's: see launch.
 */
static _Noreturn void
launch_child(const char *path, char **argv, int go, int report)
{
	char c;
	int err;

	while (read(go, &c, 1) < 0 && errno == EINTR)
		;
	execv(path, argv);
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(127);
}

/* A handle on memory is a file descriptor: one for each process followed. */
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

static int
ptrace_launch(const char *path, char **argv, pid_t *tid)
{
	int go[2], report[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		return fail("cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return fail("cannot fork: %s", strerror(errno));
	if (!pid) {
		close(go[1]);
		launch_child(path, argv, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   TRACE_OPTIONS | PTRACE_O_EXITKILL)) {
		int err = errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(go[1]);
		close(report[0]);
		return fail("cannot trace a process started here: %s",
			    strerror(err));
	}
	files_unlimit();
	/* The child is blocked in read: this lets it go on to exec. */
	close(go[1]);
	launch_report = report[0];
	*tid = pid;
	return HOST_OK;
}

static int
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

	if (err == ESRCH || !procfs_state(pid))
		return fail("process %d: no such process", (int)pid);
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
		return fail("process %d: not permitted: kernel.yama.ptrace_scope"
			    " is %c; attaching needs CAP_SYS_PTRACE (root)",
			    (int)pid, scope);
	return fail("process %d: not permitted: it is another user's or "
		    "privileged; attaching needs CAP_SYS_PTRACE (root)",
		    (int)pid);
}

static bool
tid_known(const pid_t *tids, size_t n, pid_t tid)
{
	for (size_t i = 0; i < n; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/* Seize one thread; 1 if it is new, 0 if it vanished, or HOST_ERROR. */
static int
attach_thread(pid_t pid, pid_t tid)
{
	char state;

	if (!ptrace(PTRACE_SEIZE, tid, NULL, TRACE_OPTIONS)) {
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		return 1;
	}
	if (errno == ESRCH && tid != pid)
		return 0;
	state = procfs_state(tid);
	/* A leader that left its threads behind is a zombie. */
	if (!state && tid != pid)
		return 0;
	if (state == 'Z' || state == 'X')
		return 0;
	return HOST_ERROR;
}

static int
ptrace_attach(pid_t pid, pid_t **tids, size_t *n)
{
	size_t first = *n, nfound;
	pid_t *found;
	bool more = true;
	int err;

	if (pid == getpid())
		return fail("process %d: pmon cannot monitor itself",
			    (int)pid);
	/*
	 * Threads may start threads meanwhile; those of a traced one are
	 * traced by its clone event, the others are found in the next round.
	 */
	while (more) {
		more = false;
		found = NULL;
		nfound = 0;
		if (procfs_threads(pid, &found, &nfound) && *n == first)
			return attach_refused(pid, ESRCH);
		for (size_t i = 0; i < nfound; i++) {
			if (tid_known(*tids + first, *n - first, found[i]))
				continue;
			err = attach_thread(pid, found[i]);
			if (err == 1) {
				*vec_push(*tids, *n) = found[i];
				more = true;
			} else if (err < 0 && found[i] == pid) {
				err = errno;
				free(found);
				return attach_refused(pid, err);
			}
		}
		free(found);
	}
	if (*n == first)
		return fail("process %d: has ended", (int)pid);
	files_unlimit();
	return HOST_OK;
}

static int
ptrace_detach(pid_t tid, int signal)
{
	return request(PTRACE_DETACH, tid, NULL, (void *)(long)signal);
}

/* ---- events */

static int
event_message(pid_t tid)
{
	unsigned long value = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &value);
	return (int)value;
}

static void
event_of_ptrace(struct event *event, int code, int signal)
{
	static const enum event_kind kinds[] = {
		[PTRACE_EVENT_CLONE] = EVENT_CLONE,
		[PTRACE_EVENT_FORK] = EVENT_FORK,
		[PTRACE_EVENT_VFORK] = EVENT_VFORK,
		[PTRACE_EVENT_VFORK_DONE] = EVENT_VFORK_DONE,
		[PTRACE_EVENT_EXEC] = EVENT_EXEC,
		[PTRACE_EVENT_EXIT] = EVENT_EXITING,
	};

	if (code == PTRACE_EVENT_STOP) {
		event->kind = signal == SIGTRAP ? EVENT_PAUSED : EVENT_STOPPED;
		event->value = signal;
		return;
	}
	must((size_t)code < sizeof(kinds) / sizeof(kinds[0]));
	event->kind = kinds[code];
	event->value = event_message(event->tid);
}

static void
event_of_syscall(struct event *event)
{
	struct __ptrace_syscall_info info = { 0 };

	ptrace(PTRACE_GET_SYSCALL_INFO, event->tid, (void *)sizeof(info),
	       &info);
	event->kind = info.op == PTRACE_SYSCALL_INFO_ENTRY ?
		EVENT_SYSCALL_ENTRY : EVENT_SYSCALL_EXIT;
}

static void
event_of_status(struct event *event, int status)
{
	int signal;

	if (WIFEXITED(status)) {
		event->kind = EVENT_EXITED;
		event->value = WEXITSTATUS(status);
		return;
	}
	if (WIFSIGNALED(status)) {
		event->kind = EVENT_KILLED;
		event->value = WTERMSIG(status);
		return;
	}
	must(WIFSTOPPED(status));
	signal = WSTOPSIG(status);
	if (status >> 16)
		event_of_ptrace(event, status >> 16, signal);
	else if (signal == (SIGTRAP | 0x80))
		event_of_syscall(event);
	else
		*event = (struct event){
			signal == SIGTRAP ? EVENT_TRAP : EVENT_SIGNAL,
			event->tid, signal,
		};
}

static void
ptrace_wait(struct event *event)
{
	int status;

	*event = (struct event){ .kind = EVENT_WAKE };
	event->tid = waitpid(-1, &status, __WALL);
	if (event->tid > 0)
		event_of_status(event, status);
	else if (errno == ECHILD)
		event->kind = EVENT_DONE;
	else
		must(errno == EINTR);
}

static int
ptrace_resume(pid_t tid, enum resume how, int signal)
{
	static const int requests[] = {
		[RESUME_RUN] = PTRACE_CONT,
		[RESUME_STEP] = PTRACE_SINGLESTEP,
		[RESUME_SYSCALL] = PTRACE_SYSCALL,
		[RESUME_LISTEN] = PTRACE_LISTEN,
	};

	return request(requests[how], tid, NULL, (void *)(long)signal);
}

static int
ptrace_pause(pid_t tid)
{
	return request(PTRACE_INTERRUPT, tid, NULL, NULL);
}

static int
ptrace_kill(pid_t pid, int signal)
{
	return kill(pid, signal) ? HOST_GONE : HOST_OK;
}

/* ---- registers and signals */

static int
ptrace_regs_get(pid_t tid, struct regs *regs)
{
	return request(PTRACE_GETREGS, tid, NULL, regs);
}

static int
ptrace_regs_set(pid_t tid, const struct regs *regs)
{
	return request(PTRACE_SETREGS, tid, NULL, (void *)regs);
}

static int
ptrace_reg_get(pid_t tid, unsigned reg, uint64_t *value)
{
	errno = 0;
	*value = (uint64_t)ptrace(PTRACE_PEEKUSER, tid,
				  (void *)(reg * sizeof(uint64_t)), NULL);
	return errno ? HOST_GONE : HOST_OK;
}

static int
ptrace_reg_set(pid_t tid, unsigned reg, uint64_t value)
{
	return request(PTRACE_POKEUSER, tid,
		       (void *)(reg * sizeof(uint64_t)), (void *)value);
}

/*
 * A SIGTRAP by a trap instruction has the code SI_KERNEL, one by a single
 * step TRAP_TRACE, or TRAP_BRKPT when the step went over a system call, or
 * SIGTRAP when it went into a signal handler.
 */
static enum trap_cause
ptrace_trap_cause(pid_t tid)
{
	siginfo_t info = { 0 };

	if (request(PTRACE_GETSIGINFO, tid, NULL, &info))
		return TRAP_SENT;
	if (info.si_code == SI_KERNEL)
		return TRAP_INSN;
	if (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT ||
	    info.si_code == SIGTRAP)
		return TRAP_STEP;
	return TRAP_SENT;
}

static int
ptrace_fault_get(pid_t tid, int *code, uint64_t *va)
{
	siginfo_t info;
	int err = request(PTRACE_GETSIGINFO, tid, NULL, &info);

	if (err)
		return err;
	*code = info.si_code;
	*va = (uint64_t)(uintptr_t)info.si_addr;
	return HOST_OK;
}

static int
ptrace_fault_set(pid_t tid, uint64_t va)
{
	siginfo_t info;
	int err = request(PTRACE_GETSIGINFO, tid, NULL, &info);

	if (err)
		return err;
	info.si_addr = (void *)(uintptr_t)va;
	return request(PTRACE_SETSIGINFO, tid, NULL, &info);
}

static int
ptrace_mask_set(pid_t tid, uint64_t mask, uint64_t *old)
{
	void *size = (void *)sizeof(mask);
	int err = old ? request(PTRACE_GETSIGMASK, tid, size, old) : HOST_OK;

	return err ? err : request(PTRACE_SETSIGMASK, tid, size, &mask);
}

/* ---- memory */

static int
ptrace_mem_open(pid_t tid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? HOST_GONE : fd;
}

static void
ptrace_mem_close(int mem)
{
	if (mem >= 0)
		close(mem);
}

static int
ptrace_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	struct iovec local = { buf, n }, remote = { (void *)va, n };

	if (pread(mem, buf, n, (off_t)va) == (ssize_t)n)
		return HOST_OK;
	/* There may have been no file descriptor left for a handle. */
	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)n ?
		HOST_OK : HOST_GONE;
}

/*
 * Where the kernel was told not to let /proc/PID/mem override protection
 * (proc_mem.force_override), PTRACE_POKEDATA still may.
 */
static int
mem_poke(pid_t tid, uint64_t va, const uint8_t *buf, size_t n)
{
	uint64_t base, word;
	size_t i = 0;

	while (i < n) {
		base = (va + i) & ~(uint64_t)7;
		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)base, 0);
		if (errno)
			return HOST_GONE;
		for (; i < n && va + i < base + 8; i++)
			((uint8_t *)&word)[va + i - base] = buf[i];
		if (ptrace(PTRACE_POKEDATA, tid, (void *)base, (void *)word))
			return HOST_GONE;
	}
	return HOST_OK;
}

static int
ptrace_mem_write(int mem, pid_t tid, uint64_t va, const void *buf, size_t n)
{
	if (pwrite(mem, buf, n, (off_t)va) == (ssize_t)n)
		return HOST_OK;
	return mem_poke(tid, va, buf, n);
}

static int
ptrace_data_read(pid_t tid, uint64_t va, void *buf, size_t n)
{
	struct iovec local = { buf, n }, remote = { (void *)va, n };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)n ?
		HOST_OK : HOST_GONE;
}

static int
ptrace_data_write(pid_t tid, uint64_t va, const void *buf, size_t n)
{
	struct iovec local = { (void *)buf, n }, remote = { (void *)va, n };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) ==
		(ssize_t)n ? HOST_OK : HOST_GONE;
}

/* ---- processors */

static int
ptrace_affinity_get(pid_t tid, void *set, size_t size)
{
	return sched_getaffinity(tid, size, set) ? HOST_GONE : HOST_OK;
}

static int
ptrace_affinity_set(pid_t tid, const void *set, size_t size)
{
	return sched_setaffinity(tid, size, set) ? HOST_GONE : HOST_OK;
}

const struct host host_ptrace = {
	.name = "ptrace",
	.launch = ptrace_launch,
	.launch_error = ptrace_launch_error,
	.attach = ptrace_attach,
	.detach = ptrace_detach,
	.wait = ptrace_wait,
	.resume = ptrace_resume,
	.pause = ptrace_pause,
	.kill = ptrace_kill,
	.regs_get = ptrace_regs_get,
	.regs_set = ptrace_regs_set,
	.reg_get = ptrace_reg_get,
	.reg_set = ptrace_reg_set,
	.trap_cause = ptrace_trap_cause,
	.fault_get = ptrace_fault_get,
	.fault_set = ptrace_fault_set,
	.mask_set = ptrace_mask_set,
	.mem_open = ptrace_mem_open,
	.mem_close = ptrace_mem_close,
	.mem_read = ptrace_mem_read,
	.mem_write = ptrace_mem_write,
	.data_read = ptrace_data_read,
	.data_write = ptrace_data_write,
	.zombie = procfs_zombie,
	.parent = procfs_parent,
	.maps = procfs_maps,
	.auxv = procfs_auxv,
	.signals = procfs_signals,
	.confined = procfs_confined,
	.exe = procfs_exe,
	.mapped = procfs_mapped,
	.affinity_get = ptrace_affinity_get,
	.affinity_set = ptrace_affinity_set,
};
