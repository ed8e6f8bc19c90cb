/*
 * Sees the system calls that change what code a process can execute, where
 * libraries are counted: behind the hooks at them (HOOK_MAP, HOOK_CALL) or,
 * where all calls are watched, behind each.  Never plants anything: plant.c
 * does.
 */
#include "monitor/patch/maps.h"

#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>

#include "monitor/patch/plant.h"
#include "monitor/patch/watch.h"
#include "monitor/process/space.h"
#include "monitor/run.h"

/* What a system call does to the code that can be executed. */
enum change {
	CHANGE_NONE,
	CHANGE_MODULES,		/* it may add or remove modules */
	CHANGE_CODE,		/* the same; and what is now executable at its
				   address may be no module's */
	CHANGE_UNSEEN,		/* there may be code that no file has */
};

/* Whether there may be text of a module at [addr, addr + size). */
static bool
space_overlaps(const struct space *space, uint64_t addr, uint64_t size)
{
	uint64_t last = addr + size + PAGE - 1 < addr ? UINT64_MAX :
							addr + size + PAGE - 1;

	for (size_t i = 0; i < space->nmodules; i++)
		if (addr / PAGE * PAGE < space->modules[i]->hi &&
		    last / PAGE * PAGE > space->modules[i]->lo / PAGE * PAGE)
			return true;
	return false;
}

static enum change
protect_change(const struct space *space, const uint64_t *arg)
{
	if (arg[2] & PROT_EXEC)
		return CHANGE_CODE;
	return arg[2] & PROT_WRITE && space_overlaps(space, arg[0], arg[1]) ?
		       CHANGE_UNSEEN :
		       CHANGE_NONE;
}

/* Where all calls are watched, there may be code that is no module's yet. */
static enum change
remap_change(const struct space *space, const uint64_t *arg)
{
	return space->watched || space_overlaps(space, arg[0], arg[1]) ||
			       (arg[3] & MREMAP_FIXED &&
				space_overlaps(space, arg[4], arg[2])) ?
		       CHANGE_MODULES :
		       CHANGE_NONE;
}

static enum change
call_change(const struct run *run, const struct space *space, int nr,
	    const uint64_t *arg)
{
	const struct abi *abi = run->abi;

	if (!abi_maps(abi, nr))
		return CHANGE_NONE;
	if (nr == abi->nr_mmap && arg[2] & PROT_EXEC)
		return CHANGE_CODE;
	if (nr == abi->nr_mmap)
		return arg[3] & MAP_FIXED &&
				       space_overlaps(space, arg[0], arg[1]) ?
			       CHANGE_MODULES :
			       CHANGE_NONE;
	if (nr == abi->nr_munmap)
		return space_overlaps(space, arg[0], arg[1]) ? CHANGE_MODULES :
							       CHANGE_NONE;
	if (nr == abi->nr_mprotect || nr == abi->nr_pkey_mprotect)
		return protect_change(space, arg);
	if (nr == abi->nr_mremap)
		return remap_change(space, arg);
	if (nr == abi->nr_shmat)
		return arg[2] & SHM_EXEC ? CHANGE_UNSEEN : CHANGE_NONE;
	if (nr == abi->nr_personality)
		return (uint32_t)arg[0] != UINT32_MAX &&
				       arg[0] & READ_IMPLIES_EXEC ?
			       CHANGE_UNSEEN :
			       CHANGE_NONE;
	return space_overlaps(space, arg[0], arg[1]) ? CHANGE_UNSEEN :
						       CHANGE_NONE;
}

static void
call_args(const struct run *run, const struct regs *regs, uint64_t *arg)
{
	for (size_t i = 0; i < 6; i++)
		arg[i] = regs->r[run->abi->reg_arg[i]];
}

void
maps_hook(struct run *run, struct task *task, const struct regs *regs)
{
	struct space *space = task->process->space;
	int nr = (int)regs->r[run->abi->reg_nr];
	uint64_t sp = regs->r[run->arch->reg_sp], arg[6];

	if (!run_maps_hooked(run) || space_watched(space))
		return;
	call_args(run, regs, arg);
	if (call_change(run, space, nr, arg) == CHANGE_NONE)
		return;
	/*
	 * A signal's handler that came before another such call: only one can
	 * be awaited.
	 */
	if (task->mapping.nr && task->mapping.sp != sp)
		space_watch(run, space);
	task->mapping.nr = nr;
	task->mapping.sp = sp;
}

void
maps_syscall(struct run *run, struct task *task)
{
	struct space *space = task->process->space;
	enum change change;
	struct regs regs;
	uint64_t arg[6];
	int nr;

	if (!space || (!task->mapping.nr && !space->watched) ||
	    run->host->regs_get(task->tid, &regs))
		return;
	nr = (int)regs.r[run->abi->reg_orig];
	if (nr == task->mapping.nr &&
	    regs.r[run->arch->reg_sp] == task->mapping.sp)
		task->mapping.nr = 0;
	call_args(run, &regs, arg);
	change = call_change(run, space, nr, arg);
	/* What is mapped beyond a library's text is no module's. */
	if (space->loading && change == CHANGE_NONE && abi_maps(run->abi, nr))
		change = CHANGE_MODULES;
	if (change == CHANGE_UNSEEN)
		space_watch(run, space);
	else if (change != CHANGE_NONE)
		process_rescan(run, task);
	/* mmap returns the address. */
	if (change == CHANGE_CODE &&
	    !space_module(space, nr == run->abi->nr_mmap ?
					 regs.r[run->abi->reg_result] :
					 arg[0]) &&
	    (int64_t)regs.r[run->abi->reg_result] >= 0)
		space_watch(run, space);
}
