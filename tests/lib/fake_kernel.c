/*
 * The fake host's kernel: tasks and processes, their system calls, signals and
 * ends, and the stops that a tracer sees, in the order in which Linux has them
 * (ptrace(2); kernel/signal.c, get_signal).  Never chooses which task goes on.
 */
#include "tests/lib/fake_kernel.h"

#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	INSNS_MAX = 100000,	/* between two events */
};

static const uint64_t TRAP_BIT = 1 << (SIGTRAP - 1);
/* Of other signals a process dies. */
static const uint64_t IGNORED = 1 << (SIGTERM - 1) | 1 << (SIGCHLD - 1) |
				1 << (SIGCONT - 1) | 1 << (SIGURG - 1) |
				1 << (SIGWINCH - 1);

struct fake_task *
fake_find(pid_t tid)
{
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->tid == tid &&
		    fake.tasks[i]->state != FAKE_GONE)
			return fake.tasks[i];
	return NULL;
}

static struct fake_process *
process_find(pid_t pid)
{
	for (size_t i = 0; i < fake.nprocesses; i++)
		if (fake.processes[i]->pid == pid)
			return fake.processes[i];
	return NULL;
}

struct fake_task *
fake_task_new(pid_t tid, struct fake_process *process)
{
	struct fake_task *task = mem_alloc(sizeof(*task));

	*task = (struct fake_task){
		.tid = tid,
		.process = process,
		.traced = true,
	};
	process->ntasks++;
	*vec_push(fake.tasks, fake.ntasks) = task;
	return task;
}

struct fake_process *
fake_process_new(pid_t pid, pid_t parent, struct fake_mm *mm)
{
	struct fake_process *process = mem_alloc(sizeof(*process));

	*process = (struct fake_process){
		.pid = pid,
		.parent = parent,
		.mm = mm,
	};
	*vec_push(fake.processes, fake.nprocesses) = process;
	return process;
}

/* ---- stops and ends */

bool
fake_stop(struct fake_task *task, enum event_kind kind, int value)
{
	if (!task->traced)
		return false;
	task->state = FAKE_STOPPED;
	task->reported = false;
	task->event = (struct event){ kind, task->tid, value };
	/* Any stop is the one that an interrupt asks for. */
	task->interrupt = false;
	task->look = true;
	return true;
}

void
fake_mm_leave(struct fake_process *process)
{
	if (!process->mm)
		return;
	process->mm->users--;
	fake_mm_drop(process->mm);
	process->mm = NULL;
}

void
fake_gone(struct fake_task *task)
{
	task->state = FAKE_GONE;
	task->process->ntasks--;
}

void
fake_vfork_end(const struct fake_task *child)
{
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->vfork == child)
			fake.tasks[i]->vfork = NULL;
}

void
fake_finish(struct fake_task *task)
{
	struct fake_process *process = task->process;

	task->state = FAKE_ENDED;
	task->reported = false;
	fake_vfork_end(task);
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->process == process &&
		    fake.tasks[i]->state < FAKE_ENDED)
			return;
	fake_mm_leave(process);
}

void
fake_die(struct fake_task *task)
{
	switch (task->state) {
	case FAKE_RUNS:
	case FAKE_STOPPED:
	case FAKE_LISTENS:
		task->state = FAKE_DYING;
		break;
	case FAKE_LAST:
		fake_finish(task);
		break;
	default:
		break;
	}
}

void
fake_process_end(struct fake_process *process, int status)
{
	if (process->ends && status >= 0)
		return;
	process->ends = true;
	process->status = status;
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->process == process)
			fake_die(fake.tasks[i]);
}

static void
task_last(struct fake_task *task)
{
	if (!task->traced) {
		fake_finish(task);
		return;
	}
	fake_stop(task, EVENT_EXITING, task->process->status);
	task->state = FAKE_LAST;
}

/* ---- signals */

static void
group_stop(struct fake_process *process, int signal)
{
	process->stop = signal;
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->process == process) {
			fake.tasks[i]->joins = true;
			fake.tasks[i]->look = true;
		}
}

/* Take a signal that is pending from all tasks: another makes it void. */
static void
signal_void(const struct fake_process *process, int signal)
{
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->process == process)
			fake.tasks[i]->pending &= ~(UINT64_C(1)
						    << (signal - 1));
}

