/*
 * Handles traps: has clients told of the hit (hit.c) and the original
 * instruction done, in its place (step.c) or by running a copy of the
 * instruction out of line.
 *
 * A count is the number of times that an instruction was begun.  Two cases need
 * care.  If a signal comes before the instruction has run, the hit is taken
 * back: the trap counts it again when the handler has returned.  An instruction
 * that faults has begun; if a handler returns to it (the REDO_ states, then its
 * sigreturn), it runs again but is counted once.
 */
#include "monitor/trap.h"

#include <signal.h>

#include "monitor/deliver.h"
#include "monitor/patch/deferred.h"
#include "monitor/patch/extend.h"
#include "monitor/patch/filters.h"
#include "monitor/patch/hit.h"
#include "monitor/patch/lift.h"
#include "monitor/patch/moved.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/patch/relocated_text.h"
#include "monitor/patch/springs.h"
#include "monitor/patch/step.h"
#include "monitor/process/affinity.h"
#include "monitor/process/events.h"
#include "monitor/process/faults.h"
#include "monitor/process/sigtrap.h"
#include "monitor/unwind/abnormal.h"

/* ---- instructions that faulted */

void
trap_syscall(struct run *run, struct task *task, bool entry)
{
	struct regs regs;

	if (task->redo.state == REDO_NONE || entry)
		return;
	if (run->host->regs_get(task->tid, &regs))
		return;
	/* Only sigreturn leaves with the pc on an instruction with a trap. */
	if (regs.r[run->arch->reg_pc] == task->redo.va &&
	    regs.r[run->arch->reg_sp] == task->redo.sp)
		task->redo.state = REDO_RETURNED;
}

/*
 * Whether this arrival at va begins the instruction again that faulted and has
 * been counted already.
 */
static bool
redo_take(struct run *run, struct task *task, uint64_t va)
{
	bool returned = task->redo.state == REDO_RETURNED;
	uint64_t sp = 0;

	/* Any other arrival here: the handler left by another way. */
	if (task->redo.va == va || returned)
		task->redo.state = REDO_NONE;
	return returned && task->redo.va == va &&
	       !run->host->reg_get(task->tid, run->arch->reg_sp, &sp) &&
	       sp == task->redo.sp;
}

/* Let the task go on at va: elsewhere, or behind its instruction. */
static void
trap_leave(struct run *run, struct task *task, uint64_t va)
{
	if (run->host->reg_set(task->tid, run->arch->reg_pc, va))
		return;
	task->hit.open = false;
	run_resume_last(run, task);
}

/* ---- the trap */

/*
 * Whether the hit is counted already: the program's own trap has waited until
 * another task's had been handled (sigtrap_restore).
 */
static bool
hit_waited(const struct task *task, const struct hit *hit)
{
	return hit->patched->patch == PATCH_OWN && task->hit.open &&
	       task->hit.va == hit->va;
}

static void
hit_begin(struct run *run, struct task *task, const struct hit *hit)
{
	if (hit_waited(task, hit))
		return;
	if (!task->process->counted ||
	    (task->redo.state != REDO_NONE && redo_take(run, task, hit->va)))
		return;
	hit_tell(run, task, hit, SITE_BEGUN);
	task->hit.va = hit->va;
	task->hit.open = true;
	if (run->opts->once && !hit->site->lifted) {
		task->once.plan = hit->module->plan;
		task->once.site = hit->site - hit->module->plan->sites;
	}
	if (hit->site->insn.len == run->arch->trap_pc &&
	    run->host->reg_get(task->tid, run->arch->reg_sp, &task->hit.sp))
		task->hit.sp = 0;
}

/*
 * With --once: the task is at another trap, so the instruction that it hit
 * before has begun, unless that hit was taken back: remove that trap.  Not
 * earlier, since a hit that is taken back must be hit again.
 */
