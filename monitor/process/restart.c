/*
 * Undoes what a stop does to the system call that its task is in, where the
 * program would not have noticed without pmon: after a pause, and after a signal
 * that the program ignores, which the kernel does not even send to a task that
 * nobody traces.  Some calls fail with EINTR.  A write to a pipe or socket,
 * which waits until everything is written, returns early with the number of
 * bytes written so far, as if a signal had come; a program without signal
 * handlers need not expect that.  So the task makes the call again for the
 * rest, and gets the sum as the result of one call in the end.  Knows only the
 * calls of abi->transfers and abi->timeouts, whose arguments tell what is left.
 * Never continues calls with a vector of buffers (writev, sendmsg): their
 * results stay partial.
 */
#include "monitor/process/restart.h"

#include <errno.h>
#include <stdlib.h>

#include "monitor/process/signals.h"
#include "monitor/process/timeout.h"
#include "util/mem.h"

/* A call that is made again for what it has not done yet. */
struct restart {
	int nr;
	const struct abi_transfer *of;	/* what it moves, or NULL */
	struct timeout timeout;
	uint64_t arg[6];	/* as the program made the call */
	uint64_t done;		/* bytes moved so far */
	uint64_t blocked;	/* signals, during the call */
};

static bool
interrupted(int64_t result)
{
	return result == -EINTR || result_restarts(result);
}

/*
 * A stop makes some system calls fail with EINTR (signal(7) lists them;
 * epoll_wait is the common one).  Such a call has done nothing yet.
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

/*
 * The call returns to the program: with its own arguments, and the sum of bytes
 * or else the last result.
 */
static void
restart_result(const struct run *run, struct task *task, struct regs *regs,
	       int64_t result)
{
	const struct restart *restart = task->restart;
	const struct abi *abi = run->abi;

	for (size_t i = 0; i < 6; i++)
		regs->r[abi->reg_arg[i]] = restart->arg[i];
	regs->r[abi->reg_result] = restart->done ? restart->done :
						   (uint64_t)result;
	restart_free(task);
}

/*
 * Set the registers, which are behind the call, to make it for the rest; false
 * if its time is over and it could not be told.
 */
static bool
restart_rest(struct run *run, struct task *task, struct regs *regs)
{
	struct restart *restart = task->restart;
	const struct abi_transfer *of = restart->of;
	const uint8_t *reg = run->abi->reg_arg;

	for (size_t i = 0; i < 6; i++)
		regs->r[reg[i]] = restart->arg[i];
	if (of && of->buf != ARG_NONE)
		regs->r[reg[of->buf]] += restart->done;
	if (of)
		regs->r[reg[of->len]] -= restart->done;
	if (!timeout_rest(run, task, &restart->timeout, regs))
		return false;
	call_repeat(run, regs, restart->nr);
	return true;
}

/* Is the file one to which the call writes all before it returns? */
static bool
transfer_waits(const struct run *run, const struct task *task,
	       const struct abi_transfer *of, const struct regs *regs)
{
	int fd;

	if (of->fd == ARG_NONE)
		return true;
	fd = (int)regs->r[run->abi->reg_arg[of->fd]];
	return run->host->native->file_kind(task->tid, fd) & of->files;
}

/*
 * The transfer of bytes that a task with these registers is behind, if that
 * moved only part of them, or may not have waited; else NULL.
 */
static const struct abi_transfer *
transfer_partial(const struct run *run, const struct task *task,
		 const struct regs *regs)
{
	const struct abi *abi = run->abi;
	const struct abi_transfer *of = abi->transfers;
	int64_t done = (int64_t)regs->r[abi->reg_result];
	int nr = (int)regs->r[abi->reg_orig];
	uint64_t len;

	while (of < abi->transfers + abi->ntransfers && of->nr != nr)
		of++;
	if (of == abi->transfers + abi->ntransfers || done < 0)
		return NULL;
	len = regs->r[abi->reg_arg[of->len]];
	if (of->waits)
		return (uint64_t)done == len ? of : NULL;
	return done && (uint64_t)done < len &&
			       transfer_waits(run, task, of, regs) ?
		       of :
		       NULL;
}

/* Is the task behind a call that was cut short?  *of is what it moved, or NULL. */
static bool
call_cut(const struct run *run, const struct task *task,
	 const struct regs *regs, const struct abi_transfer **of)
{
	int nr = (int)regs->r[run->abi->reg_orig];

	*of = nr >= 0 ? transfer_partial(run, task, regs) : NULL;
	return *of || (nr >= 0 && call_failed(run, regs, nr));
}

/*
 * Change the registers so that the task makes the call again, for the rest if
 * part of it is done.  The caller sets them.  The call's timeout begins now:
 * when the call began nobody knows.
 */
static void
restart_begin(struct run *run, struct task *task, const struct abi_transfer *of,
	      struct regs *regs)
{
	const struct abi *abi = run->abi;
	int nr = (int)regs->r[abi->reg_orig];
	struct timeout timeout = timeout_begin(run, task, nr, regs);

	if (!of && !timeout.of) {
		call_repeat(run, regs, nr);
		return;
	}
	task->restart = mem_alloc(sizeof(*task->restart));
	*task->restart = (struct restart){
		.nr = nr,
		.of = of,
		.done = of ? regs->r[abi->reg_result] : 0,
	};
	for (size_t i = 0; i < 6; i++)
		task->restart->arg[i] = regs->r[abi->reg_arg[i]];
	restart_rest(run, task, regs);
	task->restart->timeout = timeout;
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
	const struct abi_transfer *of;

