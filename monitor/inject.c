/*
 * System calls made in the target's name.  The task runs one system call
 * instruction, written for that moment over the program's start code, which no
 * thread executes any more (or, at an exec, yet).  Leaves registers, signal
 * mask and text as they were.
 */
#include <elf.h>
#include <signal.h>
#include <string.h>

#include "monitor/inject.h"
#include "monitor/run.h"
#include "util/fail.h"

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
	memcpy(bytes, old, n);
	return err;
}

/*
 * Let the task run over the system call, to the trap behind it or, quietly, to
 * the call's exit: where SIGTRAP is ignored a trap would change that.  Signals
 * are blocked, so one that comes there says that the spot cannot be executed.
 * (One that comes behind the call is a fault that was pending, which the kernel
 * takes first though it is blocked: its instruction will fault again.)  What
 * else may stop it (a group stop, another's pause) is passed over: that takes
 * effect again when the task is resumed for good.
 */
static int
spot_run(struct run *run, struct task *task, uint64_t spot, bool quiet,
	 int signal)
{
	enum resume how = quiet ? RESUME_SYSCALL : RESUME_RUN;
	struct event event;
	uint64_t pc;

	do {
		if (task_resume(run, task, how, signal))
			return HOST_GONE;
		signal = 0;
		run_wait_task(run, task, &event);
		if (task->state == TASK_DEAD) {
			run_requeue(run, &event);
			return HOST_GONE;
		}
		if (event.kind == EVENT_SIGNAL &&
		    !run->host->reg_get(task->tid, run->arch->reg_pc, &pc) &&
		    pc == spot)
			return HOST_ERROR;
	} while (quiet ? event.kind != EVENT_SYSCALL_EXIT :
		 event.kind != EVENT_TRAP ||
		 run->host->trap_cause(task->tid) != TRAP_INSN);
	stop_is(run, task, STOP_CALLED);
	return HOST_OK;
}

static void
call_set(const struct run *run, struct regs *regs, int nr,
	 const uint64_t args[6], uint64_t spot)
{
	const struct abi *abi = run->abi;

	regs->r[abi->reg_nr] = nr;
	for (size_t i = 0; i < 6; i++)
		regs->r[abi->reg_arg[i]] = args[i];
	/* Else the kernel would take a restart of an older call in hand. */
	if (abi->reg_orig != REG_NONE)
		regs->r[abi->reg_orig] = -1;
	regs->r[run->arch->reg_pc] = spot;
}

static int
call_make(struct run *run, struct task *task, int nr, const uint64_t args[6],
	  bool quiet, int signal, int64_t *result)
{
	const struct arch *arch = run->arch;
	const struct host *host = run->host;
	size_t n = arch->syscall_len + (quiet ? 0 : arch->trap_len);
	uint64_t spot = host->auxv(task->tid, AT_ENTRY), mask = 0;
	uint64_t blocked = quiet ? ~UINT64_C(0) :
				   ~(UINT64_C(1) << (SIGTRAP - 1));
	struct regs saved, regs;
	uint8_t code[8];
	int err;

	/* A trap with SIGTRAP blocked would lose the program its handler. */
	if (!spot || host->regs_get(task->tid, &saved) ||
	    (host->native && host->mask_set(task->tid, blocked, &mask)))
		return HOST_GONE;
	regs = saved;
	call_set(run, &regs, nr, args, spot);
	memcpy(code, arch->syscall, arch->syscall_len);
	if (!quiet)
		memcpy(code + arch->syscall_len, arch->trap, arch->trap_len);
	if (host->regs_set(task->tid, &regs) ||
	    spot_swap(run, task, spot, code, n))
		return HOST_GONE;
	err = spot_run(run, task, spot, quiet, signal);
	if (!err)
		err = host->regs_get(task->tid, &regs);
	*result = (int64_t)regs.r[run->abi->reg_result];
	/* The text first: it is there even if the task is not. */
	spot_swap(run, task, spot, code, n);
	if (host->regs_set(task->tid, &saved) ||
	    (host->native && host->mask_set(task->tid, mask, NULL)))
		return HOST_GONE;
	return err;
}

/* Was the task stopped in a system call that the kernel is to make again? */
static bool
call_waits(const struct run *run, const struct task *task)
{
	uint64_t nr;

	return run->abi->reg_orig != REG_NONE &&
	       !run->host->reg_get(task->tid, run->abi->reg_orig, &nr) &&
	       (int64_t)nr >= 0;
}

int
inject_syscall(struct run *run, struct task *task, int nr,
	       const uint64_t args[6], int64_t *result)
{
	struct signal_state state;
	bool quiet = run->host->native &&
		     !run->host->signals(task->tid, &state) &&
		     state.ignored >> (SIGTRAP - 1) & 1;
	int err = call_make(run, task, nr, args, quiet, 0, result);

	/* At a call's exit the kernel does not look for that by itself. */
	if (!err && quiet && call_waits(run, task))
		task_interrupt(run, task, STOP_CALLED);
	return err;
}

int
inject_quietly(struct run *run, struct task *task, int nr,
	       const uint64_t args[6], int signal, int64_t *result)
{
	return call_make(run, task, nr, args, true, signal, result);
}
