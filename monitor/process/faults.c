/*
 * Remembers what signals interrupt: the faulting instruction that a stopped
 * task is at, and those that its signal handlers interrupted.  An instruction
 * that faulted has begun, so a jump out of the handler leaves the function
 * during that instruction.  Counts nothing itself.
 */
#include "monitor/process/faults.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/process/signals.h"
#include "monitor/run.h"
#include "util/mem.h"

/*
 * The places where faults have called handlers, and those that handlers have
 * functions return to.  Nothing tells whether a handler was left by a jump or
 * will still return.  So a place is removed when another handler is called
 * with the same stack pointer, and the oldest when there are too many.
 */
enum { FAULTS_MAX = 32 };

struct fault {
	uint64_t va, sp;
	bool parked;		/* see fault_park; else a fault called a
				   handler */
};

/* A SIGTRAP comes after its instruction, which so has not faulted. */
void
fault_note(struct run *run, struct task *task, int signal, uint64_t pc)
{
	if (signal != SIGTRAP && signal_caused(run, task, signal))
		task->fault_va = pc;
	else if (task->fault_va == pc)
		task->fault_va = 0;
}

void
fault_tell(struct run *run, const struct task *task, uint64_t pc, uint64_t va)
{
	const struct host *host = run->host;
	uint64_t at;
	int code;

	if (host->native && !host->fault_get(task->tid, &code, &at) &&
	    code > 0 && at == pc)
		host->native->fault_set(task->tid, va);
}

void
fault_move(struct run *run, struct task *task, uint64_t pc, uint64_t va)
{
	if (task->fault_va != pc)
		return;
	task->fault_va = va;
	fault_tell(run, task, pc, va);
}

/* There is room for another. */
static void
fault_add(struct task *task, uint64_t va, uint64_t sp, bool parked)
{
	if (!task->faults)
		task->faults = mem_alloc(FAULTS_MAX * sizeof(*task->faults));
	task->faults[task->nfaults++] = (struct fault){ va, sp, parked };
}

void
fault_record(struct run *run, struct task *task)
{
	uint64_t pc, sp;
	size_t n = 0, from;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return;
	from = task->nfaults == FAULTS_MAX;
	for (size_t i = from; i < task->nfaults; i++)
		if (task->faults[i].sp != sp || task->faults[i].parked)
			task->faults[n++] = task->faults[i];
	task->nfaults = n;
	if (task->fault_va != pc)
		return;
	fault_add(task, pc, sp, false);
}

void
fault_park(struct task *task, uint64_t va, uint64_t sp)
{
	if (fault_parked(task, va, sp))
		return;
	if (task->nfaults == FAULTS_MAX)
		memmove(task->faults, task->faults + 1,
			--task->nfaults * sizeof(*task->faults));
	fault_add(task, va, sp, true);
}

bool
fault_parked(const struct task *task, uint64_t va, uint64_t sp)
{
	for (size_t i = 0; i < task->nfaults; i++)
		if (task->faults[i].parked && task->faults[i].va == va &&
		    task->faults[i].sp == sp)
			return true;
	return false;
}

bool
fault_left(const struct task *task, uint64_t va, uint64_t sp)
{
	if (va == task->fault_va)
		return true;
	for (size_t i = 0; i < task->nfaults; i++)
		if (!task->faults[i].parked && task->faults[i].va == va &&
		    task->faults[i].sp == sp)
			return true;
	return false;
}

void
faults_clear(struct task *task)
{
	free(task->faults);
	task->faults = NULL;
	task->nfaults = 0;
	task->fault_va = 0;
}
