/*
 * The tables of a run: tasks by id, processes, and the owners of counter sets.
 * Never changes a task; account.c frees what a task, a process or a space has.
 */
#include "monitor/process/task.h"

#include <stdlib.h>

#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"

/* pmon maps at most 1/SHARE of what a process may still map. */
enum { SHARE = 8 };

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
		.pid = pid,
		.tid = tid,
		.parent = COUNTER_SET_NONE,
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
	uint64_t pc;

	return run->host->reg_get(task->tid, run->arch->reg_pc, &pc) ? 0 : pc;
}

/* Note whether the tid's bucket has tasks. */
static void
bucket_note(struct run *run, pid_t tid)
{
	unsigned i = (unsigned)tid % TASK_BUCKETS;
	uint64_t bit = UINT64_C(1) << i % 64;

	if (run->tasks[i])
		run->taken[i / 64] |= bit;
	else
		run->taken[i / 64] &= ~bit;
}

/* The first bucket from i on that has tasks, or TASK_BUCKETS. */
static unsigned
bucket_taken(const struct run *run, unsigned i)
{
	while (i < TASK_BUCKETS) {
		uint64_t bits = run->taken[i / 64] >> i % 64;

		if (bits)
			return i + (unsigned)__builtin_ctzll(bits);
		i += 64 - i % 64;
	}
	return i;
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
	bucket_note(run, tid);
	if (process)
		process->ntasks++;
	return task;
}

void
task_remove(struct run *run, struct task *task)
{
	struct task **at = task_bucket(run, task->tid);

	while (*at != task)
		at = &(*at)->hash_next;
	*at = task->hash_next;
	bucket_note(run, task->tid);
}

void
task_each(struct run *run,
	  void (*fn)(struct run *run, struct task *task, void *ctx), void *ctx)
{
	struct task *task, *next;

	/* Most traps look at all tasks, of which there are few. */
	for (unsigned i = bucket_taken(run, 0); i < TASK_BUCKETS;
	     i = bucket_taken(run, i + 1))
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
	if (run->opts->separate == SEPARATE_PROCESS)
		process->counter_set = owner_new(run, pid, 0);
	run->processes = process;
	run->nprocesses++;
	return process;
}

bool
task_watched(const struct task *task)
{
	return task->process && task->process->space &&
	       task->process->space->watched;
}

/* ---- what the kernel lets a task do */

bool
task_confined(const struct run *run, const struct task *task)
{
	return run->host->native && run->host->native->confined(task->tid);
}

bool
task_room(const struct run *run, const struct task *task, uint64_t size)
{
	return !run->host->native ||
	       size <= run->host->native->room(task->tid) / SHARE;
}

bool
task_changed(const struct run *run, const struct task *task)
{
	return run->host->native && run->host->native->changed(task->tid);
}
