/*
 * Clients: what probes and control flow mean to somebody.  The monitor's
 * mechanisms (monitor/process, patch and unwind) know which code runs where;
 * they tell clients what happened by the functions below and know nothing of
 * counts.  Counting (count.h) is a client.
 *
 * pmon tells clients only of tasks whose process is counted (--follow).  All
 * calls come from the one thread of the monitor.  A client stops or resumes no
 * task, and the task may be running, except where a callback says otherwise.
 */
#ifndef MONITOR_CLIENT_CLIENT_H
#define MONITOR_CLIENT_CLIENT_H

#include "monitor/run.h"

/* What happened at a site. */
enum site_event {
	SITE_BEGUN,		/* its instruction begins: committed */
	SITE_UNDONE,		/* it did not begin after all */
	SITE_TAKEN,		/* its branch was taken */
};

/* How a task ended for pmon. */
enum task_end {
	TASK_EXITED,		/* also killed */
	TASK_REPLACED,		/* another thread of its process did exec */
	TASK_LET_GO,		/* it runs on without pmon */
};

/* Callbacks; those that are NULL are not called. */
struct client {
	const char *name;
	/*
	 * The monitor follows the task from here on.  It may not run before
	 * it is told of, but its first stop may be still to come.
	 */
	void (*began)(struct run *run, const struct task *task);
	/* Once for each task that began; the task is freed behind this. */
	void (*ended)(struct run *run, const struct task *task,
		      enum task_end how);
	/* The task runs another program now: its space is new and empty. */
	void (*execed)(struct run *run, const struct task *task);
	/* At a site, by its index in the plan; the task stands still. */
	void (*at_site)(struct run *run, const struct task *task,
			struct plan *plan, uint32_t site,
			enum site_event what);
	/*
	 * The indirect jump or call of a site went to addr of the plan `to`;
	 * to is NULL if that is not planned.
	 */
	void (*went)(struct run *run, const struct task *task,
		     struct plan *plan, uint32_t site, const struct plan *to,
		     uint64_t addr);
	/*
	 * Control left a function or came to it over an abnormal edge: the
	 * numbers are to be added to those of the same addr and `during`.
	 * Below zero (modulo 2^64), they take back what was told.
	 */
	void (*abnormal)(struct run *run, const struct task *task,
			 struct plan *plan, const struct abnormal_edge *edge);
	/*
	 * Add n counters to those of the plan's relocated functions, from
	 * number `first` on.  task is NULL if it ended unseen.
	 */
	void (*drained)(struct run *run, const struct task *task,
			struct plan *plan, uint32_t first,
			const uint64_t *counters, size_t n);
};

/* Tell the run's clients. */
void client_began(struct run *run, const struct task *task);
void client_ended(struct run *run, const struct task *task,
		  enum task_end how);
void client_execed(struct run *run, const struct task *task);
void client_at_site(struct run *run, const struct task *task,
		    struct plan *plan, uint32_t site, enum site_event what);
void client_went(struct run *run, const struct task *task, struct plan *plan,
		 uint32_t site, const struct plan *to, uint64_t addr);
void client_abnormal(struct run *run, const struct task *task,
		     struct plan *plan, const struct abnormal_edge *edge);
void client_drained(struct run *run, const struct task *task,
		    struct plan *plan, uint32_t first,
		    const uint64_t *counters, size_t n);

#endif
