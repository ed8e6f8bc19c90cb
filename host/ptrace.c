/*
 * The native host: Linux processes by ptrace(2).  Only host/ptrace*.c call
 * ptrace and wait(2).  This file turns wait statuses into events and lets tasks
 * go on; it keeps no list of tasks and decides nothing.
 */
#include "host/ptrace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/procfs.h"
#include "util/fail.h"
#include "util/mem.h"

enum { TRIES = 3 };

/*
 * Tasks that were let go to their ends.  Another thread's exec may take the id
 * of one at any moment: until that is taken up, requests mean the task that
 * ends, and must not reach the other.
 */
static pid_t *ended;
static size_t nended;

bool
ptrace_ended(pid_t tid)
{
	for (size_t i = 0; i < nended; i++)
		if (ended[i] == tid)
			return true;
	return false;
}

static void
ended_remove(pid_t tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < nended; i++)
		if (ended[i] != tid)
			ended[kept++] = ended[i];
	nended = kept;
}

/*
 * Can the task be asked for this, as far as the kernel shows?  One that is
 * stopped has the state t, and loses it at once if it is killed.  A state that
 * cannot be read says nothing.
 */
static bool
can_answer(int req, pid_t tid)
{
	char state = procfs_state(tid);

	return state == 't' || !state ||
	       (req == PTRACE_INTERRUPT && !strchr("ZX", state));
}

/*
 * Make a request, again if it fails though the task can answer it.  A request
 * fails if its task was killed, and is then no longer needed.
 */
static int
request_made(int req, pid_t tid, void *addr, void *data, uint64_t *value)
{
	int err = 0;

	for (int i = 0; i < TRIES; i++) {
		errno = 0;
		*value = (uint64_t)ptrace(req, tid, addr, data);
		err = errno;
		if (!err || !can_answer(req, tid))
			break;
	}
	return err;
}

static int
request_failed(int req, pid_t tid, int err)
{
	ptrace_regs_invalidate(tid);
	if (err == ESRCH)
		return HOST_GONE;
	return fail("process %d: ptrace request %d: %s", (int)tid, req,
		    strerror(err));
}

int
ptrace_request(int req, pid_t tid, void *addr, void *data)
{
	uint64_t value;
	int err = ptrace_ended(tid) ?
			  ESRCH :
			  request_made(req, tid, addr, data, &value);

	return err ? request_failed(req, tid, err) : HOST_OK;
}

int
ptrace_peek(int req, pid_t tid, uint64_t at, uint64_t *word)
{
	if (!ptrace_ended(tid) &&
	    !request_made(req, tid, (void *)at, NULL, word))
		return HOST_OK;
	ptrace_regs_invalidate(tid);
	return HOST_GONE;
}

static int
event_message(pid_t tid)
{
	unsigned long value = 0;
	uint64_t done;

	request_made(PTRACE_GETEVENTMSG, tid, NULL, &value, &done);
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

	ptrace_request(PTRACE_GET_SYSCALL_INFO, event->tid,
		       (void *)sizeof(info), &info);
	event->kind = info.op == PTRACE_SYSCALL_INFO_ENTRY ?
			      EVENT_SYSCALL_ENTRY :
			      EVENT_SYSCALL_EXIT;
}

static void
event_of_status(struct event *event, int status)
{
	int signal;

	ptrace_regs_invalidate(event->tid);
	procfs_ran();
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC)
		procfs_renewed();
	if (!WIFSTOPPED(status))
		ended_remove(event->tid);
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
			event->tid,
			signal,
		};
}

/* Events taken before anyone waited for them. */
static struct event *early;
static size_t nearly, early_head;

