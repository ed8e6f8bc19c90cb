/*
 * The relative timeouts of system calls that pmon has tasks make again: reads
 * them, and has the call wait for what is left.  The program's own timespec may
 * be constant, or shared with other threads, so the rest goes to memory below
 * the stack, which gets its old contents back when the call is over.  Never
 * decides whether a call is made again: restart.c does.
 */
#include "monitor/process/timeout.h"

#include <stddef.h>

/* struct timespec of a 64-bit program. */
struct wait {
	int64_t s, ns;
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
	NS = 1000000000,
};

/* What is put below the stack. */
struct scratch {
	struct uring_arg arg;
	struct wait wait;
};
_Static_assert(sizeof(struct scratch) <= TIMEOUT_SCRATCH, "scratch");

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
		break;
	}
	if (!va || run->host->data_read(task->tid, va, &wait, sizeof(wait)) ||
	    wait.s < 0 || wait.ns < 0 || wait.ns >= NS)
		return 0;
	return (double)wait.s + (double)wait.ns / NS;
}

void
timeout_begin(const struct run *run, const struct task *task, int nr,
	      const struct regs *regs, struct timeout *timeout)
{
	const struct abi *abi = run->abi;

	*timeout = (struct timeout){ 0 };
	for (size_t i = 0; i < abi->ntimeouts; i++) {
		const struct abi_timeout *of = &abi->timeouts[i];
		double length = of->nr == nr ?
					timeout_length(run, task, of, regs) :
					0;

		if (length > 0) {
			timeout->of = of;
			timeout->end = run_clock() + length;
		}
	}
}

/* Write the scratch at va, and keep what was there.  0 or -1. */
static int
scratch_put(const struct run *run, const struct task *task, uint64_t va,
	    const struct scratch *scratch, struct timeout *timeout)
{
	const struct host *host = run->host;

	if (host->data_read(task->tid, va, timeout->old, sizeof(*scratch)) ||
	    host->data_write(task->tid, va, scratch, sizeof(*scratch)))
		return -1;
	timeout->scratch = va;
	return 0;
}

void
timeout_rest(const struct run *run, const struct task *task,
	     struct timeout *timeout, struct regs *regs)
{
	uint64_t va = regs->r[run->arch->reg_sp] - run->abi->red_zone -
		      TIMEOUT_SCRATCH;
	double left = timeout->end - run_clock();
	struct scratch scratch = { 0 };
	uint64_t *arg;

	if (!timeout->of)
		return;
	arg = &regs->r[run->abi->reg_arg[timeout->of->arg]];
	left = left > 0 ? left : 0;
	if (timeout->of->kind == TIMEOUT_MS) {
		/* Not even a part of a millisecond too early. */
		*arg = (uint64_t)(left * 1e3) + (left > 0);
		return;
	}
	if (timeout->of->kind == TIMEOUT_URING &&
	    !uring_arg_read(run, task, regs, *arg, &scratch.arg))
		return;
	va -= va % _Alignof(struct scratch);
	scratch.arg.wait = va + offsetof(struct scratch, wait);
	scratch.wait.s = (int64_t)left;
	scratch.wait.ns = (int64_t)((left - (double)scratch.wait.s) * NS);
	if (!scratch_put(run, task, va, &scratch, timeout))
		*arg = timeout->of->kind == TIMEOUT_URING ? va :
							    scratch.arg.wait;
}

void
timeout_end(const struct run *run, const struct task *task,
	    struct timeout *timeout)
{
	if (timeout->scratch)
		run->host->data_write(task->tid, timeout->scratch, timeout->old,
				      sizeof(struct scratch));
	timeout->scratch = 0;
}
