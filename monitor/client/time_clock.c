/*
 * Takes stops and records off a task's time.  Knows nothing of tasks and
 * functions, and never asks what time it is.
 */
#include "monitor/client/time_clock.h"

enum { STOP_TICKS = 200000 };	/* of the fastest CPUs, 40 microseconds */

/*
 * What the clock shows at the stamp.  If too much was taken off for a stop or a
 * record, it stands until the rest is made up for.
 */
static uint64_t
clock_at(struct time_clock *clock, uint64_t stamp)
{
	uint64_t now = stamp - clock->lost;

	if ((int64_t)(now - clock->last) < 0) {
		clock->lost = stamp - clock->last;
		now = clock->last;
	}
	clock->last = now;
	return now;
}

static void
least(uint64_t *of, uint64_t ticks)
{
	if (!*of || ticks < *of)
		*of = ticks;
}

uint64_t
time_clock_record(struct time_clock *clock, uint64_t stamp)
{
	uint64_t now = clock->last;

	/* Else the last stop came between the record's stamp and its end. */
	if (stamp > clock->gone_on) {
		/* Mostly of the function at whose entry the task stopped. */
		if (clock->silent)
			least(&clock->costs->out, stamp - clock->gone_on);
		if (clock->full)
			clock->lost = stamp - clock->last;
		now = clock_at(clock, stamp);
	}
	clock->silent = clock->full = false;
	clock->lost += clock->costs->record;
	return now;
}

void
time_clock_stop(struct time_clock *clock, uint64_t stamp, uint64_t full)
{
	if (clock->stopped || !clock->begun)
		return;
	/* The probe may have stored half of it, the program anything. */
	if (full >= clock->gone_on && full < stamp) {
		least(&clock->costs->in, stamp - full);
		clock->full = true;
		clock_at(clock, full);
	} else {
		clock_at(clock, stamp);
	}
	if (clock->silent)
		least(&clock->costs->both, stamp - clock->gone_on);
	clock->stopped = stamp;
}

/*
 * What the kernel took at least for a stop, besides the time that pmon saw.  What
 * is longer than a stop can take was the program's.
 */
static uint64_t
stop_cost(const struct time_costs *costs)
{
	uint64_t apart = costs->out + (costs->in ? costs->in : costs->out);
	uint64_t cost = costs->both;

	if (apart && (apart < cost || !cost))
		cost = apart;
	return cost < STOP_TICKS ? cost : STOP_TICKS;
}

void
time_clock_go(struct time_clock *clock, uint64_t stamp)
{
	/*
	 * A task that goes on though it has not stopped, as far as was told,
	 * has run for pmon meanwhile (detour.h).
	 */
	if (clock->stopped)
		clock->lost += stamp - clock->stopped + stop_cost(clock->costs);
	else
		clock->lost += stamp - clock->gone_on;
	clock->begun = true;
	clock->silent = clock->stopped != 0;
	clock->stopped = 0;
	clock->gone_on = stamp;
}
