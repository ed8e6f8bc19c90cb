/*
 * What the files of the client that measures calls share.  Private to them.
 */
#ifndef MONITOR_CLIENT_TIMES_INNER_H
#define MONITOR_CLIENT_TIMES_INNER_H

#include "monitor/client/event_func.h"
#include "monitor/client/time_clock.h"
#include "monitor/client/times.h"
#include "probe/time_stacks.h"
#include "util/clock.h"

/* A block that begins at an instruction, and an edge that it ends in. */
enum { PENDING_MAX = 2 };

/* Where one of a function's probes is, if the function runs in place. */
struct timed_site {
	uint64_t addr;
	uint8_t kind;		/* enum term_kind */
	uint8_t record;		/* enum record_kind */
};

struct timed_func {
	struct plan *plan;
	uint32_t fplan;
	struct timed_site *sites;	/* by ascending addr; what begins a call
					   before what ends one */
	size_t nsites;
	struct event_func *events;	/* NULL: none are counted */
	uint64_t slow;		/* tell of calls that take longer, in ns; 0: of
				   none */
};

/* The functions of one plan. */
struct timed_plan {
	const struct plan *plan;
	uint32_t *funcs;	/* per function plan: index into timing->funcs,
				   from 1 on; 0: none yet */
};

/*
 * What a task is about to do, which is at a site: its instruction may turn out
 * not to have begun, or to branch.
 */
struct pending {
	uint8_t kinds[PENDING_MAX];	/* enum record_kind */
	unsigned n;
	bool falls;		/* the last one, if the branch is not taken */
	uint64_t adds;		/* events */
	uint32_t func, sp;
	uint64_t when;		/* as the clock shows, and ... */
	uint64_t stamp;		/* ... the CPU's time stamp */
};

struct timed_task {
	struct run *run;
	struct timing *timing;
	pid_t tid;
	size_t counter_set;	/* that has its times */
	struct time_stacks *stacks;	/* --time, --per; or NULL */
	uint32_t traced;	/* --trace: the thread's number */
	struct time_clock clock;
	struct pending pending;
	/* --trace: its stops since then, which the trace is to have behind. */
	struct trace_item *stops;
	size_t nstops;
	/* Events: as its probes have counted, and in functions in place. */
	uint64_t counted, in_place;
	/*
	 * It is about to switch stacks, and had so many events then; what is
	 * recorded meanwhile waits until it is known whether it has.
	 */
	bool leaving;
	uint64_t leaves_at;
	bool apart;		/* it has left a stack that stays */
	struct record *held;
	size_t nheld;
};

struct timing {
	struct timed_func *funcs;
	size_t nfuncs;
	struct timed_plan *plans;
	size_t nplans;
	struct timed_task **tasks;	/* ascending tid */
	size_t ntasks;
	const struct event_def *event;	/* is counted, not times; or NULL */
	char *unknown;		/* why events are not known, or NULL */
	struct time_costs costs;
	struct moment began;	/* measuring */
};

/* The number of a function, as records have it. */
uint32_t timed_func_number(struct run *run, struct plan *plan, uint32_t fplan);
/* The task as the client knows it, or NULL. */
struct timed_task *timed_find(const struct run *run, const struct task *task);
/* What the task's clock shows: its time, or its events. */
uint64_t timed_now(const struct timed_task *timed);
/* What the task was about to do at its last site, it has done. */
void timed_pending(struct timed_task *timed);
/* Give the task's stacks what it has recorded. */
void timed_records(struct timed_task *timed, const struct record *records,
		   size_t n);

/* time_probes.c: callback of the client. */
void timed_choose(struct run *run, struct plan *plan, struct probe_list *list);
/* Note what is recorded of an instruction that has begun, or has branched. */
void timed_note(struct pending *pending, const struct timed_func *func,
		uint64_t addr, enum site_event what);

/* events.c: the events of all calls are not known, and why.  The first counts. */
void events_lose(struct timing *timing, const char *why);
/* What was recorded while it was not known whether the task would leave counts. */
void events_go_on(struct timed_task *timed);
/* Callbacks of the client. */
void events_abnormal(struct run *run, const struct task *task,
		     struct plan *plan, const struct abnormal_edge *edge);
void events_leave(struct run *run, const struct task *task);
void events_left(struct run *run, const struct task *task, uint64_t sp);
void events_moved(struct run *run, const struct task *task, struct plan *plan,
		  uint32_t fplan, uint32_t element, uint64_t sp, bool back);
/* Say of all functions whose events are not known, and why. */
void events_settle(struct run *run);
/* The functions' events are chosen, which happens before its records. */
void events_choose(struct run *run, struct timed_func *func,
		   struct probe_list *list);

#endif
