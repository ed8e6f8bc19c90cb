/*
 * The structures of a monitoring run: the tasks, processes and address spaces
 * that pmon follows, the objects they run, and the queue of host events.  All
 * of monitor/ shares them; doc/theory/monitor.md says how they belong together.
 */
#ifndef MONITOR_RUN_H
#define MONITOR_RUN_H

#include "arch/abi.h"
#include "arch/arch.h"
#include "host/host.h"
#include "monitor/options.h"
#include "monitor/process/tables.h"
#include "plan/plan.h"
#include "report/report.h"

/* A file that was looked at: its plan, or why there is none. */
struct object {
	uint64_t dev, ino, size, mtime;
	struct plan *plan;	/* or NULL */
	bool counted;		/* the plan has more than hooks */
	char *unread;		/* why its hooks are not known, or NULL */
};

struct earlier;			/* see report/profile/profile_plan.h */
struct simh_site;		/* see host/simh.h */
struct client;			/* see client.h */
struct autosave;		/* see autosave.c */
struct control;			/* see control.c */

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

enum { TASK_BUCKETS = 1024 };

enum { CLIENTS_MAX = 4 };

struct run {
	const struct options *opts;
	const struct client *clients[CLIENTS_MAX];	/* see client.h */
	size_t nclients;
	const struct host *host;
	const struct arch *arch;
	const struct abi *abi;	/* or NULL */
	bool eager;		/* look at all functions before the start */
	bool host_counts;	/* the host can count by itself ... */
	struct simh_site *counted;	/* ... and counts these sites, */
	uint32_t *counted_site;	/* which have these indices in the plan */
	size_t ncounted, ncounted_site;
	struct plan *counted_plan;
	struct task *tasks[TASK_BUCKETS];
	struct process *processes;
	struct event *queue;	/* received, not yet handled */
	size_t queue_head, queue_len;

	struct object *objects;
	size_t nobjects;

	struct extension *extensions;	/* ascending number */
	size_t nextensions, extensions_max, extensions_room;
	uint64_t extended;	/* the next one's number */

	pid_t root;		/* the launched process, or 0 */
	bool root_started;	/* it has become the program */
	bool root_ended;
	int root_status;	/* as exit status of pmon */
	int root_signal;	/* that killed it, or 0 */
	bool stopping;		/* counting is over */
	bool suspending;	/* pmon stops when the program does (^Z) */

	double deadline;	/* monotonic seconds, 0: none */
	/* Print the report so far. */
	void (*report)(struct run *run);

	struct task *departed;	/* copied from the last task that was killed
				   with its whole process; see account.c */
	struct stops stops;
	double standing;	/* when the standstill of an attach or detach
				   began; 0: there is none */
	struct stall stall;
	size_t nprocesses, nthreads;
	struct counter_owner *owners;	/* with --separate: per counter set */
	size_t nowners;
	char **remarks;
	size_t nremarks;
	double started;		/* monotonic seconds */
	uint64_t id;		/* random */
	uint64_t started_utc;	/* nanoseconds since 1970 */
	char *program;		/* the first program's name */
	char *data;		/* the data file's name; NULL until chosen */
	bool saved;		/* the data file has been written ... */
	bool unsaved;		/* ... but could not be the last time */
	struct autosave *autosave;	/* see autosave.c; or NULL */
	struct earlier *earlier;	/* --weights, or NULL */
	struct control *control;	/* its socket, or NULL */
};

/* ---- run.c */

/* Keep a remark for the report; the same text is kept once. */
void run_remark(struct run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Monotonic seconds. */
double run_clock(void);

/*
 * Is a signal to pmon pending that will make it stop?  Then lengthy work should
 * be given up.
 */
bool run_interrupted(struct run *run);

/*
 * All that stood still at attach or detach goes on now, or begins to stand
 * still for another reason: note for how long it did.
 */
void run_standing_end(struct run *run);

/* Run until nothing is left to follow or pmon is told to stop. */
void run_loop(struct run *run);

#endif
