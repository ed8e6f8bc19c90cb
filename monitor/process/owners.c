/*
 * Whose counts a counter set has: with --separate each process or thread has a
 * set of its own.  Counts nothing.
 */
#include "monitor/process/owners.h"

#include <stdlib.h>

#include "util/clock.h"
#include "util/mem.h"

struct owners {
	struct counter_owner *list;	/* per counter set */
	size_t n;
};

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

size_t
owner_new(struct run *run, pid_t pid, pid_t tid)
{
	if (!run->owners)
		run->owners = mem_alloc(sizeof(*run->owners));
	*vec_push(run->owners->list, run->owners->n) = (struct counter_owner){
		.pid = pid,
		.tid = tid,
		.parent = COUNTER_SET_NONE,
		.start = clock_seconds(),
	};
	return run->owners->n - 1;
}

void
owner_note(struct run *run, const struct task *task, const struct task *maker)
{
	struct counter_owner *owner;
	size_t parent = maker ? run_counter_set(run, maker) : COUNTER_SET_NONE;

	if (run->opts->separate == SEPARATE_NONE ||
	    parent == run_counter_set(run, task))
		return;
	owner = &run->owners->list[run_counter_set(run, task)];
	owner->pid = task->process->pid;
	owner->parent = parent;
	if (maker && !owner->program && run->owners->list[parent].program)
		owner->program = mem_strdup(run->owners->list[parent].program);
}

void
owner_program(struct run *run, const struct task *task, const char *program)
{
	struct counter_owner *owner;

	if (run->opts->separate == SEPARATE_NONE)
		return;
	owner = &run->owners->list[run_counter_set(run, task)];
	free(owner->program);
	owner->program = mem_strdup(program);
}

const struct counter_owner *
run_owners(const struct run *run, size_t *n)
{
	*n = run->owners ? run->owners->n : 0;
	return run->owners ? run->owners->list : NULL;
}

void
owners_free(struct run *run)
{
	for (size_t i = 0; run->owners && i < run->owners->n; i++)
		free(run->owners->list[i].program);
	if (run->owners)
		free(run->owners->list);
	free(run->owners);
}
