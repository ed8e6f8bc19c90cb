/*
 * Finds traps that a task ran into and did not report: the task was paused or
 * killed before it could report the signal, or was killed while pmon handled
 * it.  Its pc is then behind the trap, but the instruction there has not begun;
 * if it was counted, that is taken back.  Only looks at tasks that stand still;
 * resumes none.
 */
#include "monitor/patch/unreported.h"

#include <signal.h>

#include "monitor/patch/filters.h"
#include "monitor/patch/hit.h"
#include "monitor/patch/springs.h"
#include "monitor/process/space.h"

/* Whether a jump leads behind the one-byte instruction of the site. */
static bool
hit_joined(const struct hit *hit)
{
	const struct site *site = hit->site;
	const struct cfg *cfg = hit->module->plan->fplans[site->fplan].cfg;
	long block = cfg ? cfg_block(cfg, site->addr + site->insn.len) : -1;

	if (block < 0)
		return false;
	for (uint32_t e = cfg->in[block]; e < cfg->in[block + 1]; e++)
		if (cfg->edges[e].kind != EDGE_FALL)
			return true;
	return cfg->blocks[block].external;
}

/*
 * The pc is behind a one-byte instruction with a trap.  The instruction has
 * been done if the task was last seen at it and the stack pointer is what the
 * instruction makes of the one that the task had there.
 */
static enum unreported
hit_done(struct run *run, const struct task *task, const struct hit *hit)
{
	struct effect effect = { 0 };
	const uint8_t *code;
	size_t avail;
	uint64_t sp;

	if (task->hit.va != hit->va)
		return hit_joined(hit) ? UNREPORTED_PERHAPS : UNREPORTED_TRAP;
	code = image_text(hit->module->plan->image, hit->site->addr, &avail);
	if (!code || !run->arch->effect ||
	    run->arch->effect(code, avail, hit->site->addr, &effect) ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return UNREPORTED_PERHAPS;
	if (sp != task->hit.sp + (uint64_t)(int64_t)effect.sp)
		return UNREPORTED_TRAP;
	return effect.sp ? UNREPORTED_NOTHING : UNREPORTED_PERHAPS;
}

static enum unreported
hit_unreported(struct run *run, struct task *task, const struct hit *hit)
{
	struct signal_state state;

	if (hit->patched->patch == PATCH_OWN &&
	    (task->exiting || !hit_overwritten(run, task, hit)))
		return UNREPORTED_NOTHING;
	if (hit->site->insn.len > run->arch->trap_pc ||
	    (task->hit.open && task->hit.va == hit->va) ||
	    run->host->trap_cause(task->tid) == TRAP_INSN ||
	    (!run->host->signals(task->tid, &state) &&
	     signals_have(state.pending, SIGTRAP)))
		return UNREPORTED_TRAP;
	return task->exiting ? hit_done(run, task, hit) : UNREPORTED_NOTHING;
}

/* The site at va, whether or not it is counted; false if there is none. */
static bool
hit_at(const struct task *task, uint64_t va, struct hit *hit)
{
	hit->va = va;
	hit->module = space_module(task->process->space, va);
	hit->site = hit->module ? plan_site(hit->module->plan,
					    va - hit->module->bias) :
				  NULL;
	return hit->site;
}

/*
 * The task ends in a step from where a trap was lifted: find out whether the
 * instruction was done.  What a repeated instruction has done so far is not
 * looked at.
 */
static enum unreported
step_unreported(struct run *run, struct task *task, uint64_t pc,
		struct hit *hit)
{
	if (!hit_at(task, task->hit.va, hit))
		return UNREPORTED_NOTHING;
	if (pc == hit->va)
		return UNREPORTED_TRAP;
	task->hit.open = false;
	hit_stepped(run, task, hit, pc);
	return UNREPORTED_NOTHING;
}

/*
 * The pc is behind a byte of an entry's jump that traps.  At a task's last stop
 * nothing tells whether it did, or the task was about to begin there.
 */
static enum unreported
spring_unreported(struct run *run, struct task *task)
{
	struct signal_state state;

	if (run->host->trap_cause(task->tid) == TRAP_INSN ||
	    (!run->host->signals(task->tid, &state) &&
	     signals_have(state.pending, SIGTRAP)))
		return UNREPORTED_TRAP;
	return task->exiting ? UNREPORTED_PERHAPS : UNREPORTED_NOTHING;
}

enum unreported
trap_unreported(struct run *run, struct task *task)
{
	enum unreported unreported = UNREPORTED_NOTHING;
	struct hit hit = { 0 };
	struct code_at at;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return UNREPORTED_NOTHING;
	/* It ends of the fault: the instruction before is done. */
	if (task->exiting && task->fault_va == pc)
		return UNREPORTED_NOTHING;
	if (task->hit.open && task->hit.stepping)
		unreported = step_unreported(run, task, pc, &hit);
	else if (task->hit.open && task->hit.va == pc)
		/* The instruction was about to be stepped. */
		unreported = hit_at(task, pc, &hit) ? UNREPORTED_TRAP :
						      UNREPORTED_NOTHING;
	else if (hit_before(run, task, &hit))
		unreported = hit_unreported(run, task, &hit);
	else if ((hit.va = spring_before(run, task, SIGTRAP, &at)))
		unreported = spring_unreported(run, task);
	if (unreported != UNREPORTED_TRAP)
		return unreported;
	if (hit.site && task->hit.open && task->hit.va == hit.va) {
		hit_tell(run, task, &hit, SITE_UNDONE);
		unreported = UNREPORTED_UNDONE;
		task->once.plan = NULL;
	}
	task->hit.open = false;
	run->host->reg_set(task->tid, run->arch->reg_pc,
			   hit.site ? site_again(hit.module, hit.site) :
				      hit.va);
	return unreported;
}

void
hit_unseen(struct run *run, struct task *task)
{
	struct hit hit;

	if ((task->hit.open || task->hit.slotted) &&
	    hit_at(task, task->hit.va, &hit))
		hit_tell(run, task, &hit, SITE_UNDONE);
}
