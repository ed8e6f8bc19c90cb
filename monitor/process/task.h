/*
 * The tables of a run: tasks and processes.
 */
#ifndef MONITOR_PROCESS_TASK_H
#define MONITOR_PROCESS_TASK_H

#include "monitor/run.h"

/* The pc of a stopped task; 0 if the task is gone. */
uint64_t task_pc(const struct run *run, const struct task *task);

/* The task with that id, or NULL. */
struct task *task_find(struct run *run, pid_t tid);
/* Enter a task; process is NULL if no event has announced the task yet. */
struct task *task_new(struct run *run, pid_t tid, struct process *process);
/* Take the task out of the table; task_free does, and frees the rest. */
void task_remove(struct run *run, struct task *task);
/* Free the table, which has no tasks left. */
void task_table_free(struct run *run);

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