static void
group_continue(struct fake_process *process)
{
	process->stop = 0;
	signal_void(process, SIGSTOP);
	for (size_t i = 0; i < fake.ntasks; i++) {
		struct fake_task *task = fake.tasks[i];

		if (task->process != process)
			continue;
		task->joins = task->stops = false;
		/* What listens tells of the end of the group stop. */
		if (task->state == FAKE_LISTENS)
			task->interrupt = task->look = true;
	}
}

/* The task takes a signal that nobody holds back. */
static void
signal_act(struct fake_task *task, int signal)
{
	if (!signal || IGNORED >> (signal - 1) & 1)
		return;
	if (signal != SIGSTOP)
		fake_process_end(task->process, -signal);
	else if (task->stops)
		group_stop(task->process, signal);
}

void
fake_signal(struct fake_process *process, int signal)
{
	if (signal == SIGKILL) {
		fake_process_end(process, -SIGKILL);
		return;
	}
	if (signal == SIGCONT)
		group_continue(process);
	if (signal == SIGSTOP)
		signal_void(process, SIGCONT);
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->process == process &&
		    fake.tasks[i]->state < FAKE_DYING) {
			fake.tasks[i]->pending |= UINT64_C(1) << (signal - 1);
			fake.tasks[i]->look = true;
			return;
		}
}

static void
trap_pend(struct fake_task *task, enum trap_cause cause)
{
	task->pending |= TRAP_BIT;
	task->mask &= ~TRAP_BIT;
	task->trap_cause = cause;
	task->look = true;
}

/* A call that was interrupted begins again, if the tracer left it so. */
static void
call_restart(struct fake_task *task)
{
	uint64_t *r = task->regs.r;

	if ((int64_t)r[X86_ORIG_RAX] < 0 ||
	    (int64_t)r[X86_RAX] != -FAKE_RESTART)
		return;
	r[X86_RAX] = r[X86_ORIG_RAX];
	r[X86_RIP] -= 2;
	r[X86_ORIG_RAX] = UINT64_MAX;
}

/*
 * On its way back to the program the task stops for what it is to stop for, or
 * goes on: then false.
 */
static bool
task_looks(struct fake_task *task)
{
	uint64_t open = task->pending & ~task->mask;
	int signal = 0;

	if (task->process->stop && task->joins) {
		task->joins = false;
		if (fake_stop(task, EVENT_STOPPED, task->process->stop))
			return true;
	}
	if (task->interrupt) {
		task->interrupt = false;
		if (fake_stop(task,
			      task->process->stop ? EVENT_STOPPED :
						    EVENT_PAUSED,
			      task->process->stop))
			return true;
	}
	while (signal < 64 && !(open >> signal & 1))
		signal++;
	if (signal == 64) {
		call_restart(task);
		task->look = false;
		return false;
	}
	task->pending &= ~(UINT64_C(1) << signal++);
	task->stops = signal == SIGSTOP;
	memset(task->info, 0, sizeof(task->info));
	task->info[0] = signal == SIGTRAP ? task->trap_cause : TRAP_SENT;
	if (!fake_stop(task, signal == SIGTRAP ? EVENT_TRAP : EVENT_SIGNAL,
		       signal))
		signal_act(task, signal);
	return true;
}

void
fake_go(struct fake_task *task, int signal)
{
	bool taken = task->event.kind == EVENT_SIGNAL ||
		     task->event.kind == EVENT_TRAP;

	task->state = FAKE_RUNS;
	task->look = true;
	if (taken)
		signal_act(task, signal);
}

/* ---- going on */

static void
task_insn(struct fake_task *task)
{
	uint64_t *r = task->regs.r;

	r[X86_ORIG_RAX] = UINT64_MAX;
	switch (fake_insn(task)) {
	case FAKE_INSN_CALL:
		r[X86_ORIG_RAX] = r[X86_RAX];
		r[X86_RAX] = (uint64_t)-FAKE_NO_CALL;
		r[X86_RCX] = r[X86_RIP];
		r[X86_R11] = r[X86_EFLAGS];
		task->phase = FAKE_CALL;
		task->look = true;
		if (task->calls)
			fake_stop(task, EVENT_SYSCALL_ENTRY, 0);
		return;
	case FAKE_INSN_TRAP:
		trap_pend(task, TRAP_INSN);
		return;
	case FAKE_INSN_BAD:
		fake_wrong(task->tid, "the program cannot go on");
		fake_process_end(task->process, -SIGILL);
		return;
	case FAKE_INSN_DONE:
		if (task->step)
			trap_pend(task, TRAP_STEP);
		return;
	}
}

