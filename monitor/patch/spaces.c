/*
 * Edits a module's text in every space that has the module: finds the spaces,
 * and a task by which each can be read and written.  Never decides what is
 * planted.
 */
#include "monitor/patch/spaces.h"

#include <stdlib.h>

#include "monitor/patch/module.h"
#include "monitor/patch/slots.h"
#include "monitor/process/events.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "util/mem.h"

struct process *
process_with(struct process *p, const struct module *module)
{
	for (; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++)
			if (p->space->modules[i] == module)
				return p;
	return NULL;
}

struct seek {
	const struct space *space;
	struct task *found;
};

static void
task_seek(struct run *run, struct task *task, void *ctx)
{
	struct seek *seek = ctx;

	(void)run;
	if (task->process && task->process->space == seek->space)
		seek->found = task;
}

struct task *
space_task(struct run *run, const struct space *space)
{
	struct seek seek = { space, run_stopped_task(run, space) };

	if (!seek.found)
		task_each(run, task_seek, &seek);
	return seek.found;
}

/*
 * Edit the text of one space.  Some kernels let only a stopped task's text be
 * written: if the edit fails, stop all tasks and try again.
 */
static void
space_edit(struct run *run, struct space *space, const struct module *module,
	   const struct batch *batch, site_edit *fn)
{
	struct task *task = space_task(run, space);

	if (!task || !module_edit(run, space, task->tid, module, batch, fn))
		return;
	run_pause(run, space, NULL, STOP_PLANT);
	task = run_stopped_task(run, space);
	if (task && module_edit(run, space, task->tid, module, batch, fn) &&
	    fn == trap_write)
		module_unwritten(run, space, task->tid, module, batch);
}

void
spaces_edit(struct run *run, const struct module *module,
	    const struct batch *batch, site_edit *fn)
{
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module))
		space_edit(run, p->space, module, batch, fn);
}

void
spaces_choose(struct run *run, struct module *module, const struct batch *batch)
{
	size_t slots = module->nslots;

	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module)) {
		struct task *task = space_task(run, p->space);

		if (!task)
			continue;
		if (!batch_choose(run, p->space, task->tid, module, batch))
			return;
		module->nslots = slots;
	}
	batch_choose_unread(run, module, batch);
}

struct module **
plan_modules(const struct run *run, const struct plan *plan, size_t *n)
{
	struct module **list = NULL;

	*n = 0;
	for (struct process *p = run->processes; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++) {
			struct module *module = p->space->modules[i];
			size_t k = 0;

			if (module->plan != plan)
				continue;
			while (k < *n && list[k] != module)
				k++;
			if (k == *n)
				*vec_push(list, *n) = module;
		}
	return list;
}

void
spaces_slots(struct run *run, struct module *module, size_t first, size_t last)
{
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module)) {
		struct task *task = space_task(run, p->space);

		if (task)
			slots_write(run, p->space, task->tid, module, first,
				    last);
	}
}

void
spaces_pause(struct run *run, const struct module *module)
{
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module))
		run_pause(run, p->space, NULL, STOP_PLANT);
}

struct extension
extension_begin(struct run *run, struct module *module)
{
	return (struct extension){
		.number = run->extended++,
		.module = module,
		.first = module->nslots,
		.last = module->nslots,
		.relocated_first = module->nrelocated,
		.relocated_end = module->nrelocated,
	};
}
