/*
 * Modules: writes an image's traps, slots and relocated functions to a space.
 * Never decides which images are planted (plant.c), how a site is patched
 * (patched.c), nor what is added later (extend.c).
 */
#ifndef MONITOR_PATCH_MODULE_H
#define MONITOR_PATCH_MODULE_H

#include "monitor/patch/patched.h"
#include "monitor/patch/room.h"
#include "monitor/run.h"

/* What a plan had when its module was foreseen. */
struct foreseen_plan {
	size_t nsites, nrelocated, nguards, nlost;
	bool relocated, shared, springs;
};

/*
 * A module of a process that still runs: rendered in pmon's memory, but not yet
 * in the process's; or undone there.
 */
struct foreseen {
	pid_t pid;
	struct module module;	/* rendered: with the places that it will
				   probably have; undone: as it was then */
	struct space space;	/* has its buffered text */
	struct batch batch;
	struct foreseen_plan plan;
};

/*
 * Render the module of foreseen->module and foreseen->space; room has no task.
 * 0, or -1 if that cannot be done early.
 */
int module_foresee(struct room *room, pid_t pid,
		   struct foreseen *foreseen) MUST_CHECK;
/*
 * Have the task map, at one stop, what n modules of which nothing is planted yet
 * will need; maps are those of the process.  What is not mapped after that
 * module_fill maps, and at a stop for each.
 */
void modules_room(struct run *run, struct task *task, struct module **modules,
		  size_t n, const struct mapping *maps, size_t nmaps);
/*
 * Plant all sites and relocated functions in the task's space.  What was
 * foreseen, or NULL, is used if it has come to pass, and is still the caller's.
 * HOST_OK, or HOST_GONE if the process is gone.
 */
int module_fill(struct run *run, struct task *task, struct module *module,
		struct foreseen *foreseen) MUST_CHECK;
/* Undo the module in foreseen->space, of which foreseen->module is a copy. */
void module_undo_foresee(struct run *run, pid_t pid,
			 const struct module *module,
			 struct foreseen *foreseen);
/*
 * Take all traps and patches of the module out of the space's text; what was
 * undone early, or NULL, is used as in module_fill.  The module itself stays:
 * see module_drop.  HOST_OK, or HOST_ERROR if the kernel has refused to remove
 * some.
 */
int module_unplant(struct run *run, struct space *space, pid_t tid,
		   const struct module *module, struct foreseen *foreseen);

/* Does something to a relocated function: see relocated.h. */
typedef void relocated_edit(struct run *run, struct space *space, pid_t tid,
			    const struct module *module, uint32_t fplan);

/*
 * The plan's relocated functions from number `first` up to but not including
 * `last`.
 */
struct span {
	size_t first, last;
};
/* Apply fn to these relocated functions of the plan, except lost ones. */
void relocated_each(struct run *run, struct space *space, pid_t tid,
		    const struct module *module, struct span which,
		    relocated_edit *fn);

#endif
