/*
 * The tables of a run: tasks by id, processes, address spaces and the modules
 * planted in them, with their lifetimes.  Asks the host for nothing but to
 * close handles.
 */
#include "monitor/run.h"

#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

static struct task **
task_bucket(struct run *run, pid_t tid)
{
	return &run->tasks[(unsigned)tid % TASK_BUCKETS];
}

struct task *
task_find(struct run *run, pid_t tid)
{
	struct task *task = *task_bucket(run, tid);

	while (task && task->tid != tid)
		task = task->hash_next;
	return task;
}

struct task *
task_new(struct run *run, pid_t tid, struct process *process)
{
	struct task **bucket = task_bucket(run, tid);
	struct task *task = mem_alloc(sizeof(*task));

	must(!task_find(run, tid));
	task->tid = tid;
	task->process = process;
	task->hash_next = *bucket;
	*bucket = task;
	if (process)
		process->ntasks++;
	return task;
}

void
task_free(struct run *run, struct task *task)
{
	struct task **at = task_bucket(run, task->tid);
	struct process *process = task->process;

	while (*at != task)
		at = &(*at)->hash_next;
	*at = task->hash_next;
	/* What it had to say is of no interest any more. */
	run_unqueue(run, task->tid);
	affinity_forget(run, task);
	free(task);
	if (process && --process->ntasks == 0)
		process_free(run, process);
}

void
task_each(struct run *run,
	  void (*fn)(struct run *run, struct task *task, void *ctx), void *ctx)
{
	struct task *task, *next;

	for (size_t i = 0; i < TASK_BUCKETS; i++)
		for (task = run->tasks[i]; task; task = next) {
			next = task->hash_next;
			fn(run, task, ctx);
		}
}

struct process *
process_new(struct run *run, pid_t pid, struct space *space)
{
	struct process *process = mem_alloc(sizeof(*process));

	*process = (struct process){
		.pid = pid,
		.space = space,
		.counted = true,
		.next = run->processes,
	};
	run->processes = process;
	run->nprocesses++;
	return process;
}

void
process_free(struct run *run, struct process *process)
{
	struct process **at = &run->processes;

	must(!process->ntasks);
	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	space_drop(run, process->space);
	free(process);
}

struct space *
space_new(int mem)
{
	struct space *space = mem_alloc(sizeof(*space));

	space->refs = 1;
	space->mem = mem;
	return space;
}

struct space *
space_copy(const struct space *space, int mem)
{
	struct space *copy = space_new(mem);

	for (size_t i = 0; i < space->nmodules; i++) {
		space->modules[i]->refs++;
		*vec_push(copy->modules, copy->nmodules) = space->modules[i];
	}
	return copy;
}

void
space_hold(struct space *space)
{
	space->refs++;
}

void
space_drop(struct run *run, struct space *space)
{
	if (!space || --space->refs)
		return;
	for (size_t i = 0; i < space->nmodules; i++)
		module_drop(space->modules[i]);
	run->host->mem_close(space->mem);
	free(space->modules);
	free(space);
}

void
module_drop(struct module *module)
{
	if (--module->refs)
		return;
	free(module->patched);
	free(module->slot_site);
	free(module);
}
