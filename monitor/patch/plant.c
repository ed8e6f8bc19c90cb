/*
 * Finds which images a space has mapped and where, and makes and drops its
 * modules.  Never writes to text: module.c does.
 */
#include "monitor/patch/plant.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "monitor/patch/extend.h"
#include "monitor/patch/foreseen.h"
#include "monitor/patch/module.h"
#include "monitor/patch/redirect.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/vacated.h"
#include "monitor/patch/watch.h"
#include "monitor/process/object.h"
#include "monitor/process/owners.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_pages.h"
#include "monitor/run.h"
#include "util/mem.h"
#include "util/search.h"

/* ---- modules of a process */

static void
module_extent(struct module *module)
{
	const struct image *image = module->plan->image;

	module->lo = UINT64_MAX;
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (!(seg->flags & PF_X))
			continue;
		if (seg->addr + module->bias < module->lo)
			module->lo = seg->addr + module->bias;
		if (seg->addr + seg->memsz + module->bias > module->hi)
			module->hi = seg->addr + seg->memsz + module->bias;
	}
}

/* Add hooks to the modules that were planted before anything was derived. */
static void
space_hook(struct run *run, const struct space *space)
{
	unsigned follows = space_follows(space);

	for (size_t i = 0; i < space->nmodules; i++)
		if (plan_hooks(space->modules[i]->plan, follows))
			plan_extended(run, space->modules[i]->plan);
}

/* The plan's module where `map` is a part of it; nothing is planted. */
static struct module
module_make(struct plan *plan, uint64_t bias, const struct mapping *map)
{
	struct module module = {
		.refs = 1,
		.plan = plan,
		.bias = bias,
		.map_lo = map->lo,
		.dev = map->dev,
		.ino = map->ino,
	};

	module_extent(&module);
	return module;
}

/* What a space has mapped, ascending. */
struct mappings {
	struct mapping *list;
	size_t n;
};

/* Modules that are to be planted, each the caller's until it is. */
struct module_list {
	struct module **modules;
	size_t n;
};

static void
module_add(struct module_list *list, struct plan *plan, uint64_t bias,
	   const struct mapping *map)
{
	struct module *module = mem_alloc(sizeof(*module));

	*module = module_make(plan, bias, map);
	*vec_push(list->modules, list->n) = module;
}

static void
module_plant(struct run *run, struct task *task, struct module *module)
{
	struct space *space = task->process->space;

	redirect_yield(run, space, module->plan);
	if (module_fill(run, task, module,
			foreseen_find(run, task->process->pid, module))) {
		module_drop(module);
		return;
	}
	space_add(space, module);
	space_unfollowed(run, space);
	if (run->host->native)
		space_hook(run, space);
}

/*
 * Plant the modules, and free the list.  The process has these maps, or an attach
 * has foreseen where its modules' memory will be.
 */
static void
modules_plant(struct run *run, struct task *task, struct module_list *list,
	      const struct mappings *maps)
{
	struct space *space = task->process->space;

	for (size_t i = 0; i < list->n; i++)
		if (thread_pages_yield(run, space,
				       list->modules[i]->plan->image))
			relocated_refuse_space(run, space);
	for (size_t i = 0; i < list->n; i++)
		module_resettle(space, list->modules[i], maps->list, maps->n);
	if (maps->n && list->n && !run->nforeseen)
		modules_room(run, task, list->modules, list->n, maps->list,
			     maps->n);
	for (size_t i = 0; i < list->n; i++)
		module_plant(run, task, list->modules[i]);
	free(list->modules);
	*list = (struct module_list){ 0 };
}

/* The bias of an image of which `map` is a part; false if it is none. */
static bool
image_bias(const struct image *image, const struct mapping *map, uint64_t *bias)
{
	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (!(seg->flags & PF_X) ||
		    seg->offset / PAGE != map->offset / PAGE)
			continue;
		*bias = map->lo - seg->addr / PAGE * PAGE;
		return image->dyn || !*bias;
	}
	return false;
}

/* An image may have several executable segments, but is one module. */
static bool
module_there(struct module *const *modules, size_t n, const struct plan *plan,
	     uint64_t bias)
{
	for (size_t i = 0; i < n; i++)
		if (modules[i]->plan == plan && modules[i]->bias == bias)
			return true;
	return false;
}

