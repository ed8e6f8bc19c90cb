/*
 * Undoes what a pause does to the system call that its task is in.  Some calls
 * fail with EINTR.  A write to a pipe or socket, which waits until everything
 * is written, returns early with the number of bytes written so far, as if a
 * signal had come; a program without signal handlers need not expect that.  So
 * the task makes the call again for the rest, and gets the sum as the result of
 * one call in the end.  Knows only the calls of abi->transfers, whose arguments
 * tell what is left.  Never continues calls with a vector of buffers (writev,
 * sendmsg): their results stay partial.
 */
#include "monitor/process/restart.h"

#include <errno.h>
#include <stdlib.h>

#include "monitor/process/signals.h"
#include "util/mem.h"

/* A call that moved a part of its bytes, and is made again for the rest. */
struct restart {
	const struct abi_transfer *of;
	uint64_t arg[6];	/* as the program made the call */
	uint64_t done;		/* bytes moved so far */
};

static bool
interrupted(int64_t result)
{
	return result == -EINTR || result_restarts(result);
}

/* The call returns to the program: its own arguments, and the sum of bytes. */
static void
restart_result(const struct run *run, struct task *task, struct regs *regs)
{
	const struct abi *abi = run->abi;

	for (size_t i = 0; i < 6; i++)
		regs->r[abi->reg_arg[i]] = task->restart->arg[i];
	regs->r[abi->reg_result] = task->restart->done;
	restart_free(task);
}

/* Set the registers, which are behind the call, to make it for the rest. */
static void
restart_rest(const struct run *run, const struct restart *restart,
	     struct regs *regs)
{
	const struct abi_transfer *of = restart->of;
	const uint8_t *reg = run->abi->reg_arg;

	if (of->buf != ARG_NONE)
		regs->r[reg[of->buf]] = restart->arg[of->buf] + restart->done;
	if (of->pos != ARG_NONE)
		regs->r[reg[of->pos]] = restart->arg[of->pos] + restart->done;
	regs->r[reg[of->len]] = restart->arg[of->len] - restart->done;
	regs->r[run->abi->reg_nr] = of->nr;
	regs->r[run->abi->reg_orig] = -1;
	regs->r[run->arch->reg_pc] -= run->arch->syscall_len;
}

/*
 * The transfer of bytes that a task with these registers is behind, if that
 * moved only part of them; else NULL.
 */
static const struct abi_transfer *
transfer_partial(const struct run *run, const struct regs *regs)
{
	const struct abi *abi = run->abi;
	const struct abi_transfer *of = abi->transfers;
	int64_t done = (int64_t)regs->r[abi->reg_result];
	int nr = (int)regs->r[abi->reg_orig];

	while (of < abi->transfers + abi->ntransfers && of->nr != nr)
		of++;
	return of < abi->transfers + abi->ntransfers && done > 0 &&
			       (uint64_t)done < regs->r[abi->reg_arg[of->len]] ?
		       of :
		       NULL;
}

/*
 * Change the registers so that the task makes the call for the rest.  The
 * caller sets them.
 */
static void
restart_begin(const struct run *run, struct task *task,
	      const struct abi_transfer *of, struct regs *regs)
{
	const struct abi *abi = run->abi;

	task->restart = mem_alloc(sizeof(*task->restart));
	*task->restart = (struct restart){
		.of = of,
		.done = regs->r[abi->reg_result],
	};
	for (size_t i = 0; i < 6; i++)
		task->restart->arg[i] = regs->r[abi->reg_arg[i]];
	restart_rest(run, task->restart, regs);
}

/*
 * A pause makes some system calls fail with EINTR though no signal came
 * (signal(7) lists them; epoll_wait is the common one).  Such a call has done
 * nothing yet.
 */
static bool
call_failed(const struct run *run, const struct regs *regs, int nr)
{
	return (int64_t)regs->r[run->abi->reg_result] == -EINTR &&
	       nr != run->abi->nr_close && nr != run->abi->nr_connect;
}

static void
call_repeat(const struct run *run, struct regs *regs, int nr)
{
	regs->r[run->abi->reg_result] = nr;
	regs->r[run->arch->reg_pc] -= run->arch->syscall_len;
	regs->r[run->abi->reg_orig] = -1;
}

