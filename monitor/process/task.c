/*
 * The tables of a run: tasks by id, processes, address spaces and the modules
 * planted in them, with their lifetimes, and the owners of counter sets.  Never
 * changes a task.
 */
#include "monitor/process/affinity.h"
#include "monitor/process/events.h"
#include "monitor/process/thread_pages.h"
#include "monitor/patch/relocated.h"
#include "monitor/process/cut.h"
#include "monitor/patch/faults.h"
#include "monitor/run.h"
#include "monitor/patch/sigtrap.h"
#include "monitor/unwind/stack.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/process/task.h"

#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

size_t
run_counter_set(const struct run *run, const struct task *task)
{
	switch (run->opts->separate) {
	case SEPARATE_PROCESS:
		return task->process->counter_set;
	case SEPARATE_THREAD:
		return task->counter_set;
	default:
		return 0;
	}
}

/* The number of a new counter set for this thread or process (tid 0). */
static size_t
owner_new(struct run *run, pid_t pid, pid_t tid)
{
	*vec_push(run->owners, run->nowners) = (struct counter_owner){
		.pid = pid, .tid = tid, .parent = COUNTER_SET_NONE,
		.start = run_clock(),
	};
	return run->nowners - 1;
}

void
owner_note(struct run *run, const struct task *task, const struct task *maker)
{
	struct counter_owner *owner;
	size_t parent = maker ? run_counter_set(run, maker) : COUNTER_SET_NONE;

	if (run->opts->separate == SEPARATE_NONE ||
	    parent == run_counter_set(run, task))
		return;
	owner = &run->owners[run_counter_set(run, task)];
	owner->pid = task->process->pid;
	owner->parent = parent;
	if (maker && !owner->program && run->owners[parent].program)
		owner->program = mem_strdup(run->owners[parent].program);
}

void
owner_program(struct run *run, const struct task *task, const char *program)
{
	struct counter_owner *owner;

	if (run->opts->separate == SEPARATE_NONE)
		return;
	owner = &run->owners[run_counter_set(run, task)];
	free(owner->program);
	owner->program = mem_strdup(program);
}

void
owners_free(struct run *run)
{
	for (size_t i = 0; i < run->nowners; i++)
		free(run->owners[i].program);
	free(run->owners);
}

static struct task **
task_bucket(struct run *run, pid_t tid)
{
	return &run->tasks[(unsigned)tid % TASK_BUCKETS];
}

uint64_t
task_pc(const struct run *run, const struct task *task)
{
	uint64_t pc = 0;

	run->host->reg_get(task->tid, run->arch->reg_pc, &pc);
	return pc;
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
	if (run->opts->separate == SEPARATE_THREAD)
		task->counter_set = owner_new(run, process ? process->pid : 0,
					      tid);
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
	run_unqueue(run, task->tid);
	affinity_forget(run, task);
	abnormal_forget(task);
	relocated_forget(task);
	fault_forget(task);
	cut_forget(task);
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

static void
task_drop(struct run *run, struct task *task, void *ctx)
{
	task_free(run, task);
}

void
tasks_free(struct run *run)
{
	task_each(run, task_drop, NULL);
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
	if (run->opts->separate == SEPARATE_PROCESS)
		process->counter_set = owner_new(run, pid, 0);
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
	sigtrap_drop(process->sigtrap);
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

	copy->thread_pages = thread_pages_copy(space->thread_pages);
	copy->redirection = space->redirection;
	copy->own_thread_reg = space->own_thread_reg ?
				       mem_strdup(space->own_thread_reg) :
				       NULL;
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
	thread_pages_close(run, space);
	for (size_t i = 0; i < space->nmodules; i++)
		module_drop(space->modules[i]);
	run->host->mem_close(space->mem);
	stack_close(space->stack);
	free(space->own_thread_reg);
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