/* Is the mapping part of one of the modules, whatever that counts? */
static bool
module_known(struct module *const *modules, size_t n, const struct mapping *map)
{
	for (size_t i = 0; i < n; i++) {
		const struct module *module = modules[i];

		if (module->dev == map->dev && module->ino == map->ino &&
		    (module->map_lo == map->lo ||
		     map->lo - module->lo < module->hi - module->lo))
			return true;
	}
	return false;
}

/*
 * The plan of the file that is mapped there, or NULL: one that is counted or,
 * if all files must be known, one with hooks.
 */
static struct plan *
mapping_plan(struct run *run, const struct mapping *map, bool known,
	     unsigned follows, const char *open_path, const char **unread)
{
	struct plan *plan = object_plan(run, map->path, open_path, false);

	*unread = NULL;
	if (plan || !known)
		return plan;
	plan = object_hooks(run, map->path, open_path, unread);
	if (plan && plan_hooks(plan, follows))
		plan_extended(run, plan);
	return plan;
}

/* What the modules of a space demand of the files that it has mapped. */
struct demand {
	bool known;		/* their hooks must be known */
	unsigned follows;
};

static struct demand
space_demand(const struct run *run, const struct space *space)
{
	return (struct demand){
		.known = run_maps_hooked(run) || space_hooked(space),
		.follows = space_follows(space),
	};
}

/*
 * Add to the list the file that is mapped there, if it has a plan and is not
 * planted.  Returns why its hooks are not known, or NULL.
 */
static const char *
mapping_add(struct run *run, const struct task *task, const struct mapping *map,
	    const struct demand *demand, struct module_list *list)
{
	const struct space *space = task->process->space;
	const char *unread;
	struct plan *plan;
	char *open_path;
	uint64_t bias;

	if (module_known(space->modules, space->nmodules, map) ||
	    module_known(list->modules, list->n, map))
		return NULL;
	open_path = run->host->mapped(task->tid, map);
	plan = mapping_plan(run, map, demand->known, demand->follows, open_path,
			    &unread);
	free(open_path);
	if (plan && image_bias(plan->image, map, &bias) &&
	    !module_there(space->modules, space->nmodules, plan, bias) &&
	    !module_there(list->modules, list->n, plan, bias))
		module_add(list, plan, bias, map);
	return unread;
}

/*
 * Plant what is mapped and has a plan.  What is planted first may demand hooks
 * of files that had no plan before.  Returns why some hooks are not known, or
 * NULL.
 */
static const char *
mappings_plant(struct run *run, struct task *task, const struct mappings *maps)
{
	const struct space *space = task->process->space;
	struct module_list list = { 0 };
	struct demand demand, after = space_demand(run, space);
	const char *unread, *why = NULL;

	do {
		demand = after;
		for (size_t i = 0; i < maps->n; i++) {
			const struct mapping *map = &maps->list[i];

			if (!map->exec || map->path[0] != '/')
				continue;
			unread = mapping_add(run, task, map, &demand, &list);
			why = unread ? unread : why;
		}
		modules_plant(run, task, &list, maps);
		after = space_demand(run, space);
	} while (after.known != demand.known ||
		 after.follows != demand.follows);
	return why;
}

/* Whether the text that identifies the module is still mapped. */
static bool
module_mapped(const struct module *module, const struct mappings *maps)
{
	size_t k = search_first(maps->n, i, maps->list[i].lo >= module->map_lo);
	const struct mapping *map = &maps->list[k];

	return k < maps->n && map->lo == module->map_lo &&
	       map->dev == module->dev && map->ino == module->ino && map->exec;
}

/* Drop the modules whose text is not mapped any more. */
static void
modules_prune(struct run *run, struct space *space, const struct mappings *maps)
{
	size_t kept = 0;

	for (size_t i = 0; i < space->nmodules; i++) {
		struct module *module = space->modules[i];

		if (module_mapped(module, maps)) {
			space->modules[kept++] = module;
			continue;
		}
		thread_pages_unmapped(run, space, module);
		module_vacate(space, module);
		module_drop(module);
	}
	space->nmodules = kept;
}

