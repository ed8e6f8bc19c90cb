/*
 * Clients: they give probes and control flow a meaning.  The monitor's
 * mechanisms (monitor/process, patch and unwind) know which code runs where,
 * and nothing of counts; they tell clients what happened by the functions
 * below.  Counting (count.h) is a client.
 *
 * pmon tells clients only of tasks whose process is counted (--follow).  All
 * calls come from the one thread of the monitor.  A client never stops or
 * resumes a task.  During a callback the task may be running, unless the
 * callback's comment says otherwise.
 */
#ifndef MONITOR_PROCESS_CLIENT_H
#define MONITOR_PROCESS_CLIENT_H

#include "monitor/run.h"
#include "probe/probes.h"

/* What happened at a site. */
enum site_event {
	SITE_BEGUN,		/* its instruction begins: committed */
	SITE_UNDONE,		/* it did not begin after all: take back one
				   SITE_BEGUN */
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
	 * A function is looked at, at its first entry or before the start: ask
	 * for probes in it (probe_ask).  list->fplan has the function's graph.
	 * The function will have them in its relocated function, or else sites
	 * for them; a later call for the same function replaces them.  A
	 * function whose calls alone are counted, by a trap, has no graph, and
	 * no client is asked.
	 */
	void (*choose)(struct run *run, struct plan *plan,
		       struct probe_list *list);
	/*
	 * The monitor follows the task from here on.  A new task does not run
	 * before this call, but its first stop may be still to come.
	 */
	void (*began)(struct run *run, const struct task *task);
	/* Called once for each task that began, before the task is freed. */
	void (*ended)(struct run *run, const struct task *task,
		      enum task_end how);
	/*
	 * The child, which began just now, is the first task of a process that
	 * the maker made.
	 */
	void (*forked)(struct run *run, const struct task *maker,
		       const struct task *child);
	/* The task runs another program now: its space is new and empty. */
	void (*execed)(struct run *run, const struct task *task);
	/*
	 * All tasks stand still: at an attach, before any of them goes on; or
	 * for a report or a detach, when clients have been told all that has
	 * happened, and of all live frames as left.
	 */
	void (*stood)(struct run *run);
	/* The task is at a site, given by its index; it stands still. */
	void (*at_site)(struct run *run, const struct task *task,
			struct plan *plan, uint32_t site, enum site_event what);
	/*
	 * The indirect jump or call of a site went to addr of the plan `to`,
	 * which is NULL if the target has no plan.
	 */
	void (*went)(struct run *run, const struct task *task,
		     struct plan *plan, uint32_t site, const struct plan *to,
		     uint64_t addr);
	/*
	 * Control left a function or came to it over an abnormal edge: add the
	 * edge's numbers to those of the same addr and `during`.  Numbers below
	 * zero (modulo 2^64) take back earlier ones.
	 */
	void (*abnormal)(struct run *run, const struct task *task,
			 struct plan *plan, const struct abnormal_edge *edge);
	/*
	 * The task is about to switch stacks: abnormal edges will be told, when
	 * it is seen to have done so or to have stopped before that.
	 */
	void (*leaves)(struct run *run, const struct task *task);
	/*
	 * It has, and the abnormal edges have been told.  Its stack pointer was
	 * sp then; 0: it has not switched.
	 */
	void (*left)(struct run *run, const struct task *task, uint64_t sp);
	/*
	 * Probes of the element, a block of the function plan's flow, have been
	 * done, but the task is taken to before them (`back`), or is taken to
	 * behind them again.  Its stack pointer is sp.
	 */
	void (*moved)(struct run *run, const struct task *task,
		      struct plan *plan, uint32_t fplan, uint32_t element,
		      uint64_t sp, bool back);
	/*
	 * Add n counters to those of the plan's relocated functions, from
	 * number `first` on.  task is NULL if the task ended unseen.
	 */
	void (*drained)(struct run *run, const struct task *task,
			struct plan *plan, uint32_t first,
			const uint64_t *counters, size_t n);
	/*
	 * The task has stopped, as is known at this time stamp of the CPU's,
	 * and all that it recorded before that has been told; or it will go on.
	 * `full` is when it found no room for a record, which it will make
	 * first when it goes on; or 0.
	 */
	void (*stopped)(struct run *run, const struct task *task,
			uint64_t stamp, uint64_t full);
	void (*goes_on)(struct run *run, const struct task *task,
			uint64_t stamp);
	/* What probes of the task's have recorded, in the order of time. */
	void (*recorded)(struct run *run, const struct task *task,
			 const struct record *records, size_t n);
	/*
	 * The host counts this site by itself: since the last call the site's
	 * instruction has begun `hits` times, and its branch was taken `taken`
	 * times.
	 */
	void (*host_counted)(struct run *run, struct plan *plan, uint32_t site,
			     uint64_t hits, uint64_t taken);
	/*
	 * And of a site of the plan, that its jump or call went somewhere so
	 * often, see `went`.
	 */
	void (*host_went)(struct run *run, struct plan *plan,
			  const struct arrival *arrival);
};

/* Whether clients other than the first, which counts, choose probes. */
bool client_others_choose(const struct run *run);

/* Whether any client asks for probes that record. */
bool client_records(const struct run *run);

/* Whether any client must be told of each stack switch when it happens. */
bool client_follows(const struct run *run);

/* Call that callback of all of the run's clients. */
void client_choose(struct run *run, struct plan *plan, struct probe_list *list);
void client_began(struct run *run, const struct task *task);
void client_ended(struct run *run, const struct task *task, enum task_end how);
void client_forked(struct run *run, const struct task *maker,
		   const struct task *child);
void client_execed(struct run *run, const struct task *task);
void client_stood(struct run *run);
void client_at_site(struct run *run, const struct task *task, struct plan *plan,
		    uint32_t site, enum site_event what);
void client_went(struct run *run, const struct task *task, struct plan *plan,
		 uint32_t site, const struct plan *to, uint64_t addr);
void client_abnormal(struct run *run, const struct task *task,
		     struct plan *plan, const struct abnormal_edge *edge);
void client_leaves(struct run *run, const struct task *task);
void client_left(struct run *run, const struct task *task, uint64_t sp);
void client_moved(struct run *run, const struct task *task, struct plan *plan,
		  uint32_t fplan, uint32_t element, uint64_t sp, bool back);
void client_drained(struct run *run, const struct task *task, struct plan *plan,
		    uint32_t first, const uint64_t *counters, size_t n);
void client_stopped(struct run *run, const struct task *task, uint64_t stamp,
		    uint64_t full);
void client_goes_on(struct run *run, const struct task *task, uint64_t stamp);
void client_recorded(struct run *run, const struct task *task,
		     const struct record *records, size_t n);
void client_host_counted(struct run *run, struct plan *plan, uint32_t site,
			 uint64_t hits, uint64_t taken);
void client_host_went(struct run *run, struct plan *plan,
		      const struct arrival *arrival);

#endif
