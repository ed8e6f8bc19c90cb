/*
 * Whether pmon slows the program down much, and the note that says so.
 * doc/theory/monitor.md, "Slow programs", has the estimate.
 */
#ifndef MONITOR_CLIENT_SLOW_H
#define MONITOR_CLIENT_SLOW_H

#include "monitor/run.h"

/* Causes of stops that one thing helps against. */
enum slow_group {
	GROUP_OTHER,
	GROUP_SITES,		/* traps that count */
	GROUP_STACKS,
	GROUP_ENTRIES,
	GROUP_MAPS,
	GROUP_PROCESSES,
	GROUPS,
};

/* What some part of a run took: processor time in seconds, and stops. */
struct slow_use {
	double own, program;	/* pmon's, and that of all processes followed */
	struct stops stops;
};

/* Begin to watch, if the run's host can tell what stops cost. */
void slow_open(struct run *run);
void slow_close(struct run *run);

/*
 * To be called in each round of the run loop.  When two seconds of processor
 * time were spent for less than a third of that by the program itself, keeps a
 * remark and tells it by run->tell, once in a run.
 */
void slow_look(struct run *run);

/* The task, still there, is about to end: note what its process has used. */
void slow_ending(struct run *run, const struct task *task);

/* The stops are counted anew from here on. */
void slow_reset(struct run *run);

/* What a stop of this cause takes of the program's processor time, seconds. */
double stop_cost(const struct stop_costs *costs, int cause);

/* What the program's processor time would have been alone, or 0. */
double slow_alone(const struct slow_use *use, const struct stop_costs *costs);

/*
 * By what factor the run takes more processor time than the program would have
 * taken alone: a lower bound, never more than SLOW_MOST.
 */
enum { SLOW_MOST = 60 };
double slow_factor(const struct slow_use *use, const struct stop_costs *costs);

enum slow_group slow_group(enum stop_cause cause);
/* Is more than calls counted, so that counting calls alone is cheaper? */
bool slow_units_many(const struct run *run);

/*
 * The name of the function that has the site, shortened, or of the site; owned
 * by the caller.
 */
char *slow_name(const struct run *run, const struct plan *plan, uint32_t site);

/*
 * "PROG runs at least 40 times slower than alone: WHY; WHAT HELPS", from the
 * stops that there were meanwhile and the counts of the run.  Owned by the
 * caller.
 */
char *slow_text(const struct run *run, double factor,
		const struct stops *stops);

#endif
