/*
 * Does the instruction of a hit in its place, by lifting the trap and stepping
 * (Bishop 1987, "How an Execution Monitor Works"), or by emulating it.  Never
 * decides which of these is done: trap.c does.
 */
#include "monitor/patch/step.h"

#include "monitor/patch/hit.h"
#include "monitor/patch/traps.h"
#include "monitor/process/events.h"
#include "monitor/process/owner.h"
#include "monitor/process/sigtrap.h"

/* ---- step */

static int
trap_set(struct run *run, struct task *task, uint64_t va, const uint8_t *bytes)
{
	return run->host->mem_write(task->process->space->mem, task->tid, va,
				    bytes, run->arch->trap_len);
}

/*
 * Whether a step has caused the stop.  If SIGTRAP was blocked and one was
 * pending, the step has unblocked it, and the stop tells of the pending one.
 */
static bool
step_told(struct run *run, const struct task *task)
{
	enum trap_cause cause = run->host->trap_cause(task->tid);

	return cause == TRAP_STEP ||
	       (cause == TRAP_SENT && sigtrap_waited(run, task));
}

/*
 * One step from the site.  true if the instruction was done and has come to
 * itself again: it must be counted and stepped once more.  If the task is
 * killed, its last stop tells whether it was done: see trap_unreported.
 */
static bool
step_once(struct run *run, struct task *task, const struct hit *hit,
	  struct event *event)
{
	uint64_t pc, sp;

	if (run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return false;
	task->hit.stepping = true;
	/* Another task's step may have paused this one before its own. */
	do {
		if (task_resume(run, task, RESUME_STEP, 0))
			return false;
		run_wait_task(run, task, event);
		if (task->state == TASK_DEAD ||
		    run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
			return false;
	} while (event->kind == EVENT_PAUSED && pc == hit->va);
	task->hit.stepping = false;
	if (event->kind == EVENT_TRAP && step_told(run, task)) {
		event->kind = EVENT_PAUSED;
		task->hit.open = pc == hit->va;
		hit_stepped(run, task, hit, pc);
		if (sigtrap_mend(run, task))
			return false;
		return pc == hit->va;
	}
	/* The task was stopped before the instruction, or by what that did. */
	task->hit.open = false;
	if (pc == hit->va)
		hit_undone(run, task, hit, sp, event);
	return false;
}

/* Put the trap back.  Where that is refused nothing counts any more. */
static void
trap_restore(struct run *run, struct task *task, const struct hit *hit)
{
	uint32_t site = hit_number(hit);

	/* Nothing counts any more where traps are to go. */
	if (task->process->space->stuck ||
	    hit->patched->patch == PATCH_FILTERED)
		return;
	if (!hit->site->lifted && trap_set(run, task, hit->va, run->arch->trap))
		module_unwritten(run, task->process->space, task->tid,
				 hit->module, &(struct batch){ &site, 1 });
}

int
patch_step(struct run *run, struct task *task, const struct hit *hit)
{
	struct event event = { EVENT_PAUSED, task->tid, 0 };

	run_pause(run, task->process->space, task, STOP_OTHER_STEPS);
	/* The task may have been killed meanwhile, with its event queued. */
	if (task->exiting || task->state != TASK_STOPPED)
		return HOST_OK;
	if (run->host->reg_set(task->tid, run->arch->reg_pc, hit->va)) {
		run_resume_last(run, task);
		return HOST_OK;
	}
	if (trap_set(run, task, hit->va, hit->patched->saved))
		return HOST_ERROR;
	/* A repeated string instruction steps by its iterations. */
	while (step_once(run, task, hit, &event))
		if (hit->site->insn.kind != INSN_PLAIN)
			hit_tell(run, task, hit, SITE_BEGUN);
	trap_restore(run, task, hit);
	if (event.kind == EVENT_PAUSED)
		run_resume_last(run, task);
	else
		run_requeue(run, &event);
	return HOST_OK;
}

int
patch_emulate(struct run *run, struct task *task, const struct hit *hit)
{
	struct owner owner = { run->host, task->tid };
	struct memory memory = owner_memory(&owner);
	bool taken = false;
	struct regs regs;

	if (run->host->regs_get(task->tid, &regs))
		return HOST_OK;
	regs.r[run->arch->reg_pc] = hit->va;
	switch (run->arch->emul_run(&hit->patched->emul, &regs, &memory)) {
	case EMUL_TAKEN:
		taken = true;
		break;
	case EMUL_DONE:
		break;
	case EMUL_FAULT:
		/* Let the processor say what is wrong, if anything is. */
		return patch_step(run, task, hit);
	}
	if (run->host->regs_set(task->tid, &regs))
		return HOST_OK;
	task->hit.open = false;
	if (taken)
		hit_tell(run, task, hit, SITE_TAKEN);
	if (!taken && hit->site->targets)
		hit_target(run, task, hit, regs.r[run->arch->reg_pc]);
	run_resume_last(run, task);
	return HOST_OK;
}
