/*
 * Follows whether tasks block SIGTRAP, as the program believes.  A trap
 * unblocks the signal; where it has no handler nothing tells whether it was
 * blocked (doc/decisions/0002-sigtrap.md).  So pmon looks at the mask where no
 * trap can have changed it, and hooks the system call that sets it, until
 * programs have made many such calls.  Never changes the mask: sigtrap.c does.
 */
#include "monitor/process/trap_mask.h"

#include "monitor/process/actions.h"
#include "monitor/process/task.h"

/*
 * Each call costs a trap.  Programs that switch coroutines make two or more a
 * microsecond.
 */
enum { CALLS_MAX = 5000 };

bool
trap_mask_ended(const struct run *run)
{
	return run->mask_calls >= CALLS_MAX;
}

bool
trap_mask_matters(const struct run *run)
{
	return run->host->native && !run->opts->no_traps &&
	       !trap_mask_ended(run);
}

void
trap_mask_look(struct run *run, struct task *task)
{
	uint64_t mask;

	if (trap_mask_matters(run) &&
	    !run->host->native->mask_get(task->tid, &mask))
		task->blocks_trap = mask & TRAP_BIT;
}

static void
blocks_trap_clear(struct run *run, struct task *task, void *ctx)
{
	(void)run;
	(void)ctx;
	task->blocks_trap = false;
}

bool
trap_mask_hook(struct run *run, struct task *task, const struct regs *regs)
{
	const struct abi *abi = run->abi;
	uint64_t set = regs->r[abi->reg_arg[1]], mask;
	bool before = task->blocks_trap;

	if (!trap_mask_matters(run) ||
	    (int)regs->r[abi->reg_nr] != abi->nr_sigprocmask)
		return false;
	run->mask_calls++;
	if (trap_mask_ended(run))
		task_each(run, blocks_trap_clear, NULL);
	if (trap_mask_ended(run) || !set ||
	    regs->r[abi->reg_arg[3]] != MASK_BYTES ||
	    run->host->data_read(task->tid, set, &mask, sizeof(mask)))
		return false;
	switch ((int)regs->r[abi->reg_arg[0]]) {
	case SIG_BLOCK:
		task->blocks_trap |= mask & TRAP_BIT;
		break;
	case SIG_UNBLOCK:
		task->blocks_trap &= !(mask & TRAP_BIT);
		break;
	case SIG_SETMASK:
		task->blocks_trap = mask & TRAP_BIT;
		break;
	}
	return task->blocks_trap != before;
}

void
trap_mask_return(struct run *run, struct task *task)
{
	uint64_t at, mask;

	if (trap_mask_matters(run) && run->abi->context_mask &&
	    !run->host->reg_get(task->tid, run->arch->reg_sp, &at) &&
	    !run->host->data_read(task->tid, at + run->abi->context_mask, &mask,
				  sizeof(mask)))
		task->blocks_trap = mask & TRAP_BIT;
}

bool
trap_mask_cleared(const struct run *run, const struct task *task)
{
	uint64_t mask;

	return task->blocks_trap &&
	       !run->host->native->mask_get(task->tid, &mask) &&
	       !(mask & TRAP_BIT);
}
