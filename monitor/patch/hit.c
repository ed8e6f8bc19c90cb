/*
 * Hits: finds out whether a task has stopped at one of pmon's traps, and tells
 * clients what its instruction has done.  Never lets a task run.
 */
#include "monitor/patch/hit.h"

#include <string.h>

#include "monitor/patch/filters.h"
#include "monitor/process/restart.h"
#include "monitor/process/signals.h"
#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"

/* A trap instruction of the program's own has no more bytes, prefixes included. */
enum { OWN_MAX = 4 };

bool
hit_trapped(const struct task *task, struct hit *hit)
{
	struct module *module;

	hit->va = filter_call(task->process->space, hit->va);
	module = space_module(task->process->space, hit->va);
	hit->module = module;
	hit->site = module ? plan_site(module->plan, hit->va - module->bias) :
			     NULL;
	if (!hit->site)
		return false;
	hit->patched = &module->patched[hit->site - module->plan->sites];
	return hit->patched->patch != PATCH_UNPLANTED;
}

bool
hit_before(struct run *run, const struct task *task, struct hit *hit)
{
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return false;
	hit->va = pc - run->arch->trap_pc;
	return hit_trapped(task, hit);
}

/* Whether the bytes at the site of a trap instruction are not the file's. */
static bool
text_overwritten(struct run *run, const struct task *task,
		 const struct hit *hit)
{
	uint8_t len = hit->site->insn.len, now[OWN_MAX];
	const uint8_t *text;
	size_t avail;

	text = image_text(hit->module->plan->image, hit->site->addr, &avail);
	return text && len <= sizeof(now) && avail >= len &&
	       !run->host->mem_read(task->process->space->mem, task->tid,
				    hit->va, now, len) &&
	       memcmp(now, text, len) != 0;
}

/*
 * Whether the pc is behind a trap instruction of the program's own that is longer
 * than pmon's (int $3 in two bytes).  It may have a patch by now.
 */
static bool
hit_own(struct run *run, const struct task *task, uint64_t pc, struct hit *hit)
{
	uint8_t trap_pc = run->arch->trap_pc;

	for (uint8_t len = trap_pc + 1; trap_pc && len <= OWN_MAX; len++) {
		hit->va = pc - len;
		if (hit_trapped(task, hit) && hit->site->insn.len == len &&
		    hit->site->insn.kind == INSN_TRAP &&
		    (hit->patched->patch == PATCH_OWN ||
		     text_overwritten(run, task, hit)))
			return run->host->trap_cause(task->tid) == TRAP_INSN;
	}
	return false;
}

int
hit_find(struct run *run, const struct task *task, struct hit *hit)
{
	uint8_t trap_pc = run->arch->trap_pc;
	uint64_t pc;

	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return HOST_GONE;
	hit->va = pc - trap_pc;
	if (!hit_trapped(task, hit))
		return hit_own(run, task, pc, hit) ? HOST_OK : HOST_ERROR;
	if (trap_pc && hit->site->insn.len > trap_pc)
		return HOST_OK;
	switch (run->host->trap_cause(task->tid)) {
	case TRAP_INSN:
		return HOST_OK;
	case TRAP_NONE:
		return HOST_GONE;
	case TRAP_SENT:
		/* Sent while it was blocked; the trap has unblocked it. */
		return sigtrap_waited(run, task) ? HOST_OK : HOST_ERROR;
	default:
		return HOST_ERROR;
	}
}

uint32_t
hit_number(const struct hit *hit)
{
	return (uint32_t)(hit->site - hit->module->plan->sites);
}

bool
hit_stands(struct run *run, const struct task *task, const struct hit *hit)
{
	const struct arch *arch = run->arch;
	uint8_t now[sizeof(arch->trap)];

	return !run->host->mem_read(task->process->space->mem, task->tid,
				    hit->va, now, arch->trap_len) &&
	       !memcmp(now, arch->trap, arch->trap_len);
}

bool
hit_overwritten(struct run *run, const struct task *task, const struct hit *hit)
{
	return hit->patched->patch == PATCH_OWN &&
	       text_overwritten(run, task, hit);
}

void
hit_tell(struct run *run, const struct task *task, const struct hit *hit,
	 enum site_event what)
{
	struct plan *plan = hit->module->plan;

	client_at_site(run, task, plan, hit->site - plan->sites, what);
}

void
hit_target(struct run *run, const struct task *task, const struct hit *hit,
	   uint64_t va)
{
	struct plan *plan = hit->module->plan;
	const struct module *to = space_module(task->process->space, va);

	client_went(run, task, plan, hit->site - plan->sites,
		    to ? to->plan : NULL, to ? va - to->bias : 0);
}

void
hit_stepped(struct run *run, const struct task *task, const struct hit *hit,
	    uint64_t pc)
{
	const struct site *site = hit->site;

	if (site->branch && pc == site->insn.target + hit->module->bias)
		hit_tell(run, task, hit, SITE_TAKEN);
	if (site->targets)
		hit_target(run, task, hit, pc);
}

void
hit_again(struct run *run, struct task *task)
{
	struct hit hit = { 0 };
	uint64_t sp;

	if (!restart_repeats(run, task, &hit.va) || !hit_trapped(task, &hit) ||
	    run->host->reg_get(task->tid, run->arch->reg_sp, &sp))
		return;
	task->redo.state = REDO_RETURNED;
	task->redo.va = hit.va;
	task->redo.sp = sp;
}

void
hit_undone(struct run *run, struct task *task, const struct hit *hit,
	   uint64_t sp, const struct event *event)
{
	int signal = event->value;

	task->hit.open = false;
	if (event->kind != EVENT_SIGNAL || !signal_caused(run, task, signal)) {
		hit_tell(run, task, hit, SITE_UNDONE);
		task->once.plan = NULL;
		return;
	}
	if (!signal_caught(run, task, signal))
		return;
	task->redo.state = REDO_HANDLER;
	task->redo.va = hit->va;
	task->redo.sp = sp;
}
