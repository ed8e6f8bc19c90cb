/*
 * Redirects direct calls: a call between two functions that have relocated
 * functions goes to the callee's relocated function at once, not by the jump at
 * its entry.  The call instruction stays in the original, so return addresses
 * are as before.  So a function that is too short for a jump, and is entered by
 * a trap, costs its direct callers nothing; nor does one that is called in its
 * middle (Go's duffzero).  No call goes past a trap that does more than lead into
 * the relocated function.
 * In a program that may write text, no call is redirected: what it writes at a
 * function's beginning must take effect.
 */
#include "monitor/patch/redirect.h"

#include <string.h>

#include "monitor/patch/relocated.h"
#include "monitor/patch/text_edit.h"
#include "monitor/process/events.h"
#include "relocate/patch_bytes.h"

/* Whether a trap at addr, if there is one, does nothing but lead on. */
static bool
trap_passable(const struct plan *plan, uint64_t addr)
{
	const struct site *site = plan_site(plan, addr);

	return !site || site->idle ||
	       (site->leads && !site->hook && !site->targets && !site->skips);
}

bool
redirect_allowed(const struct plan *plan, const struct func_plan *fplan,
		 uint64_t target)
{
	const struct entry_patch *entry_patch =
		fplan->relocated ? relocated_called(fplan->relocated, target) :
				   NULL;

	return entry_patch && !fplan->lost &&
	       trap_passable(plan, entry_patch->addr) &&
	       trap_passable(plan, target);
}

/* The patch that redirects a call; false if the call must not be redirected. */
static bool
redirect_patch(const struct module *module, const struct direct_call *call,
	       struct code_patch *patch)
{
	const struct plan *plan = module->plan;
	uint32_t to = plan_func(plan, call->target);
	struct relocated_place place;

	if (to == FPLAN_NONE ||
	    !redirect_allowed(plan, &plan->fplans[to], call->target))
		return false;
	place = relocated_place(module, &plan->fplans[to]);
	return !relocated_redirect(plan->fplans[to].relocated, &place, call,
				   patch);
}

/* Redirect a call, if the bytes there are the file's. */
static void
redirect_call(struct run *run, const struct space *space, pid_t tid,
	      const struct module *module, const struct direct_call *call)
{
	struct code_patch patch;
	uint8_t now[INSN_MAX];
	const uint8_t *text;
	size_t avail;

	if (!redirect_patch(module, call, &patch))
		return;
	text = image_text(module->plan->image, call->addr, &avail);
	if (text_read(run, space, tid, patch.va, now, patch.len) ||
	    memcmp(now, text, patch.len))
		return;
	text_write(run, space, tid, patch.va, patch.bytes, patch.len);
}

/*
 * Redirect the calls between functions that were relocated when the module was
 * planted.  All tasks of the space stand still.  A call that cannot be written
 * stays as it is.
 */
static void
module_redirect(struct run *run, struct space *space, pid_t tid,
		const struct module *module)
{
	const struct plan *plan = module->plan;

	if (!module->nrelocated)
		return;
	text_drop(space);
	text_buffer(space, module->lo, module->hi, BUFFER_TEXT);
	for (size_t i = 0; i < module->nrelocated; i++) {
		const struct func_plan *fplan =
			&plan->fplans[plan->relocated_fplans[i]];

		for (uint32_t k = 0;
		     !fplan->lost && k < fplan->relocated->ncalls; k++)
			redirect_call(run, space, tid, module,
				      &fplan->relocated->calls[k]);
	}
	text_flush(run, space, tid);
	text_drop(space);
}

void
redirect_begin(struct run *run, struct space *space)
{
	const struct task *task;

	if (space->redirection != REDIRECTION_NOT_YET)
		return;
	space->redirection = REDIRECTION_MADE;
	if (!run->opts->argv)
		return;
	run_pause(run, space, NULL, STOP_PLANT);
	task = run_stopped_task(run, space);
	for (size_t i = 0; task && i < space->nmodules; i++)
		module_redirect(run, space, task->tid, space->modules[i]);
}

void
redirect_yield(struct run *run, struct space *space, const struct plan *plan)
{
	enum redirection were = space->redirection;

	if (were == REDIRECTION_NEVER || !plan_rewrites(plan))
		return;
	space->redirection = REDIRECTION_NEVER;
	if (were == REDIRECTION_NOT_YET)
		return;
	run_pause(run, space, NULL, STOP_PLANT);
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];
		const struct task *task = run_stopped_task(run, space);

		for (size_t k = 0; task && k < module->nrelocated; k++)
			redirect_undo(run, space, task->tid, module,
				      module->plan->relocated_fplans[k]);
	}
}

void
redirect_write(struct run *run, const struct space *space, pid_t tid,
	       const struct module *module, uint32_t index)
{
	const struct func_plan *fplan = &module->plan->fplans[index];

	if (space->redirection != REDIRECTION_MADE)
		return;
	for (uint32_t i = 0; i < fplan->relocated->ncalls; i++)
		redirect_call(run, space, tid, module,
			      &fplan->relocated->calls[i]);
	for (uint32_t i = 0; i < fplan->ncallers; i++)
		redirect_call(run, space, tid, module, &fplan->callers[i]);
}

void
redirect_review(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, uint32_t index)
{
	const struct func_plan *fplan = &module->plan->fplans[index];

	for (uint32_t i = 0; i < fplan->ncallers; i++)
		if (!redirect_allowed(module->plan, fplan,
				      fplan->callers[i].target)) {
			redirect_undo(run, space, tid, module, index);
			return;
		}
}

void
redirect_undo(struct run *run, const struct space *space, pid_t tid,
	      const struct module *module, uint32_t index)
{
	const struct func_plan *fplan = &module->plan->fplans[index];
	struct relocated_place place = relocated_place(module, fplan);
	struct code_patch patch;

	for (uint32_t i = 0; i < fplan->ncallers; i++)
		if (!relocated_redirect(fplan->relocated, &place,
					&fplan->callers[i], &patch))
			patch_undo(run, space, tid, module, &patch);
}

void
redirect_apply(const struct module *module, const struct func_plan *fplan,
	       uint64_t lo, size_t n, uint8_t *bytes)
{
	struct code_patch patch;

	for (uint32_t i = 0; i < fplan->relocated->ncalls; i++) {
		const struct direct_call *call = &fplan->relocated->calls[i];

		if (call->addr - lo >= n ||
		    !redirect_patch(module, call, &patch))
			continue;
		for (size_t k = 0; k < patch.len; k++)
			if (call->addr + k - lo < n)
				bytes[call->addr + k - lo] = patch.bytes[k];
	}
}
