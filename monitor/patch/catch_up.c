/*
 * Brings the text of a forked child's space up to date by the log of what was
 * changed in modules meanwhile.  Changes no module and no other space.
 */
#include "monitor/patch/catch_up.h"

#include "monitor/patch/extensions.h"
#include "monitor/patch/module.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/traps.h"
#include "monitor/process/space.h"

static void
relocated_reopen_new(struct run *run, struct space *space, pid_t tid,
		     const struct module *module)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; i < plan->nreopened; i++)
		relocated_reopen(run, space, tid, module, plan->reopened[i]);
}

/* Revert the relocated functions that were lost while the child was forked. */
static void
relocated_catch_up(struct run *run, struct space *space, pid_t tid,
		   const struct module *module)
{
	const struct plan *plan = module->plan;

	for (size_t i = 0; module->relocated && i < plan->nrelocated; i++)
		if (plan->fplans[plan->relocated_fplans[i]].lost)
			relocated_revert(run, space, tid, module,
					 plan->relocated_fplans[i]);
}

void
space_catch_up(struct run *run, struct space *space, pid_t tid, uint64_t since)
{
	struct extensions *log = run->extensions;

	for (size_t k = 0; k < space->nmodules; k++)
		relocated_reopen_new(run, space, tid, space->modules[k]);
	for (size_t i = 0; log && i < log->n; i++) {
		const struct extension *ext = &log->list[i];
		struct batch planted = { ext->planted, ext->nplanted };
		struct batch retired = { ext->retired, ext->nretired };
		struct span new = { ext->relocated_first, ext->relocated_end };
		struct module *module = ext->module;
		bool here = false;

		for (size_t k = 0; k < space->nmodules; k++)
			here |= space->modules[k] == module;
		if (!here || ext->number < since)
			continue;
		slots_write(run, space, tid, module, ext->first, ext->last);
		relocated_each(run, space, tid, module, new, relocated_code);
		if (module_edit(run, space, tid, module, &planted, trap_write))
			module_unwritten(run, space, tid, module, &planted);
		module_edit(run, space, tid, module, &retired, trap_remove);
		relocated_each(run, space, tid, module, new, relocated_enable);
	}
	for (size_t k = 0; k < space->nmodules; k++)
		relocated_catch_up(run, space, tid, space->modules[k]);
}
