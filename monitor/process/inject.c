/*
 * Makes system calls in the program's name: to map and unmap memory, and to
 * restore what a trap has done to SIGTRAP.  A task runs one system call
 * instruction, which stands for that moment over the program's start code; no
 * thread executes that code any more (or, at an exec, yet).  Never leaves a
 * change in registers, signal mask or text.
 */
#include "monitor/process/inject.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

#include "monitor/process/detour.h"
#include "monitor/process/events.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/fail.h"

/* Exchange n bytes of text at va with those in `bytes`. */
static int
spot_swap(struct run *run, struct task *task, uint64_t va, uint8_t *bytes,
	  size_t n)
{
	int mem = task->process->space->mem;
	uint8_t old[8];
	int err;

	must(n <= sizeof(old));
	err = run->host->mem_read(mem, task->tid, va, old, n);
	if (!err)
		err = run->host->mem_write(mem, task->tid, va, bytes, n);
	if (!err)
		memcpy(bytes, old, n);
	return err;
}

/* How and where an injected call is made. */
struct call {
	bool quiet;		/* without a trap */
	int signal;		/* given to the task with all signals blocked,
				   or 0 */
	uint64_t spot;		/* va of the instruction */
};

/* Has the task made the call, and may not have come to the trap behind it? */
static bool
call_over(struct run *run, const struct task *task, const struct call *call)
{
	const struct arch *arch = run->arch;

	return task_pc(run, task) - (call->spot + arch->syscall_len) <=
	       arch->trap_pc;
}

/* Does the event tell that the call has been made? */
static bool
call_done(struct run *run, const struct task *task, const struct call *call,
	  const struct event *event)
{
	if (call->quiet)
		return event->kind == EVENT_SYSCALL_EXIT;
	return event->kind == EVENT_TRAP &&
	       run->host->trap_cause(task->tid) == TRAP_INSN;
}

/*
 * Let the task run over the system call: to the trap behind it, or quietly to
 * the call's exit (a trap would change an ignored SIGTRAP).  Signals are
 * blocked, so a signal at the spot means that the spot cannot be executed.  A
 * signal behind the call was a pending fault, which the kernel delivers though
 * it is blocked; its instruction will fault again.  Other stops (a group stop,
 * a pause) are passed over.  A SIGTRAP that is sent meanwhile makes the call
 * quiet.  Behind a quiet call the task is made to stop for a signal, as a trap
 * would stop it: a signal given at a call's exit would tell nothing, and from
 * there the kernel would not restart an older call.
 */
static int
spot_run(struct run *run, struct task *task, struct call *call)
{
	struct detour detour = { .signal = call->signal };
	struct event event = { 0 };
	uint64_t pc;
	int err;

	do {
		err = detour_go(run, task, call->quiet ? RESUME_SYSCALL :
							 RESUME_RUN,
				&detour, &event);
		if (err)
			return err;
		/* A SIGTRAP was sent before the trap, or came in its place. */
		if (detour.blocked && !call->quiet) {
			if (call_over(run, task, call))
				break;
			call->quiet = true;
		}
		if (event.kind == EVENT_SIGNAL && !detour.signal &&
		    !run->host->reg_get(task->tid, run->arch->reg_pc, &pc) &&
		    pc == call->spot)
			err = HOST_ERROR;
	} while (!err && !call_done(run, task, call, &event));
	if (!err && call->quiet)
		err = detour_halt(run, task, &detour);
	stop_is(run, task, STOP_CALLED);
	if (detour.stopped)
		task_interrupt(run, task, STOP_GROUP);
	return err;
}

static void
call_set(const struct run *run, struct regs *regs, int nr,
	 const uint64_t args[6], uint64_t spot)
{
	const struct abi *abi = run->abi;

	regs->r[abi->reg_nr] = nr;
	for (size_t i = 0; i < 6; i++)
		regs->r[abi->reg_arg[i]] = args[i];
	/* Otherwise the kernel would restart an older call. */
	if (abi->reg_orig != REG_NONE)
		regs->r[abi->reg_orig] = -1;
	regs->r[run->arch->reg_pc] = spot;
}

/* Let the task run to the end of the system call that it is in. */
static int
call_finish(struct run *run, struct task *task, struct event *event)
{
	struct event end;

	if (task_resume(run, task, RESUME_SYSCALL, 0))
		return HOST_GONE;
	run_wait_task(run, task, &end);
	if (end.kind != EVENT_SYSCALL_EXIT) {
		run_requeue(run, &end);
		return HOST_GONE;
	}
	stop_is(run, task, STOP_STOPPING);
	*event = end;
	return HOST_OK;
}

/*
 * Skip the system call that the task is about to make, and take the task back
 * to before it, so that the call is made later.
 */
