/*
 * The owners of counter sets.
 */
#ifndef MONITOR_PROCESS_OWNERS_H
#define MONITOR_PROCESS_OWNERS_H

#include "monitor/run.h"

/* Whose counts a counter set has, with --separate. */
struct counter_owner {
	pid_t pid, tid;		/* pid 0: nobody's, nothing was counted; tid 0:
				   a process's */
	size_t parent;		/* its maker's counter set, or
				   COUNTER_SET_NONE */
	double start;		/* monotonic seconds */
	char *program;		/* executed last, or NULL */
};

static const size_t COUNTER_SET_NONE = SIZE_MAX;

/* The number of a new counter set for this thread or process (tid 0). */
size_t owner_new(struct run *run, pid_t pid, pid_t tid);
/* The number of the counter set that the task's counts go to. */
size_t run_counter_set(const struct run *run, const struct task *task);

/*
 * With --separate, note that maker made the task: the parent of the owner of
 * its counter set.  maker is NULL for a task of an attached process.
 */
void owner_note(struct run *run, const struct task *task,
		const struct task *maker);
/* With --separate, note that the task's process executes this program. */
void owner_program(struct run *run, const struct task *task,
		   const char *program);
/* The owners, by number of their counter set, *n of them. */
const struct counter_owner *run_owners(const struct run *run, size_t *n);
void owners_free(struct run *run);

#endif
