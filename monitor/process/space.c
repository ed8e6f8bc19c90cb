/*
 * Address spaces: makes them, and answers what their modules' plans say of
 * them.  Never changes a process.
 */
#include "monitor/process/space.h"

#include <stdlib.h>

#include "monitor/process/shared_page.h"
#include "monitor/process/thread_memory.h"
#include "util/mem.h"

struct space *
space_new(int mem)
{
	struct space *space = mem_alloc(sizeof(*space));

	space->refs = 1;
	space->mem = mem;
	return space;
}

struct space *
space_copy(const struct space *space, int mem, uint64_t since)
{
	struct space *copy = space_new(mem);

	copy->thread_pages = thread_pages_copy(space->thread_pages, since);
	copy->relocates = space->relocates;
	copy->switch_scratch = space->switch_scratch;
	copy->redirection = space->redirection;
	copy->own_thread_reg = space->own_thread_reg ?
				       mem_strdup(space->own_thread_reg) :
				       NULL;
	copy->watched = space->watched;
	copy->loading = space->loading;
	copy->stuck = space->stuck;
	copy->unhooked = space->unhooked;
	for (size_t i = 0; i < space->nown; i++)
		*vec_push(copy->own, copy->nown) = space->own[i];
	for (size_t i = 0; i < space->nvacated; i++)
		*vec_push(copy->vacated, copy->nvacated) = space->vacated[i];
	for (size_t i = 0; i < space->nlasting; i++)
		*vec_push(copy->lasting, copy->nlasting) = space->lasting[i];
	for (size_t i = 0; i < space->nmodules; i++) {
		space->modules[i]->refs++;
		*vec_push(copy->modules, copy->nmodules) = space->modules[i];
	}
	return copy;
}

void
space_ref(struct space *space)
{
	space->refs++;
}

void
module_drop(struct module *module)
{
	if (--module->refs)
		return;
	free(module->patched);
	free(module->slot_site);
	for (size_t i = 0; i < module->nswitches; i++)
		free(module->switches[i]);
	free(module->switches);
	for (size_t i = 0; i < module->nentries; i++)
		free(module->entries[i]);
	free(module->entries);
	shared_page_close(module);
	free(module);
}

struct module *
space_module(const struct space *space, uint64_t va)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (va - space->modules[i]->lo <
		    space->modules[i]->hi - space->modules[i]->lo)
			return space->modules[i];
	return NULL;
}

struct code_at
code_at(const struct space *space, uint64_t va)
{
	struct code_at at = {
		.module = space_module(space, va),
		.index = FPLAN_NONE,
	};

	if (!at.module)
		return at;
	at.addr = va - at.module->bias;
	at.index = plan_func(at.module->plan, at.addr);
	if (at.index != FPLAN_NONE)
		at.fplan = &at.module->plan->fplans[at.index];
	return at;
}

bool
space_infers(const struct space *space)
{
	for (size_t i = 0; space && i < space->nmodules; i++)
		if (plan_infers(space->modules[i]->plan))
			return !space->modules[i]->plan->options.no_traps;
	return false;
}

unsigned
space_follows(const struct space *space)
{
	unsigned follows = 0;

	for (size_t i = 0; i < space->nmodules; i++)
		if (!space->modules[i]->plan->options.no_traps)
			follows |= plan_follows(space->modules[i]->plan);
	return follows;
}

bool
space_known(const struct space *space)
{
	return space_infers(space) || (space && space->relocates);
}

bool
space_hooked(const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (!space->modules[i]->plan->options.no_traps)
			return true;
	return space_known(space);
}

void
space_calls_underivable(struct run *run, struct space *space,
			enum count_reason reason, const char *why)
{
	bool derived = false;

	for (size_t i = 0; i < space->nmodules; i++) {
		struct plan *plan = space->modules[i]->plan;

		if (!plan_infers(plan))
			continue;
		plan->calls_underivable = true;
		if (!plan->calls_reason)
			plan->calls_reason = reason;
		derived |= plan->underivable || !plan->options.leaks;
	}
	/*
	 * Where all calls are counted behind, nothing was derived behind them.
	 */
	if (derived)
		run_remark(run, "not all counts can be derived: %s", why);
}

void
space_underivable(struct run *run, struct space *space,
		  enum count_reason reason, const char *why)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		struct plan *plan = space->modules[i]->plan;

		if (!plan_infers(plan))
			continue;
		plan->underivable = true;
		if (!plan->underivable_reason)
			plan->underivable_reason = reason;
	}
	space_calls_underivable(run, space, REASON_STACK, why);
}

void
space_unfollowed(struct run *run, struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		if (!space->modules[i]->plan->unfollowed)
			continue;
		space_calls_underivable(
			run, space, REASON_DROPPED,
			"stops where stacks are left cost too much");
		return;
	}
}

static void
plan_unwritten(struct plan *plan)
{
	for (size_t i = 0; i < plan->nfplans; i++)
		plan->fplans[i].unwritten = true;
}

void
space_unhooked(struct space *space)
{
	space->unhooked = true;
	for (size_t i = 0; i < space->nmodules; i++)
		plan_unwritten(space->modules[i]->plan);
}

void
space_add(struct space *space, struct module *module)
{
	if (space->unhooked)
		plan_unwritten(module->plan);
	*vec_push(space->modules, space->nmodules) = module;
}