static void
once_passed(struct run *run, struct task *task)
{
	struct plan *plan = task->once.plan;

	task->once.plan = NULL;
	if (plan && !plan->sites[task->once.site].lifted)
		plan_lift(run, plan, task->once.site);
}

/* The trap leads into the relocated function. */
static void
hit_lead(struct run *run, struct task *task, const struct hit *hit)
{
	relocated_arrive(run, task, hit->module, hit->site);
	trap_leave(run, task, relocated_enter(hit->module, hit->site));
}

/*
 * A function is entered for the first time: place and plant its counters, and
 * run its entry again, now with what is counted there, if anything.
 */
static void
hit_ready(struct run *run, struct task *task, struct hit *hit)
{
	struct plan *plan = hit->module->plan;
	const struct func_plan *fplan = &plan->fplans[hit->site->fplan];

	plan_ready(plan, hit->site->fplan);
	plan_extended(run, plan);
	/* The trap may be gone, and the site may have moved. */
	if (!hit_trapped(task, hit) || !entry_deferred(hit->module, fplan)) {
		trap_leave(run, task, hit->va);
		return;
	}
	hit_begin(run, task, hit);
	hit_lead(run, task, hit);
}

static enum stop_cause
hook_cause(const struct hook *hook)
{
	switch ((enum hook_kind)hook->kind) {
	case HOOK_STACK_SWITCH:
		return hook->depth ? STOP_UNWOUND : STOP_SWITCH;
	case HOOK_ENTRY:
		return STOP_UNWINDER;
	case HOOK_EXEC:
		return STOP_EXECS;
	case HOOK_CALL:
		return STOP_COMPUTED;
	case HOOK_MAP:
		return STOP_MAPS;
	case HOOK_CLONE:
		return STOP_CLONES;
	case HOOK_SIGACTION:
		return STOP_SIGACTION;
	case HOOK_SIGPROCMASK:
		return STOP_SIGPROCMASK;
	case HOOK_START:
		return STOP_STARTS;
	case HOOK_LOADED:
		return STOP_LOADED;
	case HOOK_SIGRETURN:
	case HOOK_OTHER_CALL:
		break;
	}
	return STOP_SIGRETURN;
}

static enum stop_cause
hit_cause(const struct hit *hit)
{
	static const uint8_t causes[] = {
		[PATCH_UNPLANTED] = STOP_SIGTRAP,
		[PATCH_STEPPED] = STOP_STEPPED,
		[PATCH_SLOTTED] = STOP_SLOTTED,
		[PATCH_FILTERED] = STOP_COMPUTED,
		[PATCH_EMULATED] = STOP_EMULATED,
		[PATCH_SKIPPED] = STOP_SKIPPED,
		[PATCH_OWN] = STOP_SIGTRAP,
		[PATCH_LEADS] = STOP_LEADS,
		[PATCH_WAITING] = STOP_ENTERED,
		[PATCH_HOST] = STOP_SIGTRAP,
		[PATCH_RETIRED] = STOP_VOID,
	};

	if (hit->site->hook)
		return hook_cause(
			&hit->module->plan->hooks[hit->site->hook - 1]);
	return hit->site->waiting ? STOP_ENTERED : causes[hit->patched->patch];
}

/*
 * Whether the site waits and has a hook where stacks are left: handle that hook
 * when the task comes to the instruction again, or it would be handled twice.
 */
static bool
hit_waits_first(const struct hit *hit)
{
	const struct site *site = hit->site;

	return site->waiting && site->hook &&
	       (hit->module->plan->hooks[site->hook - 1].kind ==
			HOOK_STACK_SWITCH ||
		hit->module->plan->hooks[site->hook - 1].kind == HOOK_ENTRY);
}

/* Whether the site's relocated function was given up. */
static bool
hit_lost(const struct hit *hit)
{
	return hit->site->fplan != FPLAN_NONE &&
	       hit->module->plan->fplans[hit->site->fplan].lost;
}

/*
 * The hit is counted: do the instruction, and let the task go on.  HOST_ERROR
 * if the trap had to be lifted and could not be.
 */
