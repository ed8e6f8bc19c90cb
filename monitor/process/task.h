/*
 * The tables of a run: tasks, processes, spaces, and whose counts a counter set
 * has.
 */
#ifndef MONITOR_PROCESS_TASK_H
#define MONITOR_PROCESS_TASK_H

#include "monitor/run.h"

/* The number of the counter set that the task's counts go to. */
size_t run_counter_set(const struct run *run, const struct task *task);

/*
 * It was made by this task, or is the first of an attached process, if that
 * is NULL.  With --separate that is noted of its counter set's owner.
 */
void owner_note(struct run *run, const struct task *task,
		const struct task *maker);
/* Its process executes this program. */
void owner_program(struct run *run, const struct task *task,
		   const char *program);
void owners_free(struct run *run);

/* Of a stopped task; 0 if it is gone. */
uint64_t task_pc(const struct run *run, const struct task *task);

struct task *task_find(struct run *run, pid_t tid);
struct task *task_new(struct run *run, pid_t tid, struct process *process);
void task_free(struct run *run, struct task *task);
/* Those left: let go, not seen to end. */
void tasks_free(struct run *run);
/* Calls fn for every task; fn may free that one. */
void task_each(struct run *run,
	       void (*fn)(struct run *run, struct task *task, void *ctx),
	       void *ctx);
struct process *process_new(struct run *run, pid_t pid, struct space *space);
/* Forget the process, which has no tasks left. */
void process_free(struct run *run, struct process *process);
struct space *space_new(int mem);
/* The memory of a fork's child, with the same modules planted. */
struct space *space_copy(const struct space *space, int mem);
void space_hold(struct space *space);
void space_drop(struct run *run, struct space *space);
void module_drop(struct module *module);

#endif