	if (!run->host->native || task->restart ||
	    run->host->regs_get(task->tid, &regs) ||
	    !call_cut(run, task, &regs, &of) || of ||
	    signals_pending(run, task, NULL) == SIGNALS_WAIT)
		return;
	call_repeat(run, &regs, (int)regs.r[run->abi->reg_orig]);
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
	uint64_t blocked = 0;
	struct regs regs;

	/* A signal that came since then is to interrupt the call. */
	if (task->ready_va && signals_pending(run, task, NULL) == SIGNALS_WAIT)
		restart_unready(run, task);
	task->ready_va = 0;
	if (!run->host->native || run->host->regs_get(task->tid, &regs))
		return;
	/* Whether a signal waits takes long to find out, so ask this last. */
	if (!call_cut(run, task, &regs, &of) || (of && !goes_on) ||
	    signals_pending(run, task, &blocked) == SIGNALS_WAIT)
		return;
	if (goes_on)
		restart_begin(run, task, of, &regs);
	else
		call_repeat(run, &regs, (int)regs.r[run->abi->reg_orig]);
	if (task->restart)
		task->restart->blocked = blocked;
	run->host->regs_set(task->tid, &regs);
}

/*
 * Has a stop that the program would not notice interrupted the call for the
 * rest, with this result?  A group stop's comes later (restart_stopped), and a
 * signal that was ignored may have gone to another thread.
 */
static bool
restart_cut(struct run *run, struct task *task, int64_t result)
{
	const struct restart *restart = task->restart;
	const struct abi_transfer *of = restart->of;
	uint64_t left = of ? restart->arg[of->len] - restart->done : 0;
	bool partial = of && (of->waits ? !result : result > 0 && left);
	enum signals_pending pending;

	if (!interrupted(result) && !partial)
		return false;
	pending = signals_pending(run, task, NULL);
	return pending != SIGNALS_WAIT &&
	       (!partial || task->paused || pending == SIGNALS_IGNORED);
}

void
restart_exit(struct run *run, struct task *task)
{
	struct restart *restart = task->restart;
	struct regs regs;
	int64_t result;

	if (run->host->regs_get(task->tid, &regs))
		return;
	timeout_end(task);
	/* A handler has been entered unseen, and this is a call of its own. */
	if ((int)regs.r[run->abi->reg_orig] != restart->nr) {
		restart_free(task);
		return;
	}
	result = (int64_t)regs.r[run->abi->reg_result];
	if (restart->of && result > 0)
		restart->done += (uint64_t)result;
	if (!restart_cut(run, task, result) || !restart_rest(run, task, &regs))
		restart_result(run, task, &regs, result);
	run->host->regs_set(task->tid, &regs);
}

/*
 * The task is not to make its call for the rest: the call ends with what was
 * moved so far.  If that is nothing, it fails with EINTR, or is made as the
 * program has made it.
 */
static void
restart_end(struct run *run, struct task *task, enum event_kind kind,
	    bool fails)
{
	struct regs regs;
	int64_t result;

	if (!task->restart || run->host->regs_get(task->tid, &regs))
		return;
	timeout_end(task);
	result = (int64_t)regs.r[run->abi->reg_result];
	if (kind == EVENT_SYSCALL_EXIT) {
		if (task->restart->of && result > 0)
			task->restart->done += (uint64_t)result;
	} else if (task->restart->done || fails) {
		if (kind == EVENT_SYSCALL_ENTRY)
			/* The kernel skips the call, and leaves the result. */
			regs.r[run->abi->reg_orig] = -1;
		else
			regs.r[run->arch->reg_pc] += run->arch->syscall_len;
		result = -EINTR;
	}
	restart_result(run, task, &regs, result);
	run->host->regs_set(task->tid, &regs);
}

void
restart_signal(struct run *run, struct task *task, int signal)
{
	const struct abi_transfer *of;
	struct regs regs;

	/* Most signals interrupt no call: ask no more then. */
	if (!run->host->native || !signal ||
	    (!task->restart && (run->host->regs_get(task->tid, &regs) ||
				!call_cut(run, task, &regs, &of))))
		return;
	if (signal_ignored(run, task, signal))
		restart_call(run, task, true);
	else
		/* One that only the call's own mask blocks ends no call. */
		restart_end(run, task, EVENT_SIGNAL,
			    task->restart &&
				    !signals_have(task->restart->blocked,
						  signal));
}

void
restart_stopped(struct run *run, struct task *task)
{
	struct regs regs;

	restart_end(run, task, EVENT_STOPPED, true);
	if (!run->host->native || run->host->regs_get(task->tid, &regs) ||
	    (int64_t)regs.r[run->abi->reg_orig] < 0 ||
	    result_restarts((int64_t)regs.r[run->abi->reg_result]))
		return;
	regs.r[run->abi->reg_orig] = -1;
	run->host->regs_set(task->tid, &regs);
}

void
restart_release(struct run *run, struct task *task, enum event_kind kind,
		int signal)
{
	bool fails = signal ? !signal_ignored(run, task, signal) :
			      task->restart &&
				      signals_pending(run, task, NULL) ==
					      SIGNALS_WAIT;

	restart_end(run, task, kind, fails);
	if (!fails && (kind == EVENT_PAUSED || kind == EVENT_SIGNAL ||
		       (kind == EVENT_SYSCALL_EXIT && task->paused)))
		restart_call(run, task, false);
}

void
restart_free(struct task *task)
{
	timeout_end(task);
	free(task->restart);
	task->restart = NULL;
}
