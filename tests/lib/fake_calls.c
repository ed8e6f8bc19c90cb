/*
 * The system calls of the fake host's kernel: those by which pmon's own code
 * and the tests' programs make tasks, end them, and map memory.
 */
#include "tests/lib/fake_kernel.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/abi.h"
#include "util/fail.h"

enum { STACK_WORDS = 64 };	/* that a program finds at its start */

enum made { MADE, MADE_EVENT, MADE_WAITS, MADE_AWAY };

static uint64_t
arg(const struct fake_task *task, unsigned i)
{
	return task->regs.r[abi_x86_64.reg_arg[i]];
}

static enum made
call_clone(struct fake_task *task, uint64_t flags, uint64_t stack,
	   int64_t *result)
{
	bool thread = flags & CLONE_THREAD, shares = flags & CLONE_VM;
	bool vfork = flags & CLONE_VFORK;
	struct fake_process *of = task->process;
	pid_t tid = thread ? fake.next_tid++ : fake_process_id();
	struct fake_task *child;

	if (!thread && shares) {
		of = fake_process_new(tid, of->pid, of->mm);
		of->mm->refs++;
		of->mm->users++;
	} else if (!thread) {
		of = fake_process_new(tid, of->pid, fake_mm_copy(of->mm));
	}
	child = fake_task_new(tid, of);
	child->regs = task->regs;
	child->regs.r[X86_RAX] = 0;
	if (stack)
		child->regs.r[X86_RSP] = stack;
	child->mask = task->mask;
	child->traced = task->traced;
	child->phase = FAKE_EXIT;
	child->interrupt = child->look = true;
	child->turn = ++fake.turn;
	if (vfork)
		task->vfork = child;
	*result = tid;
	task->regs.r[X86_RAX] = (uint64_t)tid;
	fake_stop(task,
		  vfork			    ? EVENT_VFORK :
		  (flags & 0xff) == SIGCHLD ? EVENT_FORK :
					      EVENT_CLONE,
		  tid);
	return MADE_EVENT;
}

/* Do the other threads of the task's process still exist? */
bool
fake_others_live(const struct fake_task *task)
{
	for (size_t i = 0; i < fake.ntasks; i++) {
		const struct fake_task *other = fake.tasks[i];

		if (other == task || other->process != task->process ||
		    other->state == FAKE_GONE)
			continue;
		if (other->tid != task->process->pid ||
		    other->state != FAKE_ENDED)
			return true;
	}
	return false;
}

/* Begin the program anew, as the leader. */
void
fake_exec(struct fake_task *task)
{
	struct fake_process *process = task->process;
	pid_t old = task->tid;
	struct fake_task *leader = fake_find(process->pid);

	if (leader && leader != task) {
		task->taken = leader->let_go;
		fake_gone(leader);
	}
	task->tid = process->pid;
	task->execs = false;
	fake_vfork_end(task);
	fake_mm_leave(process);
	process->mm = fake_mm_load(fake.program);
	memset(&task->regs, 0, sizeof(task->regs));
	task->regs.r[X86_RIP] = fake.entry;
	task->regs.r[X86_RSP] = FAKE_STACK_TOP - STACK_WORDS * 8;
	task->regs.r[X86_ORIG_RAX] = SYS_execve;
	/* Its number of arguments tells the program that it is executed. */
	must(fake_mm_move(process->mm, task->regs.r[X86_RSP],
			  &(uint64_t){ old ? 2 : 1 }, 8, true, true));
	task->phase = FAKE_EXIT;
	fake_stop(task, EVENT_EXEC, old ? old : task->tid);
}

static enum made
call_exec(struct fake_task *task)
{
	if (!task->execs) {
		task->execs = true;
		for (size_t i = 0; i < fake.ntasks; i++)
			if (fake.tasks[i] != task &&
			    fake.tasks[i]->process == task->process)
				fake_die(fake.tasks[i]);
	}
	if (fake_others_live(task))
		return MADE_WAITS;
	fake_exec(task);
	return MADE_AWAY;
}

