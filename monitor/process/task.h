/*
 * The tables of a run: tasks, processes, and owners of counter sets.
 */
#ifndef MONITOR_PROCESS_TASK_H
#define MONITOR_PROCESS_TASK_H

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
void owners_free(struct run *run);

/* The pc of a stopped task; 0 if the task is gone. */
uint64_t task_pc(const struct run *run, const struct task *task);

/* The task with that id, or NULL. */
struct task *task_find(struct run *run, pid_t tid);
/* Enter a task; process is NULL if no event has announced the task yet. */
struct task *task_new(struct run *run, pid_t tid, struct process *process);
/* Take the task out of the table; task_free does, and frees the rest. */
void task_remove(struct run *run, struct task *task);

/* Call fn for every task; fn may free that task. */
void task_each(struct run *run,
	       void (*fn)(struct run *run, struct task *task, void *ctx),
	       void *ctx);
/* Enter a process, which takes over the caller's reference to the space. */
struct process *process_new(struct run *run, pid_t pid, struct space *space);

/*
 * Whether a seccomp filter may forbid the system calls that pmon makes in the
 * task's name.
 */
bool task_confined(const struct run *run, const struct task *task);
/*
 * Whether the process may map `size` bytes more and still have most of what is
 * left of its address space (RLIMIT_AS).
 */
bool task_room(const struct run *run, const struct task *task, uint64_t size);
/*
 * Has something happened to the stopped task that the host has not told of yet?
 * Either it was killed, or another thread's exec took its id.
 */
bool task_changed(const struct run *run, const struct task *task);

/* Whether the task stops at all system calls, as its space is watched. */
bool task_watched(const struct task *task);

#endif