static int
hit_do(struct run *run, struct task *task, const struct hit *hit, int signal)
{
	switch ((enum patch)hit->patched->patch) {
	case PATCH_UNPLANTED:
	case PATCH_OWN:
	case PATCH_WAITING:
	case PATCH_RETIRED:
	case PATCH_HOST:
		trap_deliver(run, task, signal);
		break;
	case PATCH_LEADS:
		if (deferred_hit(hit->module, hit->site))
			module_undefer(run, hit->module);
		if (hit_lost(hit) &&
		    !relocated_stands(run, task, hit->module, hit->site))
			return HOST_ERROR;
		hit_lead(run, task, hit);
		break;
	case PATCH_STEPPED:
		return patch_step(run, task, hit);
	case PATCH_SLOTTED:
		if (hit->still)
			return patch_step(run, task, hit);
		task->hit.slotted = true;
		trap_leave(run, task,
			   hit->module->slots +
				   (uint64_t)hit->patched->slot * SLOT_MAX);
		break;
	case PATCH_FILTERED:
		if (hit->still)
			return patch_step(run, task, hit);
		trap_leave(run, task, filter_onward(hit->module, hit->site));
		break;
	case PATCH_EMULATED:
		return patch_emulate(run, task, hit);
	case PATCH_SKIPPED:
		trap_leave(run, task, hit->patched->emul.imm);
		break;
	}
	return HOST_OK;
}

/*
 * The same.  If the kernel refuses to lift the trap, the instruction is done
 * without that, or not yet: the task hits the trap again.
 */
