/*
 * Finds the place where the program's dynamic linker reports libraries that are
 * loaded or unloaded, and hooks it, so that new libraries get their traps.
 * Reads the program's memory; never writes there itself.
 */
#include "monitor/patch/linker.h"

#include <elf.h>
#include <string.h>

#include "host/dynamic.h"
#include "monitor/patch/extend.h"
#include "monitor/patch/plant.h"
#include "monitor/patch/redirect.h"
#include "monitor/process/space.h"
#include "monitor/run.h"

/*
 * The same as dynamic_brk if the program is a dynamic linker itself, which has
 * no DT_DEBUG entry: like debuggers, pmon finds the function by its name.
 */
static uint64_t
linker_itself(struct run *run, struct task *task)
{
	uint64_t entry = run->host->auxv(task->tid, AT_ENTRY);
	const struct module *module = space_module(task->process->space, entry);
	const struct image *image = module ? module->plan->image : NULL;

	if (!image || !image->dyn || image->interp)
		return 0;
	for (size_t i = 0; i < image->nfuncs; i++)
		if (!strcmp(image->funcs[i].name, "_dl_debug_state"))
			return image->funcs[i].addr + module->bias;
	return 0;
}

static uint64_t
linker_debug(struct run *run, struct task *task)
{
	struct space *space = task->process->space;

	if (!space->link_debug)
		space->link_debug = dynamic_debug(run->host, task->tid);
	return space->link_debug;
}

/* Hook the place, and let calls be redirected from now on. */
static void
linker_hook(struct run *run, struct task *task)
{
	uint64_t brk;
	struct module *module;
	const struct site *site;

	brk = dynamic_brk(run->host, task->tid, linker_debug(run, task));
	if (!brk)
		brk = linker_itself(run, task);
	module = brk ? space_module(task->process->space, brk) : NULL;
	if (!module)
		return;
	redirect_begin(run, task->process->space);
	site = plan_site(module->plan, brk - module->bias);
	if (site && site->hook)
		return;
	plan_hook(module->plan, &(struct hook){
					.kind = HOOK_LOADED,
					.addr = brk - module->bias,
				});
	plan_extended(run, module->plan);
}

void
linker_look(struct run *run, struct task *task)
{
	process_rescan(run, task);
	linker_hook(run, task);
}

void
linker_told(struct run *run, struct task *task)
{
	if (dynamic_changes(run->host, task->tid, linker_debug(run, task)))
		return;
	/* Else pmon has looked behind the calls that have mapped them. */
	if (!run_maps_hooked(run))
		process_rescan(run, task);
	linker_hook(run, task);
}