/* Leave a system call. */
static void
task_returns(struct fake_task *task)
{
	if (task->phase == FAKE_MADE) {
		/* A maker by vfork waits, and says when it waits no more. */
		task->phase = FAKE_EXIT;
		if (task->event.kind == EVENT_VFORK &&
		    fake_stop(task, EVENT_VFORK_DONE, task->event.value))
			return;
	}
	task->phase = FAKE_USER;
	task->look = true;
	if (task->calls)
		fake_stop(task, EVENT_SYSCALL_EXIT, 0);
	if (task->step)
		trap_pend(task, TRAP_STEP);
}

void
fake_run(struct fake_task *task, unsigned n)
{
	while (n-- && task->state == FAKE_RUNS && task->phase == FAKE_USER &&
	       !task->look)
		task_insn(task);
}

void
fake_advance(struct fake_task *task)
{
	task->turn = ++fake.turn;
	if (task->state == FAKE_DYING) {
		task_last(task);
		return;
	}
	if (task->state == FAKE_LISTENS)
		task->state = FAKE_RUNS;
	for (unsigned n = 0; task->state == FAKE_RUNS; n++) {
		if (n == INSNS_MAX) {
			fake_wrong(task->tid, "the program runs for ever");
			fake_process_end(task->process, -SIGILL);
			return;
		}
		if (task->vfork)
			return;
		if (task->phase == FAKE_CALL) {
			if (!fake_call(task))
				return;
			/* Another task's turn. */
			if (task->regs.r[X86_ORIG_RAX] == SYS_sched_yield)
				return;
		} else if (task->phase != FAKE_USER) {
			task_returns(task);
		} else if (!task->look || !task_looks(task)) {
			task_insn(task);
		}
	}
}

bool
fake_ready(const struct fake_task *task)
{
	struct fake_task copy = *task;
	int64_t nr = (int64_t)task->regs.r[X86_ORIG_RAX];

	if (task->state == FAKE_DYING)
		return true;
	if (task->state == FAKE_LISTENS)
		return task->interrupt || (task->process->stop && task->joins);
	if (task->state != FAKE_RUNS || task->vfork)
		return false;
	if (task->phase != FAKE_CALL)
		return true;
	if (task->execs)
		return !fake_others_live(task);
	if (nr == FAKE_REST)
		return fake_disturbed(task);
	if (nr == SYS_wait4) {
		for (size_t i = 0; i < fake.nprocesses; i++)
			if (fake.processes[i]->parent == task->process->pid &&
			    !fake.processes[i]->reaped &&
			    fake.processes[i]->ntasks)
				copy.vfork = &copy;
			else if (fake.processes[i]->parent ==
					 task->process->pid &&
				 !fake.processes[i]->reaped)
				return true;
		return !copy.vfork || fake_disturbed(task);
	}
	return true;
}

struct fake_task *
fake_start(const char *path)
{
	struct fake_process *process = fake_process_new(fake.root, 1, NULL);
	struct fake_task *task = fake_task_new(fake.root, process);

	fake.program = mem_strdup(path);
	fake_exec(task);
	task->event.value = task->tid;
	must(fake_mm_move(process->mm, task->regs.r[X86_RSP], &(uint64_t){ 1 },
			  8, true, true));
	return task;
}

/* ---- deeds */

static void
all_die(enum fake_deed deed)
{
	struct fake_process *root = process_find(fake.root);

	fake_process_end(root, -SIGKILL);
	if (deed == FAKE_KILL)
		return;
	for (size_t i = 0; i < fake.ntasks; i++)
		if (fake.tasks[i]->process == root &&
		    fake.tasks[i]->state == FAKE_DYING)
			task_last(fake.tasks[i]);
}

void
fake_do(enum fake_deed deed)
{
	struct fake_process *root = process_find(fake.root);

	switch (deed) {
	case FAKE_NOTHING:
		break;
	case FAKE_KILL:
	case FAKE_KILL_AT_ONCE:
	case FAKE_KILL_PAST:
		all_die(deed);
		break;
	case FAKE_KILL_CHILD:
		fake_signal(fake.processes[fake.nprocesses - 1], SIGKILL);
		break;
	case FAKE_STOP:
		fake_signal(root, SIGSTOP);
		break;
	case FAKE_CONTINUE:
		fake_signal(root, SIGCONT);
		break;
	case FAKE_PMON_STOPS:
		raise(SIGTERM);
		break;
	case FAKE_ADVANCE:
		for (size_t i = 0, n = fake.ntasks; i < n; i++)
			if (fake_ready(fake.tasks[i]))
				fake_advance(fake.tasks[i]);
		break;
	}
}
