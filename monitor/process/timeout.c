/*
 * The relative timeouts of system calls that pmon has tasks make again: reads
 * them, and has the call wait for what is left.  The program's own timespec may
 * be constant, or shared with other threads, so the rest goes to memory that
 * nobody uses (inject_scratch).  Never decides whether a call is made again:
 * restart.c does.
 */
#include "monitor/process/timeout.h"

#include <stddef.h>

#include "monitor/process/inject.h"
#include "monitor/process/task.h"
#include "util/clock.h"

/* struct timespec of a 64-bit program, or timeval. */
struct wait {
	int64_t s, part;
};

/* struct io_uring_getevents_arg (io_uring_enter(2)). */
struct uring_arg {
	uint64_t mask;
	uint32_t mask_size, min_wait_us;
	uint64_t wait;		/* va of a timespec, or 0 */
};

enum {
	URING_FLAGS = 3,	/* number of io_uring_enter's argument */
	URING_HAS_ARG = 1 << 3,	/* IORING_ENTER_EXT_ARG */
	/* IORING_ENTER_ABS_TIMER, IORING_ENTER_EXT_ARG_REG */
	URING_OTHER = 1 << 5 | 1 << 6,
	S_MAX = 1 << 30,	/* longer is for ever */
};

/* What a task's call reads instead of the program's own. */
struct scratch {
	struct uring_arg arg;
	struct wait wait;
};

static uint64_t
argument(const struct run *run, const struct regs *regs, unsigned i)
{
	return regs->r[run->abi->reg_arg[i]];
}

/* The argument that leads to io_uring_enter's timespec; false if none does. */
static bool
uring_arg_read(const struct run *run, const struct task *task,
	       const struct regs *regs, uint64_t va, struct uring_arg *arg)
{
	uint64_t flags = argument(run, regs, URING_FLAGS);

	return flags & URING_HAS_ARG && !(flags & URING_OTHER) &&
	       !run->host->data_read(task->tid, va, arg, sizeof(*arg));
}

/* What a second has of the smaller unit. */
static int64_t
parts(const struct abi_timeout *of)
{
	return of->kind == TIMEOUT_TIMEVAL ? 1000000 : 1000000000;
}

/* Seconds, or 0 if the call waits for ever or not at all. */
static double
timeout_length(const struct run *run, const struct task *task,
	       const struct abi_timeout *of, const struct regs *regs)
{
	uint64_t va = argument(run, regs, of->arg);
	struct uring_arg arg;
	struct wait wait;
	int32_t ms;

	switch (of->kind) {
	case TIMEOUT_MS:
		ms = (int32_t)va;
		return ms > 0 ? ms / 1e3 : 0;
	case TIMEOUT_URING:
		if (!uring_arg_read(run, task, regs, va, &arg))
			return 0;
		va = arg.wait;
		break;
	case TIMEOUT_TIMESPEC:
	case TIMEOUT_TIMEVAL:
		break;
	}
	if (!va || run->host->data_read(task->tid, va, &wait, sizeof(wait)) ||
	    wait.s < 0 || wait.s >= S_MAX || wait.part < 0 ||
	    wait.part >= parts(of))
		return 0;
	return (double)wait.s + (double)wait.part / (double)parts(of);
}

struct timeout
timeout_begin(const struct run *run, const struct task *task, int nr,
	      const struct regs *regs)
{
	const struct abi *abi = run->abi;

	for (size_t i = 0; i < abi->ntimeouts; i++) {
		const struct abi_timeout *of = &abi->timeouts[i];
		double length = of->nr == nr ?
					timeout_length(run, task, of, regs) :
					0;

		if (length > 0)
			return (struct timeout){ of, clock_seconds() + length };
	}
	return (struct timeout){ 0 };
}

struct use {
	const struct space *space;
	uint64_t va;
	bool taken;
};

static void
use_look(struct run *run, struct task *task, void *ctx)
{
	struct use *use = ctx;

	(void)run;
	use->taken |= task->process && task->process->space == use->space &&
		      task->scratch == use->va;
}

/* Have the task own a part of its space's scratch memory; its va, or 0. */
static uint64_t
scratch_take(struct run *run, struct task *task)
{
	struct range all = inject_scratch(run, task);
	struct use use = { task->process->space, .va = all.lo };

	use.va += -use.va % _Alignof(struct scratch);
	for (; use.va + sizeof(struct scratch) <= all.hi;
	     use.va += sizeof(struct scratch)) {
		use.taken = false;
		task_each(run, use_look, &use);
		if (!use.taken)
			return task->scratch = use.va;
	}
	return 0;
}

bool
timeout_rest(struct run *run, struct task *task, const struct timeout *timeout,
	     struct regs *regs)
{
	const struct abi_timeout *of = timeout->of;
	double left = timeout->end - clock_seconds();
	struct scratch scratch = { 0 };
	uint64_t *arg, va;

	if (!of)
		return true;
	arg = &regs->r[run->abi->reg_arg[of->arg]];
	left = left > 0 ? left : 0;
	if (of->kind == TIMEOUT_MS) {
		/* Not even a part of a millisecond too early. */
		*arg = (uint64_t)(left * 1e3) + (left > 0);
		return true;
	}
	va = scratch_take(run, task);
	scratch.wait.s = (int64_t)left;
	scratch.wait.part = (int64_t)((left - (double)scratch.wait.s) *
				      (double)parts(of));
	if (!va || (of->kind == TIMEOUT_URING &&
		    !uring_arg_read(run, task, regs, *arg, &scratch.arg)))
		return left > 0;
	scratch.arg.wait = va + offsetof(struct scratch, wait);
	if (run->host->mem_write(task->process->space->mem, task->tid, va,
				 &scratch, sizeof(scratch)))
		return left > 0;
	*arg = of->kind == TIMEOUT_URING ? va : scratch.arg.wait;
	return true;
}

void
timeout_end(struct task *task)
{
	task->scratch = 0;
}
