/*
 * A task's clock: shows how long the task has run, in ticks of the CPU's time
 * stamp, without the time that pmon takes.  Pure.
 */
#ifndef MONITOR_CLIENT_TIME_CLOCK_H
#define MONITOR_CLIENT_TIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* What pmon's doings take, in ticks; of all tasks. */
struct time_costs {
	uint64_t record;	/* to make a record */
	/*
	 * The least times that the kernel took from a trap until pmon knew,
	 * from pmon until the task ran again, and from that until pmon knew of
	 * its next trap.  0: not known yet.
	 */
	uint64_t in, out, both;
};

/* A stamp minus `lost` is the time that the clock shows. */
struct time_clock {
	struct time_costs *costs;
	uint64_t lost;
	uint64_t last;		/* what it showed last */
	bool begun;		/* it shows something */
	uint64_t stopped;	/* the stamp of the stop that the task is in,
				   or 0 */
	uint64_t gone_on;	/* the stamp when it went on last */
	bool silent;		/* it has made no record since */
	bool full;		/* it makes its next record as soon as it goes
				   on from its stop */
};

/* The task has made a record: when, as the clock shows.  In the order made. */
uint64_t time_clock_record(struct time_clock *clock, uint64_t stamp);
/* The task has stopped, or goes on: see struct client. */
void time_clock_stop(struct time_clock *clock, uint64_t stamp, uint64_t full);
void time_clock_go(struct time_clock *clock, uint64_t stamp);

#endif