void
ptrace_early_take(void)
{
	struct event event = { 0 };
	int status;

	while ((event.tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		event_of_status(&event, status);
		if (event.kind == EVENT_EXITING)
			ptrace_request(PTRACE_CONT, event.tid, NULL, NULL);
		else
			*vec_push(early, nearly) = event;
	}
}

void
ptrace_early_remove(pid_t tid)
{
	size_t kept = early_head;

	for (size_t i = early_head; i < nearly; i++)
		if (early[i].tid != tid)
			early[kept++] = early[i];
	nearly = kept;
}

static void
ptrace_wait(struct event *event)
{
	int status;

	if (early_head < nearly) {
		*event = early[early_head++];
		return;
	}
	*event = (struct event){ .kind = EVENT_WAKE };
	event->tid = waitpid(-1, &status, __WALL);
	if (event->tid > 0)
		event_of_status(event, status);
	else if (errno == ECHILD)
		event->kind = EVENT_DONE;
	else
		must(errno == EINTR);
}

/*
 * Is the task at its last stop, or on its way there?  A task that is killed
 * while stopped for something else may have reached its last stop by the time
 * that a request meant for the other stop is made.  The kernel has no request for
 * one stop only: if the task gets there between this look and the request, it runs
 * past its last stop unseen.
 */
static bool
at_end(pid_t tid)
{
	siginfo_t info = { 0 };

	if (ptrace_request(PTRACE_GETSIGINFO, tid, NULL, &info) == HOST_GONE)
		return true;
	return info.si_code == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

static int
ptrace_resume(pid_t tid, enum resume how, int signal)
{
	static const int requests[] = {
		[RESUME_RUN] = PTRACE_CONT,
		[RESUME_STEP] = PTRACE_SINGLESTEP,
		[RESUME_SYSCALL] = PTRACE_SYSCALL,
		[RESUME_LISTEN] = PTRACE_LISTEN,
		[RESUME_END] = PTRACE_CONT,
	};

	int err = 0;

	ptrace_regs_invalidate(tid);
	procfs_ran();
	for (int i = 0; i < TRIES; i++) {
		if (how != RESUME_END && at_end(tid))
			return HOST_GONE;
		if (!ptrace(requests[how], tid, NULL, (void *)(long)signal)) {
			if (how == RESUME_END)
				*vec_push(ended, nended) = tid;
			return HOST_OK;
		}
		err = errno;
		if (!can_answer(requests[how], tid))
			break;
	}
	return request_failed(requests[how], tid, err);
}

static int
ptrace_pause(pid_t tid)
{
	return ptrace_request(PTRACE_INTERRUPT, tid, NULL, NULL);
}

static int
ptrace_kill(pid_t pid, int signal)
{
	return kill(pid, signal) ? HOST_GONE : HOST_OK;
}

static int
ptrace_send(pid_t tid, int signal)
{
	return ptrace_ended(tid) || syscall(SYS_tkill, tid, signal) ?
		       HOST_GONE :
		       HOST_OK;
}

static bool
ptrace_changed(pid_t tid)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, tid, &info,
		       WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) &&
	       info.si_pid;
}

static const struct host_native ptrace_native = {
	.launch_error = ptrace_launch_error,
	.attach = ptrace_attach,
	.send = ptrace_send,
	.fault_set = ptrace_fault_set,
	.data_gather = ptrace_data_gather,
	.mem_get = ptrace_mem_get,
	.mem_put = ptrace_mem_put,
	.rseq_get = ptrace_rseq_get,
	.dispatch_get = ptrace_dispatch_get,
	.dispatch_set = ptrace_dispatch_set,
	.siginfo_get = ptrace_siginfo_get,
	.siginfo_set = ptrace_siginfo_set,
	.mask_get = ptrace_mask_get,
	.changed = ptrace_changed,
	.renewed = ended_remove,
	.parent = procfs_parent,
	.children = procfs_children,
	.actions = procfs_actions,
	.room = procfs_room,
	.file_max = procfs_file_max,
	.confined = procfs_confined,
	.holds = procfs_holds,
	.file_kind = procfs_file_kind,
	.cpu_time = ptrace_cpu_time,
	.stop_costs = ptrace_stop_costs,
};

const struct host host_ptrace = {
	.name = "ptrace",
	.native = &ptrace_native,
	.launch = ptrace_launch,
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
	.mask_set = ptrace_mask_set,
	.mem_open = ptrace_mem_open,
	.mem_close = ptrace_mem_close,
	.mem_read = ptrace_mem_read,
	.mem_write = ptrace_mem_write,
	.data_read = ptrace_data_read,
	.data_write = ptrace_data_write,
	.zombie = procfs_zombie,
	.maps = procfs_maps,
	.auxv = procfs_auxv,
	.signals = procfs_signals,
	.exe = procfs_exe,
	.mapped = procfs_mapped,
	.affinity_get = ptrace_affinity_get,
	.affinity_set = ptrace_affinity_set,
};
