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
#include "monitor/process/task.h"

/* How often pmon looks whether a file's text alone can be executed now. */
enum { LOADING_LOOKS = 64 };

static void
watch_begin(struct run *run, struct space *space, unsigned loading)
{
	bool before = space->watched;

	space->watched = true;
	space->loading = loading;
	/* Those that run are to stop at the next call. */
	if (!before)
		run_pause(run, space, NULL, STOP_WATCH);
}

bool
space_watched(const struct space *space)
{
	return space->watched && !space->loading;
}

void
space_watch(struct run *run, struct space *space)
{
	watch_begin(run, space, 0);
}

struct sharers {
	const struct space *space;
	unsigned n;
};

static void
sharer_count(struct run *run, struct task *task, void *ctx)
{
	struct sharers *sharers = ctx;

	(void)run;
	sharers->n += task->process && task->process->space == sharers->space;
}

/*
 * Hooks see all calls again.  Another task may be in a call that no hook saw:
 * then look again later.
 */
static void
watch_end(struct run *run, struct space *space)
{
	struct sharers sharers = { .space = space };

	task_each(run, sharer_count, &sharers);
	space->loading--;
	if (sharers.n > 1)
		return;
	space->watched = false;
	space->loading = 0;
}

/* ---- what is executable */

/* What hooks see of the code that is executable. */
enum seen {
	SEEN_ALL,
	SEEN_TEXT,		/* but more of its file than the text can be
				   executed: the dynamic linker maps a library
				   as a whole, and then the rest otherwise */
	SEEN_NONE,
};

/* The va where the module's segments end. */
static uint64_t
module_end(const struct module *module)
{
	const struct image *image = module->plan->image;
	uint64_t end = 0;

	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (seg->addr + seg->memsz > end)
			end = seg->addr + seg->memsz;
	}
	return end + module->bias;
}

/*
 * How much of the mapping is the module's text, as in the file.  What is behind
 * the text may be what is left of a mapping of the whole file, where the dynamic
 * linker has taken the access to a gap, and is about to map the data.
 */
static enum seen
module_maps(const struct module *module, const struct mapping *map)
{
	const struct image *image = module->plan->image;

	if (module->dev != map->dev || module->ino != map->ino)
		return SEEN_NONE;
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];
		uint64_t lo = (seg->addr + module->bias) / PAGE * PAGE;
		uint64_t hi = seg->addr + seg->memsz + module->bias + PAGE - 1;

		if (seg->flags & PF_X && map->lo >= lo &&
		    map->lo < module_end(module) &&
		    map->offset == seg->offset / PAGE * PAGE + (map->lo - lo))
			return map->hi <= hi / PAGE * PAGE ? SEEN_ALL :
							     SEEN_TEXT;
	}
	return SEEN_NONE;
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

static enum seen
mapping_seen(const struct space *space, const struct mapping *map)
{
	if (map->write || map->shared)
		return SEEN_NONE;
	if (map->path[0] != '/')
		return mapping_own(space, map) ? SEEN_ALL : SEEN_NONE;
	for (size_t i = 0; i < space->nmodules; i++) {
		const struct module *module = space->modules[i];
		enum seen seen = module_maps(module, map);

		if (seen != SEEN_NONE)
			return module_blind(module) ? SEEN_NONE : seen;
	}
	return SEEN_NONE;
}

void
watch_check(struct run *run, struct space *space, const struct mapping *maps,
	    size_t n)
{
	enum seen seen = SEEN_ALL;

	if (space_watched(space))
		return;
	for (size_t i = 0; i < n && seen != SEEN_NONE; i++) {
		enum seen here = maps[i].exec ? mapping_seen(space, &maps[i]) :
						SEEN_ALL;

		if (here > seen)
			seen = here;
	}
	if (seen == SEEN_NONE)
		space_watch(run, space);
	else if (seen == SEEN_TEXT)
		watch_begin(run, space,
			    space->watched ? space->loading - 1 :
					     LOADING_LOOKS);
	else if (space->watched)
		watch_end(run, space);
}

void
watch_extended(struct run *run, const struct plan *plan)
{
	for (struct process *p = run->processes; p && plan->options.maps;
	     p = p->next)
		for (size_t i = 0; p->space && !space_watched(p->space) &&
				   i < p->space->nmodules;
		     i++)
			if (p->space->modules[i]->plan == plan &&
			    module_blind(p->space->modules[i]))
				space_watch(run, p->space);
}
