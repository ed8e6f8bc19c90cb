/*
 * Links: a call in a function that has a copy, of another that has one, leads
 * there at once and not by the jump at the other's entry.  The call is the
 * original one, at its place, so nothing else about it changes.  A function
 * that has a trap at its entry is not called past it; and in a program that
 * may write text, which is to find its own there, none is.
 */
#include <elf.h>
#include <string.h>

#include "monitor/copies.h"
#include "monitor/links.h"
#include "monitor/task.h"
#include "monitor/text.h"

bool
links_lead(const struct plan *plan, const struct body *body)
{
	const struct point *point = body->copy ? copy_entry(body->copy) : NULL;
	const struct site *site;

	if (!point || point->via == VIA_TRAP || body->lost)
		return false;
	site = plan_site(plan, body->copy->entry);
	return !site || site->idle;
}

/* What is to be at a call, if it is to lead to a copy. */
static bool
link_patch(const struct module *module, const struct copy_call *call,
	   struct copy_patch *patch)
{
	const struct plan *plan = module->plan;
	uint32_t to = plan_body(plan, call->target);
	struct copy_place place;

	if (to == BODY_NONE || !links_lead(plan, &plan->bodies[to]))
		return false;
	place = copy_place(module, &plan->bodies[to]);
	return !copy_link(plan->bodies[to].copy, &place, call, patch);
}

/* Only where the file's bytes are. */
static void
link_write(struct run *run, const struct space *space, pid_t tid,
	   const struct module *module, const struct copy_call *call)
{
	struct copy_patch patch;
	uint8_t now[INSN_MAX];
	const uint8_t *text;
	size_t avail;

	if (!link_patch(module, call, &patch))
		return;
	text = image_text(module->plan->image, call->addr, &avail);
	if (text_read(run, space, tid, patch.va, now, patch.len) ||
	    memcmp(now, text, patch.len))
		return;
	text_write(run, space, tid, patch.va, patch.bytes, patch.len);
}

void
links_begin(struct space *space)
{
	if (space->links == LINKS_NOT_YET)
		space->links = LINKS_MADE;
}

/* A library that only maps files or memory may be trusted to do just that. */
static bool
image_rewrites(const struct plan *plan)
{
	const struct image *image = plan->image;

	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].flags & PF_X &&
		    image->segments[i].flags & PF_W)
			return true;
	return image->protects || (plan->wish.sel && image->maps);
}

void
links_yield(struct run *run, struct space *space, const struct plan *plan)
{
	enum links were = space->links;

	if (were == LINKS_NEVER || !image_rewrites(plan))
		return;
	space->links = LINKS_NEVER;
	if (were == LINKS_NOT_YET)
		return;
	run_pause(run, space, NULL, STOP_PLANT);
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];
		const struct task *task = run_stopped_task(run, space);

		for (size_t k = 0; task && k < module->ncopied; k++)
			links_undo(run, space, task->tid, module,
				   module->plan->copied[k]);
	}
}

void
links_write(struct run *run, const struct space *space, pid_t tid,
	    const struct module *module, uint32_t index)
{
	const struct body *body = &module->plan->bodies[index];

	if (space->links != LINKS_MADE)
		return;
	for (uint32_t i = 0; i < body->copy->ncalls; i++)
		link_write(run, space, tid, module, &body->copy->calls[i]);
	for (uint32_t i = 0; i < body->ncallers; i++)
		link_write(run, space, tid, module, &body->callers[i]);
}

void
links_undo(struct run *run, const struct space *space, pid_t tid,
	   const struct module *module, uint32_t index)
{
	const struct body *body = &module->plan->bodies[index];
	struct copy_place place = copy_place(module, body);
	struct copy_patch patch;

	for (uint32_t i = 0; i < body->ncallers; i++)
		if (!copy_link(body->copy, &place, &body->callers[i], &patch))
			patch_undo(run, space, tid, module, &patch);
}

void
links_apply(const struct module *module, const struct body *body, uint64_t lo,
	    size_t n, uint8_t *bytes)
{
	struct copy_patch patch;

	for (uint32_t i = 0; i < body->copy->ncalls; i++) {
		const struct copy_call *call = &body->copy->calls[i];

		if (call->addr - lo >= n ||
		    !link_patch(module, call, &patch))
			continue;
		for (size_t k = 0; k < patch.len; k++)
			if (call->addr + k - lo < n)
				bytes[call->addr + k - lo] = patch.bytes[k];
	}
}