/* Is the task where restart_ready has set it? */
static bool
call_ready(const struct run *run, const struct task *task,
	   const struct regs *regs)
{
	return task->ready_va && task->ready_va == regs->r[run->arch->reg_pc] &&
	       (int64_t)regs->r[run->abi->reg_orig] < 0;
}

void
restart_ready(struct run *run, struct task *task)
{
	struct regs regs;
	int nr;

	if (!run->host->native || run->host->regs_get(task->tid, &regs))
		return;
	nr = (int)regs.r[run->abi->reg_orig];
	if (nr < 0 || !call_failed(run, &regs, nr) || signal_waits(run, task))
		return;
	call_repeat(run, &regs, nr);
	if (!run->host->regs_set(task->tid, &regs))
		task->ready_va = regs.r[run->arch->reg_pc];
}

bool
restart_repeats(struct run *run, const struct task *task, uint64_t *va)
{
	struct regs regs;

	if (!run->host->native || run->host->regs_get(task->tid, &regs))
		return false;
	if (call_ready(run, task, &regs)) {
		*va = task->ready_va;
		return true;
	}
	*va = regs.r[run->arch->reg_pc] - run->arch->syscall_len;
	return (int64_t)regs.r[run->abi->reg_orig] >= 0 &&
	       interrupted((int64_t)regs.r[run->abi->reg_result]);
}

bool
restart_unready(struct run *run, struct task *task)
{
	struct regs regs;
	bool ready = task->ready_va && !run->host->regs_get(task->tid, &regs) &&
		     call_ready(run, task, &regs);

	task->ready_va = 0;
	if (!ready)
		return false;
	regs.r[run->abi->reg_orig] = regs.r[run->abi->reg_result];
	regs.r[run->abi->reg_result] = -EINTR;
	regs.r[run->arch->reg_pc] += run->arch->syscall_len;
	return !run->host->regs_set(task->tid, &regs);
}

void
restart_call(struct run *run, struct task *task, bool goes_on)
{
	const struct abi_transfer *of;
	struct regs regs;
	bool failed;
	int nr;

	/* A signal that came since then is to interrupt the call. */
	if (task->ready_va && signal_waits(run, task))
		restart_unready(run, task);
	task->ready_va = 0;
	if (!run->host->native || run->host->regs_get(task->tid, &regs))
		return;
	nr = (int)regs.r[run->abi->reg_orig];
	if (nr < 0)
		return;
	failed = call_failed(run, &regs, nr);
	of = goes_on ? transfer_partial(run, &regs) : NULL;
	/* Whether a signal waits takes long to find out, so ask this last. */
	if ((!failed && !of) || signal_waits(run, task))
		return;
	if (failed)
		call_repeat(run, &regs, nr);
	else
		restart_begin(run, task, of, &regs);
	run->host->regs_set(task->tid, &regs);
}

void
restart_exit(struct run *run, struct task *task)
{
	struct restart *restart = task->restart;
	struct regs regs;
	int64_t result;

	if (run->host->regs_get(task->tid, &regs))
		return;
	result = (int64_t)regs.r[run->abi->reg_result];
	if (result > 0)
		restart->done += (uint64_t)result;
	if (task->paused && restart->done < restart->arg[restart->of->len] &&
	    (result > 0 || interrupted(result)) && !signal_waits(run, task))
		restart_rest(run, restart, &regs);
	else
		restart_result(run, task, &regs);
	run->host->regs_set(task->tid, &regs);
}

void
restart_end(struct run *run, struct task *task, enum event_kind kind)
{
	struct regs regs;
	int64_t result;

	if (!task->restart || run->host->regs_get(task->tid, &regs))
		return;
	result = (int64_t)regs.r[run->abi->reg_result];
	if (kind == EVENT_SYSCALL_EXIT && result > 0)
		task->restart->done += (uint64_t)result;
	else if (kind == EVENT_SYSCALL_ENTRY)
		/* With -1 the kernel skips the call, and leaves the result. */
		regs.r[run->abi->reg_orig] = -1;
	else if (kind != EVENT_SYSCALL_EXIT)
		regs.r[run->arch->reg_pc] += run->arch->syscall_len;
	restart_result(run, task, &regs);
	run->host->regs_set(task->tid, &regs);
}

void
restart_free(struct task *task)
{
	free(task->restart);
	task->restart = NULL;
}