/* Reading a process that pmon is about to attach to, while it still runs. */
struct foresight {
	struct room room;
	pid_t pid;
	int mem;		/* host's handle of its memory, or -1 */
};

/* Foresee the module of which the mapping is a part, once. */
static void
mapping_foresee(struct foresight *foresight, struct plan *plan,
		const struct mapping *map)
{
	struct run *run = foresight->room.run;
	struct module module;
	uint64_t bias;

	if (!plan || foresight->mem < 0 || thread_pages_doubtful(plan->image) ||
	    !image_bias(plan->image, map, &bias))
		return;
	module = module_make(plan, bias, map);
	if (!foreseen_find(run, foresight->pid, &module))
		foreseen_make(&foresight->room, foresight->pid, foresight->mem,
			      &module);
}

/* Read the libraries, too, and foresee all modules: the program's first. */
static void
libraries_foresee(struct foresight *foresight, struct plan *exe, ino_t ino,
		  const struct mapping *maps, size_t n)
{
	struct run *run = foresight->room.run;
	struct plan **plans = mem_alloc((n + 1) * sizeof(*plans));
	const char *unread;
	char *open_path;
	uint64_t bias;

	for (size_t i = 0; i < n; i++) {
		if (!maps[i].exec || maps[i].path[0] != '/')
			continue;
		if (maps[i].ino == ino &&
		    image_bias(exe->image, &maps[i], &bias))
			continue;
		open_path = run->host->mapped(foresight->pid, &maps[i]);
		plans[i] = mapping_plan(run, &maps[i], true, plan_follows(exe),
					open_path, &unread);
		free(open_path);
	}
	for (size_t i = 0; i < n; i++)
		if (maps[i].exec && maps[i].ino == ino)
			mapping_foresee(foresight, exe, &maps[i]);
	for (size_t i = 0; i < n; i++)
		mapping_foresee(foresight, plans[i], &maps[i]);
	free(plans);
}

void
process_foresee(struct run *run, pid_t pid)
{
	char *open_path, *path = run->host->exe(pid, &open_path);
	struct foresight foresight = { .room.run = run, .pid = pid };
	struct stat st = { 0 };
	struct mapping *maps;
	struct plan *plan;
	size_t n;

	if (!path)
		return;
	plan = object_plan(run, path, open_path, true);
	stat(open_path, &st);
	free(path);
	free(open_path);
	if (!plan || run->host->maps(pid, &maps, &n))
		return;
	foresight.mem = run->host->mem_open(pid);
	if (!run->host->maps(pid, &foresight.room.maps, &foresight.room.n))
		libraries_foresee(&foresight, plan, st.st_ino, maps, n);
	mappings_free(foresight.room.maps, foresight.room.n);
	if (foresight.mem >= 0)
		run->host->mem_close(foresight.mem);
	mappings_free(maps, n);
}

void
process_rescan(struct run *run, struct task *task)
{
	struct mappings maps;
	const char *why;

	if (run->host->maps(task->tid, &maps.list, &maps.n))
		return;
	modules_prune(run, task->process->space, &maps);
	why = mappings_plant(run, task, &maps);
	if (run_maps_wanted(run))
		watch_check(run, task->process->space, maps.list, maps.n);
	mappings_free(maps.list, maps.n);
	/* pmon will not see stacks being left there. */
	if (why && space_infers(task->process->space))
		space_calls_underivable(run, task->process->space, REASON_LEFT,
					why);
}

/*
 * The privilege that the kernel gives a process that executes the file, as
 * text, or NULL.
 */
static const char *
file_privilege(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return "is set-user-ID";
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP &&
	    st.st_gid != getegid())
		return "is set-group-ID";
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return "has capabilities";
	return NULL;
}

/* Tell the user of a privilege that the exec would have given. */
static void
exe_remark(struct run *run, const char *path, const char *open_path)
{
	const char *privilege = geteuid() ? file_privilege(open_path) : NULL;

	if (privilege)
		run_remark(run,
			   "%s %s: under pmon it runs without that "
			   "privilege",
			   path, privilege);
}