/* Wait for any child: reap one that has ended. */
static enum made
call_wait(struct fake_task *task, int64_t *result)
{
	bool any = false;

	for (size_t i = 0; i < fake.nprocesses; i++) {
		struct fake_process *child = fake.processes[i];

		if (child->parent != task->process->pid || child->reaped)
			continue;
		any = true;
		if (child->ntasks)
			continue;
		child->reaped = true;
		*result = child->pid;
		return MADE;
	}
	*result = -10;	/* ECHILD */
	return any ? MADE_WAITS : MADE;
}

static int64_t
call_memory(struct fake_task *task, int nr)
{
	uint64_t args[6];

	for (unsigned i = 0; i < 6; i++)
		args[i] = arg(task, i);
	switch (nr) {
	case SYS_mmap:
		return fake_mm_map(task->process->mm, args);
	case SYS_munmap:
		return fake_mm_unmap(task->process->mm, args[0], args[1]);
	case SYS_memfd_create:
		return memfd_create("", (unsigned)args[1]);
	case SYS_ftruncate:
		return ftruncate((int)args[0], (off_t)args[1]);
	case SYS_madvise:
	case SYS_mprotect:
		return 0;
	case SYS_close:
		return close((int)args[0]);
	default:
		return -FAKE_NO_CALL;
	}
}

/* Make the call that the registers tell of. */
static enum made
call_make(struct fake_task *task, int64_t *result)
{
	int64_t nr = (int64_t)task->regs.r[X86_ORIG_RAX];

	*result = 0;
	if (nr >= FAKE_MARK && nr < FAKE_MARK + FAKE_MARKS) {
		fake.result.marks[nr - FAKE_MARK] += task->traced;
		return MADE;
	}
	switch (nr) {
	case SYS_clone:
		return call_clone(task, arg(task, 0), arg(task, 1), result);
	case SYS_fork:
		return call_clone(task, SIGCHLD, 0, result);
	case SYS_vfork:
		return call_clone(task, CLONE_VM | CLONE_VFORK | SIGCHLD, 0,
				  result);
	case SYS_execve:
		return call_exec(task);
	case SYS_wait4:
		return call_wait(task, result);
	case SYS_exit:
		if (!task->process->ends && task->process->ntasks == 1)
			task->process->status = (int)arg(task, 0) & 0xff;
		task->state = FAKE_DYING;
		return MADE_AWAY;
	case SYS_exit_group:
		fake_process_end(task->process, (int)arg(task, 0) & 0xff);
		return MADE_AWAY;
	case SYS_rt_sigaction:
		return MADE;
	case SYS_sched_yield:
		return MADE;
	case FAKE_REST:
		return MADE_WAITS;
	default:
		*result = call_memory(task, (int)nr);
		return MADE;
	}
}

bool
fake_disturbed(const struct fake_task *task)
{
	return task->interrupt || (task->process->stop && task->joins) ||
	       task->pending & ~task->mask;
}

/* Whether the task has made its call, or is elsewhere. */
bool
fake_call(struct fake_task *task)
{
	int64_t result = 0;
	enum made made;

	/* The tracer may have the kernel skip the call. */
	if ((int64_t)task->regs.r[X86_ORIG_RAX] == -1) {
		task->phase = FAKE_EXIT;
		return true;
	}
	made = call_make(task, &result);
	if (made == MADE_WAITS && !task->execs && fake_disturbed(task)) {
		made = MADE;
		result = -FAKE_RESTART;
	}
	if (made == MADE_WAITS || made == MADE_AWAY)
		return made == MADE_AWAY;
	task->regs.r[X86_RAX] = (uint64_t)result;
	task->phase = made == MADE_EVENT ? FAKE_MADE : FAKE_EXIT;
	return true;
}