static int
call_undo(struct run *run, struct task *task, struct event *event)
{
	const struct abi *abi = run->abi;
	struct regs regs, none;

	if (run->host->regs_get(task->tid, &regs))
		return HOST_GONE;
	none = regs;
	none.r[abi->reg_orig] = -1;
	if (run->host->regs_set(task->tid, &none) ||
	    call_finish(run, task, event))
		return HOST_GONE;
	regs.r[abi->reg_nr] = regs.r[abi->reg_orig];
	regs.r[abi->reg_orig] = -1;
	regs.r[run->arch->reg_pc] -= run->arch->syscall_len;
	event->kind = EVENT_PAUSED;
	return run->host->regs_set(task->tid, &regs) ? HOST_GONE : HOST_OK;
}

int
inject_prepare(struct run *run, struct task *task, struct event *event)
{
	must(!task->vforking);
	switch (event->kind) {
	case EVENT_SYSCALL_ENTRY:
		return call_undo(run, task, event);
	case EVENT_CLONE:
	case EVENT_FORK:
	case EVENT_VFORK:
	case EVENT_VFORK_DONE:
	case EVENT_EXEC:
		return call_finish(run, task, event);
	default:
		return HOST_OK;
	}
}

/* A task's state before an injected call. */
struct saved {
	struct regs regs;
	uint8_t info[SIGINFO_MAX];
	uint64_t mask;
};

/*
 * Save the task's state and block its signals.  SIGTRAP stays open for the
 * trap: a trap with SIGTRAP blocked would reset the program's handler.
 */
static int
task_save(const struct host *host, const struct task *task, bool quiet,
	  struct saved *saved)
{
	uint64_t blocked = quiet ? ~UINT64_C(0) :
				   ~(UINT64_C(1) << (SIGTRAP - 1));

	if (host->regs_get(task->tid, &saved->regs))
		return HOST_GONE;
	if (!host->native)
		return HOST_OK;
	if (host->native->siginfo_get(task->tid, saved->info) ||
	    host->mask_set(task->tid, blocked, &saved->mask))
		return HOST_GONE;
	return HOST_OK;
}

/* Restore as much as possible, even if something cannot be restored. */
static int
task_restore(const struct host *host, const struct task *task,
	     const struct saved *saved)
{
	int err = host->regs_set(task->tid, &saved->regs);

	if (host->native && host->native->siginfo_set(task->tid, saved->info))
		err = HOST_GONE;
	if (host->native && host->mask_set(task->tid, saved->mask, NULL))
		err = HOST_GONE;
	return err ? HOST_GONE : HOST_OK;
}

/* Have the task make the call of these registers, which get the result. */
static int
call_run(struct run *run, struct task *task, struct call *call,
	 struct regs *regs)
{
	const struct arch *arch = run->arch;
	const struct host *host = run->host;
	size_t n = arch->syscall_len + (call->quiet ? 0 : arch->trap_len);
	uint8_t code[8];
	int err;

	memcpy(code, arch->syscall, arch->syscall_len);
	if (!call->quiet)
		memcpy(code + arch->syscall_len, arch->trap, arch->trap_len);
	err = spot_swap(run, task, call->spot, code, n);
	if (err)
		return err;
	err = host->regs_set(task->tid, regs);
	if (!err)
		err = spot_run(run, task, call);
	if (!err)
		err = host->regs_get(task->tid, regs);
	/* The text must be restored even if the task is gone. */
	spot_swap(run, task, call->spot, code, n);
	return err;
}

static int
call_make(struct run *run, struct task *task, int nr, const uint64_t args[6],
	  struct call *call, int64_t *result)
{
	struct saved saved;
	struct regs regs;
	int err;

	call->spot = run->host->auxv(task->tid, AT_ENTRY);
	if (!call->spot || task_save(run->host, task, call->quiet, &saved))
		return HOST_GONE;
	regs = saved.regs;
	call_set(run, &regs, nr, args, call->spot);
	err = call_run(run, task, call, &regs);
	*result = (int64_t)regs.r[run->abi->reg_result];
	if (err == DETOUR_TAKEN || task_restore(run->host, task, &saved))
		return HOST_GONE;
	return err;
}

int
inject_syscall(struct run *run, struct task *task, int nr,
	       const uint64_t args[6], int64_t *result)
{
	struct signal_state state;
	/* A trap would change an ignored SIGTRAP, and take a pending one. */
	struct call call = {
		.quiet = run->host->native &&
			 !run->host->signals(task->tid, &state) &&
			 (state.ignored | state.pending) >> (SIGTRAP - 1) & 1,
	};

	return call_make(run, task, nr, args, &call, result);
}

int
inject_quietly(struct run *run, struct task *task, int nr,
	       const uint64_t args[6], int signal, int64_t *result)
{
	return call_make(run, task, nr, args, &(struct call){
		.quiet = true, .signal = signal,
	}, result);
}