/*
 * Plant the plan where the file with that inode number is mapped; whether it is
 * mapped.
 */
static bool
exe_module(struct run *run, struct task *task, struct plan *plan, ino_t ino)
{
	const struct space *space = task->process->space;
	struct module_list list = { 0 };
	struct mappings maps;
	bool found = false;
	uint64_t bias;

	if (run->host->maps(task->tid, &maps.list, &maps.n))
		return false;
	for (size_t i = 0; i < maps.n && !found; i++) {
		const struct mapping *map = &maps.list[i];

		if (!map->exec || map->ino != ino)
			continue;
		found = module_known(space->modules, space->nmodules, map);
		if (found || !image_bias(plan->image, map, &bias))
			continue;
		module_add(&list, plan, bias, map);
		found = true;
	}
	modules_plant(run, task, &list, &maps);
	mappings_free(maps.list, maps.n);
	return found;
}

/* Plant the main program, which is known by name and mapped since the exec. */
static void
exe_plant(struct run *run, struct task *task, const char *path,
	  const char *open_path)
{
	struct plan *plan = object_plan(run, path, open_path, true);
	struct stat st;
	uint64_t pc;

	if (!plan ||
	    (!stat(open_path, &st) && exe_module(run, task, plan, st.st_ino)))
		return;
	/* If it was killed at its first stop, it has run nothing. */
	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return;
	plan_lose(plan);
	run_remark(run,
		   "process %d: %s is not counted: pmon does not know "
		   "where it is mapped",
		   (int)task->tid, path);
}

/*
 * Hook the program's entry point.  By then its libraries are mapped:
 * linker_look can find what they do with registers, and plant hooks where they
 * leave stacks.
 */
static void
start_hook(struct run *run, struct task *task)
{
	uint64_t entry = run->host->auxv(task->tid, AT_ENTRY);
	struct module *module = space_module(task->process->space, entry);
	const struct site *site;

	if (!module)
		return;
	site = plan_site(module->plan, entry - module->bias);
	if (site && site->hook)
		return;
	plan_hook(module->plan, &(struct hook){
					.kind = HOOK_START,
					.addr = entry - module->bias,
				});
	plan_extended(run, module->plan);
}

/*
 * Plant the program of another host, which its entry point locates, and which
 * has no libraries.  It may have begun already.
 */
static void
far_plant(struct run *run, struct task *task, const char *path,
	  const char *open_path)
{
	struct plan *plan = object_plan(run, path, open_path, true);
	uint64_t entry = run->host->auxv(task->tid, AT_ENTRY);
	struct module_list list = { 0 };

	if (run->opts->selection.objects.n)
		run_remark(run, "libraries are not counted on the host %s",
			   run->host->name);
	if (!plan)
		return;
	if (!entry && plan->image->dyn) {
		run_remark(run,
			   "%s: not counted: the host %s does not say "
			   "where it is loaded",
			   path, run->host->name);
		return;
	}
	module_add(&list, plan, entry ? entry - plan->image->entry : 0,
		   &(struct mapping){ 0 });
	modules_plant(run, task, &list, &(struct mappings){ 0 });
}

void
process_plant_begun(struct run *run, struct task *task)
{
	struct process *process = task->process;
	char *open_path, *path = run->host->exe(task->tid, &open_path);

	process->planted = true;
	if (!path && !run->host->native)
		run_remark(run, "the program has executed another program, "
				"which is not counted");
	else if (!path)
		run_remark(run,
			   "process %d: not counted: its program cannot "
			   "be read",
			   (int)task->tid);
	if (!path)
		return;
	owner_program(run, task, path);
	if (run->host->native) {
		exe_remark(run, path, open_path);
		exe_plant(run, task, path, open_path);
	} else {
		far_plant(run, task, path, open_path);
	}
	free(path);
	free(open_path);
	if (!run->host->native)
		return;
	if (!run_maps_wanted(run))
		return;
	process->space->watched |= !run_maps_hooked(run);
	process_rescan(run, task);
}

void
process_plant(struct run *run, struct task *task)
{
	process_plant_begun(run, task);
	if (run->host->native && space_hooked(task->process->space))
		start_hook(run, task);
}
