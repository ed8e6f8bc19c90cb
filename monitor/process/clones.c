/*
 * Children made with CLONE_UNTRACED: the kernel does not tell pmon of them, so
 * they would run into traps, or count in their maker's thread page.  pmon
 * removes the flag before the call, and restores it afterwards in both the
 * maker and the child: in the register of clone, or in the memory of clone3.
 * Never notices another thread that sets the flag in memory after pmon looked.
 * Without traps nothing is removed: such children count in shared pages.
 */
#include "monitor/process/clones.h"

#include <sched.h>

/* ERESTARTNOINTR (linux/errno.h): the kernel will make the clone again. */
enum { RESTART = 513 };

/*
 * Set or clear CLONE_UNTRACED in the argument of clone3, which is at va.  0, or
 * -1 if the memory cannot be changed or there is no flag to clear.
 */
static int
flags_change(struct run *run, struct task *task, uint64_t va, bool untraced)
{
	int mem = task->process->space->mem;
	uint64_t flags;

	if (run->host->mem_read(mem, task->tid, va, &flags, sizeof(flags)))
		return -1;
	if (!untraced && !(flags & CLONE_UNTRACED))
		return -1;
	flags = untraced ? flags | CLONE_UNTRACED :
			   flags & ~(uint64_t)CLONE_UNTRACED;
	return run->host->mem_write(mem, task->tid, va, &flags, sizeof(flags));
}

/* Is it the call whose flag is removed already, delayed by a signal? */
static bool
untraced_again(const struct run *run, const struct task *task,
	       const struct regs *regs)
{
	uint64_t arg = task->untraced.arg;

	if (task->untraced.nr == run->abi->nr_clone)
		arg &= ~(uint64_t)CLONE_UNTRACED;
	return task->untraced.nr &&
	       (int)regs->r[run->abi->reg_nr] == task->untraced.nr &&
	       regs->r[run->abi->reg_arg[0]] == arg &&
	       regs->r[run->arch->reg_sp] == task->untraced.sp;
}

void
clones_hook(struct run *run, struct task *task, const struct regs *regs)
{
	const struct abi *abi = run->abi;
	int nr = (int)regs->r[abi->reg_nr];
	uint64_t arg = regs->r[abi->reg_arg[0]];

	if (untraced_again(run, task, regs))
		return;
	task->untraced.nr = 0;
	if (nr == abi->nr_clone) {
		if (!(arg & CLONE_UNTRACED) ||
		    run->host->reg_set(task->tid, abi->reg_arg[0],
				       arg & ~(uint64_t)CLONE_UNTRACED))
			return;
	} else if (nr != abi->nr_clone3 ||
		   flags_change(run, task, arg, false)) {
		return;
	}
	task->untraced.nr = nr;
	task->untraced.arg = arg;
	task->untraced.sp = regs->r[run->arch->reg_sp];
}

static void
untraced_restore(struct run *run, struct task *task)
{
	if (task->untraced.nr == run->abi->nr_clone)
		run->host->reg_set(task->tid, run->abi->reg_arg[0],
				   task->untraced.arg);
	else
		flags_change(run, task, task->untraced.arg, true);
	task->untraced.nr = 0;
}

void
clones_syscall(struct run *run, struct task *task)
{
	struct regs regs;

	/*
	 * A signal handler may run before the call, and make calls of its own.
	 * If a signal comes during the call, the kernel makes the call again.
	 */
	if (task->untraced.nr && !run->host->regs_get(task->tid, &regs) &&
	    (int64_t)regs.r[run->abi->reg_result] != -RESTART &&
	    (int)regs.r[run->abi->reg_orig] == task->untraced.nr &&
	    regs.r[run->arch->reg_sp] == task->untraced.sp)
		untraced_restore(run, task);
}

void
clones_made(const struct task *task, struct task *child)
{
	child->untraced.nr = task->untraced.nr;
	child->untraced.arg = task->untraced.arg;
}

void
clones_birth(struct run *run, struct task *task)
{
	if (task->untraced.nr)
		untraced_restore(run, task);
}
