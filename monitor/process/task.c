/*
 * The tables of a run: tasks by id, and processes.  Never changes a task;
 * account.c frees what a task, a process or a space has.
 */
#include "monitor/process/task.h"

#include <stdlib.h>

#include "monitor/process/owners.h"
#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	SHARE = 8,		/* pmon maps at most 1/SHARE of what a process
				   may still map */
	BUCKETS = 1024,
};

struct task_table {
	struct task *buckets[BUCKETS];
	uint64_t taken[BUCKETS / 64];	/* bits: buckets with tasks */
};

static struct task **
task_bucket(struct run *run, pid_t tid)
{
	return &run->tasks->buckets[(unsigned)tid % BUCKETS];
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
	unsigned i = (unsigned)tid % BUCKETS;
	uint64_t bit = UINT64_C(1) << i % 64;

	if (run->tasks->buckets[i])
		run->tasks->taken[i / 64] |= bit;
	else
		run->tasks->taken[i / 64] &= ~bit;
}

/* The first bucket from i on that has tasks, or BUCKETS. */
static unsigned
bucket_taken(const struct run *run, unsigned i)
{
	while (i < BUCKETS) {
		uint64_t bits = run->tasks->taken[i / 64] >> i % 64;

		if (bits)
			return i + (unsigned)__builtin_ctzll(bits);
		i += 64 - i % 64;
	}
	return i;
}

struct task *
task_find(struct run *run, pid_t tid)
{
	struct task *task = run->tasks ? *task_bucket(run, tid) : NULL;

	while (task && task->tid != tid)
		task = task->hash_next;
	return task;
}

struct task *
task_new(struct run *run, pid_t tid, struct process *process)
{
	struct task *task = mem_alloc(sizeof(*task)), **bucket;

	must(!task_find(run, tid));
	if (!run->tasks)
		run->tasks = mem_alloc(sizeof(*run->tasks));
	bucket = task_bucket(run, tid);
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
task_table_free(struct run *run)
{
	free(run->tasks);
	run->tasks = NULL;
}

void
task_each(struct run *run,
	  void (*fn)(struct run *run, struct task *task, void *ctx), void *ctx)
{
	struct task *task, *next;

	/* Most traps look at all tasks, of which there are few. */
	for (unsigned i = run->tasks ? bucket_taken(run, 0) : BUCKETS;
	     i < BUCKETS; i = bucket_taken(run, i + 1))
		for (task = run->tasks->buckets[i]; task; task = next) {
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
