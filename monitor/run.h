/*
 * A monitoring run, which all of monitor/ shares.  process/run_tables.h has the
 * tasks, processes and address spaces that the run follows;
 * doc/theory/monitor.md says how they belong together.
 */
#ifndef MONITOR_RUN_H
#define MONITOR_RUN_H

#include "arch/abi.h"
#include "arch/arch.h"
#include "host/host.h"
#include "monitor/options.h"
#include "monitor/process/run_tables.h"
#include "probe/death.h"
#include "probe/plan.h"
#include "report/report.h"

struct earlier;			/* see report/profile/profile_plan.h */
struct autosave;		/* see autosave.c */
struct cache;			/* see cache.h */
struct client;			/* see client.h */
struct control;			/* see control.c */
struct event_keeper;		/* see events.h */
struct event_queue;		/* see events.c */
struct extensions;		/* see extend.c */
struct foreseen;		/* see foreseen.h */
struct host_counters;		/* see host_counters.c */
struct object;			/* see object.h */
struct owners;			/* see owners.c */
struct recording;		/* see save.c */
struct remarks;			/* see state.c */
struct slow;			/* see slow.c */
struct task_table;		/* see task.c */
struct timing;			/* see client/times.c */
struct tracing;			/* see client/tracing.c */

enum { CLIENTS_MAX = 4 };

/* The launched process. */
struct root {
	pid_t tid;		/* 0: pmon attached to processes */
	bool started;		/* it has become the program */
	bool ended;
	int status;		/* as exit status of pmon */
	int signal;		/* that killed it, or 0 */
	pid_t dying;		/* the task that got a signal which ends the
				   process, where `death` says; or 0 */
	struct death death;
};

struct run {
	const struct options *opts;
	const struct client *clients[CLIENTS_MAX];	/* the first counts */
	size_t nclients;
	const struct host *host;
	const struct arch *arch;
	const struct abi *abi;	/* or NULL */
	bool eager;		/* look at all functions before the start */
	struct host_counters *host_counters;	/* or NULL */
	struct task_table *tasks;	/* NULL before the first one */
	struct process *processes;
	const struct event_keeper *keeper;	/* see events.h */
	struct event_queue *queue;	/* received, not yet handled; or NULL */

	struct object *objects;
	size_t nobjects;
	struct cache *cache;	/* what is kept of them from run to run */

	struct foreseen **foreseen;	/* only until an attach is over */
	size_t nforeseen;

	struct extensions *extensions;	/* or NULL */
	uint64_t extended;	/* the next extension's number */

	struct root root;
	bool stopping;		/* counting is over */
	unsigned mask_calls;	/* see trap_mask.c */
	bool suspending;	/* pmon stops when the program does (^Z) */

	double deadline;	/* monotonic seconds, 0: none */
	/* Print the report so far. */
	void (*report)(struct run *run);
	/* Print a note; false if that must be tried again later. */
	bool (*tell)(const char *note);

	struct task *departed;	/* copied from the last task that was killed
				   with its whole process; see account.c */
	bool unheeded;		/* a task has ended that no event had announced */
	struct stops stops;
	double standing;	/* when the standstill of an attach or detach
				   began; 0: there is none */
	struct stall stall;
	size_t nprocesses, nthreads;
	struct owners *owners;	/* of counter sets, with --separate; or NULL */
	struct remarks *remarks;	/* or NULL */
	double started;		/* monotonic seconds */
	char *program;		/* the first program's name */
	struct recording *recording;	/* NULL before run_begin */
	struct autosave *autosave;	/* or NULL */
	struct slow *slow;	/* or NULL */
	struct timing *timing;	/* --time, --trace, or NULL */
	struct tracing *tracing;	/* --trace, or NULL */
	struct earlier *earlier;	/* --weights, or NULL */
	struct control *control;	/* its socket, or NULL */
};

/* ---- process/state.c */

/* Keep a remark for the report; the same text is kept once. */
void run_remark(struct run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The remarks kept, *n of them; they stay the run's. */
char **run_remarks(const struct run *run, size_t *n);
void remarks_free(struct run *run);

/*
 * Is a signal to pmon pending that will make it stop?  Then lengthy work should
 * be given up.
 */
bool run_interrupted(struct run *run);

/*
 * Is the signal one that the program sent to its process group?  pmon belongs
 * to the group and gets it, too, but nobody asks pmon for anything.
 */
bool run_signal_shared(struct run *run, pid_t sender);

/*
 * Whether pmon is to see what code programs map, since libraries are counted;
 * and if so, by hooks.
 */
bool run_maps_wanted(const struct run *run);
bool run_maps_hooked(const struct run *run);

/* ---- run.c */

/*
 * A run with these options, which must live as long, and with the client that
 * counts.  Its host is this machine's until a program says otherwise.
 */
void run_init(struct run *run, const struct options *opts);

/* Free all that the run has, and close its host. */
void run_free(struct run *run);

/*
 * All that stood still at attach or detach goes on now, or begins to stand
 * still for another reason: note for how long it did.
 */
void run_standing_end(struct run *run);
/*
 * Processes go on after an attach or a detach: run_standing_end, and the work
 * that was put off until then.
 */
void run_goes_on(struct run *run);

/* Run until nothing is left to follow or pmon is told to stop. */
void run_loop(struct run *run);

#endif
