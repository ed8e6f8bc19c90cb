/*
 * Decides whether hooks see all system calls that map code in a space: as long
 * as they cover all code that the space can execute.  Code that the program
 * makes or changes has no hooks: then its tasks stop at all system calls.
 * Handles no system call: maps.c does.
 */
#include "monitor/patch/watch.h"

#include <elf.h>
#include <string.h>

#include "monitor/process/events.h"

void
space_watch(struct run *run, struct space *space)
{
	if (space->watched)
		return;
	space->watched = true;
	/* Those that run are to stop at the next call. */
	run_pause(run, space, NULL, STOP_WATCH);
}

/* ---- what is executable */

/* Whether the mapping is a part of the module's text, and as in the file. */
static bool
module_maps(const struct module *module, const struct mapping *map)
{
	const struct image *image = module->plan->image;

	if (module->dev != map->dev || module->ino != map->ino)
		return false;
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];
		uint64_t lo = (seg->addr + module->bias) / PAGE * PAGE;
		uint64_t hi = seg->addr + seg->memsz + module->bias + PAGE - 1;

		if (seg->flags & PF_X && map->lo >= lo &&
		    map->hi <= hi / PAGE * PAGE &&
		    map->offset == seg->offset / PAGE * PAGE + (map->lo - lo))
			return true;
	}
	return false;
}

/* Whether code of the module may map code without a hook. */
static bool
module_blind(const struct module *module)
{
	const struct plan *plan = module->plan;

	if (plan->maps_unseen || !plan->options.maps)
		return true;
	for (size_t i = 0; i < plan->nhooks; i++) {
		const struct hook *hook = &plan->hooks[i];
		const struct site *site = plan_site(plan, hook->addr);
		uint8_t patch;

		if (hook->kind != HOOK_MAP && hook->kind != HOOK_CALL)
			continue;
		if (!site || (size_t)(site - plan->sites) >= module->nsites)
			return true;
		patch = module->patched[site - plan->sites].patch;
		if (patch == PATCH_UNPLANTED || patch == PATCH_RETIRED ||
		    site->lost)
			return true;
	}
	return false;
}

/*
 * Whether the mapping is the kernel's, or pmon's: the kernel joins what pmon
 * mapped side by side.
 */
static bool
mapping_own(const struct space *space, const struct mapping *map)
{
	uint64_t at = map->lo;

	for (size_t i = 0; i < space->nown && at < map->hi; i++)
		if (at - space->own[i].lo < space->own[i].hi - space->own[i].lo)
			at = space->own[i].hi;
	return at >= map->hi || !strcmp(map->path, "[vdso]") ||
	       !strcmp(map->path, "[vsyscall]");
}

static bool
mapping_seen(const struct space *space, const struct mapping *map)
{
	if (map->write || map->shared)
		return false;
	if (map->path[0] != '/')
		return mapping_own(space, map);
	for (size_t i = 0; i < space->nmodules; i++)
		if (module_maps(space->modules[i], map))
			return !module_blind(space->modules[i]);
	return false;
}

void
watch_check(struct run *run, struct space *space, const struct mapping *maps,
	    size_t n)
{
	for (size_t i = 0; i < n && !space->watched; i++)
		if (maps[i].exec && !mapping_seen(space, &maps[i]))
			space_watch(run, space);
}

void
watch_extended(struct run *run, const struct plan *plan)
{
	for (struct process *p = run->processes; p && plan->options.maps;
	     p = p->next)
		for (size_t i = 0;
		     p->space && !p->space->watched && i < p->space->nmodules;
		     i++)
			if (p->space->modules[i]->plan == plan &&
			    module_blind(p->space->modules[i]))
				space_watch(run, p->space);
}