static void
hit_pass(struct run *run, struct task *task, const struct hit *hit, int signal)
{
	const struct event again = { EVENT_PAUSED, task->tid, 0 };
	struct hit stuck = *hit;
	uint64_t sp;

	if (!hit_do(run, task, hit, signal))
		return;
	stuck.still = false;
	if (hit_stands(run, task, hit)) {
		site_stuck(run, hit->module, hit_number(hit));
		if (!hit_do(run, task, &stuck, signal))
			return;
	}
	if (!run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		hit_undone(run, task, hit, sp, &again);
	trap_leave(run, task, hit->va);
}

/* Handle the hook of a site; false if the hit needs nothing more. */
static bool
hit_hook(struct run *run, struct task *task, struct hit *hit)
{
	uint32_t hook = hit->site->hook;
	uint8_t kind = hit->module->plan->hooks[hook - 1].kind;
	int still = kind == HOOK_SIGACTION || kind == HOOK_CALL ?
			    sigtrap_still(run, task) :
			    0;

	if (still == HOST_GONE)
		return false;
	hit->still = still;
	abnormal_hook(run, task, hit->module, hook);
	if (task->process->space && !sigtrap_lasts(task))
		space_undefer(run, task->process->space);
	/* The hook may have planted more, so the site may have moved. */
	if (hit_trapped(task, hit))
		return true;
	trap_leave(run, task, hit->va);
	return false;
}

/*
 * The site has no trap any more.  If it does, as the kernel has refused to write,
 * do its instruction, or lead into a relocated function that was given up: of
 * the original some text may be changed for good.  false if the instruction is
 * to be done.
 */
static bool
hit_retired(struct run *run, struct task *task, const struct hit *hit)
{
	if (!hit_stands(run, task, hit)) {
		trap_leave(run, task, hit->va);
		return true;
	}
	if (hit_lost(hit) &&
	    relocated_stands(run, task, hit->module, hit->site)) {
		hit_lead(run, task, hit);
		return true;
	}
	site_stuck(run, hit->module, hit_number(hit));
	return false;
}

/*
 * Counting has stopped, and the trap could not be removed: do what leads on, and
 * plant nothing.
 */
static void
hit_stuck(struct run *run, struct task *task, const struct hit *hit, int signal)
{
	uint8_t patch = hit->patched->patch;

	if (hit->patched->filtered) {
		trap_leave(run, task, filter_onward(hit->module, hit->site));
		return;
	}
	if (patch != PATCH_OWN && !hit_stands(run, task, hit)) {
		trap_leave(run, task, hit->va);
		return;
	}
	if (patch != PATCH_OWN &&
	    relocated_stands(run, task, hit->module, hit->site)) {
		trap_leave(run, task, relocated_enter(hit->module, hit->site));
		return;
	}
	if (patch == PATCH_WAITING || patch == PATCH_RETIRED)
		site_stuck(run, hit->module, hit_number(hit));
	hit_pass(run, task, hit, signal);
}

bool
trap_spring(struct run *run, struct task *task, int signal)
{
	struct code_at at;
	uint64_t va = spring_reached(run, task, signal, &at);

	if (!va)
		return false;
	if (va == task->sprung_va && spring_removed(run, task, &at, va)) {
		task->sprung_va = 0;
		return false;
	}
	stop_is(run, task, STOP_LEADS);
	if (signal == SIGTRAP && sigtrap_mend(run, task))
		return true;
	task->sprung_va = va;
	abnormal_passed(run, task, 0);
	plan_unspring(at.module->plan, at.index, at.addr);
	plan_extended(run, at.module->plan);
	trap_leave(run, task, va);
	return true;
}

/* A trap that moved with its text is gone; the task goes on there. */
static bool
trap_moved(struct run *run, struct task *task)
{
	uint64_t va = moved_reached(run, task);

	if (!va)
		return false;
	stop_is(run, task, STOP_VOID);
	if (!sigtrap_mend(run, task))
		trap_leave(run, task, va);
	return true;
}

/* A probe had no room for its record.  The records have been read meanwhile. */
static bool
trap_full(struct run *run, struct task *task)
{
	if (!relocated_full(run, task))
		return false;
	stop_is(run, task, STOP_RECORDS);
	if (!sigtrap_mend(run, task))
		run_resume_last(run, task);
	return true;
}

/*
 * The program's own trap was hit before another task's first entry had a patch
 * written over it: take the hit back.  The patch leads to the relocated trap.
 * Delivered here, its signal would come back to the middle of the patch.
 */
static bool
trap_overwritten(struct run *run, struct task *task, const struct hit *hit)
{
	if (!hit_overwritten(run, task, hit))
		return false;
	stop_is(run, task, STOP_VOID);
	if (!sigtrap_mend(run, task))
		trap_leave(run, task, hit->va);
	return true;
}

void
trap_handle(struct run *run, struct task *task, int signal)
{
	struct hit hit = { .still = false };

	switch (hit_find(run, task, &hit)) {
	case HOST_OK:
		break;
	case HOST_GONE:
		return;
	default:
		if (trap_spring(run, task, SIGTRAP) || trap_moved(run, task) ||
		    trap_full(run, task))
			return;
		stop_is(run, task, STOP_SIGTRAP);
		trap_deliver(run, task, signal);
		return;
	}
	if (trap_overwritten(run, task, &hit))
		return;
	stop_is(run, task, hit_cause(&hit));
	affinity_trap(run, task, hit.site->waiting);
	if (task->exiting || task->state != TASK_STOPPED)
		return;
	if (hit.patched->patch != PATCH_OWN && sigtrap_mend(run, task))
		return;
	if (task->process->space->stuck) {
		hit_stuck(run, task, &hit, signal);
		return;
	}
	abnormal_passed(run, task, 0);
	once_passed(run, task);
	if (hit_waits_first(&hit)) {
		hit_ready(run, task, &hit);
		return;
	}
	if (hit.site->hook && !hit_hook(run, task, &hit))
		return;
	if (hit.site->waiting) {
		hit_ready(run, task, &hit);
		return;
	}
	if (hit.patched->patch == PATCH_RETIRED && hit_retired(run, task, &hit))
		return;
	hit_begin(run, task, &hit);
	hit_pass(run, task, &hit, signal);
}
