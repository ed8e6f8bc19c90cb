/*
 * Adds up times of calls.  Knows nothing of clocks, tasks and stacks.
 */
#include "probe/times.h"

#include <stdlib.h>
#include <string.h>

#include "probe/func_plan.h"
#include "util/mem.h"

unsigned
time_bin(uint64_t time)
{
	unsigned log, bin;

	if (time < TIME_PARTS)
		return (unsigned)time;
	log = 63 - (unsigned)__builtin_clzll(time);
	/* The two bits behind the first. */
	bin = (log - 1) * TIME_PARTS +
	      (unsigned)(time >> (log - 2) & (TIME_PARTS - 1));
	return bin < TIME_BINS ? bin : TIME_BINS - 1;
}

uint64_t
time_bin_end(unsigned bin)
{
	unsigned log = bin / TIME_PARTS + 1;

	if (bin < TIME_PARTS)
		return bin;
	return (UINT64_C(1) << log) +
	       ((uint64_t)(bin % TIME_PARTS + 1) << (log - 2)) - 1;
}

unsigned
time_bin_next(const struct times *times, unsigned bin)
{
	while (bin < TIME_BINS && (!times->bins || !times->bins[bin]))
		bin++;
	return bin;
}

uint64_t
times_percentile(const struct times *times, unsigned percent)
{
	unsigned __int128 need = (unsigned __int128)times->ended * percent;
	unsigned __int128 n = 0;
	uint64_t end;

	for (unsigned i = time_bin_next(times, 0); i < TIME_BINS;
	     i = time_bin_next(times, i + 1)) {
		n += times->bins[i];
		end = time_bin_end(i);
		if (100 * n >= need)
			return end < times->max ? end : times->max;
	}
	return times->max;
}

static uint64_t *
times_bins(struct times *times)
{
	if (!times->bins)
		times->bins = mem_alloc(TIME_BINS * sizeof(*times->bins));
	return times->bins;
}

void
times_ended(struct times *times, uint64_t time)
{
	times_bins(times)[time_bin(time)]++;
	times->min = times->ended && times->min < time ? times->min : time;
	times->max = times->max > time ? times->max : time;
	times->sum += time;
	times->ended++;
}

void
times_add(struct times *into, const struct times *from)
{
	if (from->ended && (!into->ended || from->min < into->min))
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->calls += from->calls;
	into->ended += from->ended;
	into->total += from->total;
	into->self += from->self;
	into->sum += from->sum;
	into->lost |= from->lost;
	if (from->event && !into->event)
		into->event = mem_strdup(from->event);
	for (unsigned i = time_bin_next(from, 0); i < TIME_BINS;
	     i = time_bin_next(from, i + 1))
		times_bins(into)[i] += from->bins[i];
}

static uint64_t
scaled(uint64_t ticks, double units)
{
	double n = (double)ticks * units + 0.5;

	return n < 0x1p64 ? (uint64_t)n : UINT64_MAX;
}

struct times *
times_copy(const struct times *from)
{
	struct times *times = mem_alloc(sizeof(*times));

	times_add(times, from);
	return times;
}

struct times *
times_scale(const struct times *from, double units)
{
	struct times *times;

	if (from->event)
		return times_copy(from);
	times = mem_alloc(sizeof(*times));
	*times = (struct times){
		.calls = from->calls,
		.ended = from->ended,
		.total = scaled(from->total, units),
		.self = scaled(from->self, units),
		.sum = scaled(from->sum, units),
		.min = scaled(from->min, units),
		.max = scaled(from->max, units),
		.lost = from->lost,
	};
	for (unsigned i = time_bin_next(from, 0); i < TIME_BINS;
	     i = time_bin_next(from, i + 1))
		times_bins(times)[time_bin(scaled(time_bin_end(i), units))] +=
			from->bins[i];
	return times;
}

void
times_clear(struct times *times)
{
	free(times->bins);
	*times = (struct times){ .event = times->event };
}

void
times_free(struct times *times)
{
	if (!times)
		return;
	free(times->bins);
	free(times->event);
	free(times);
}

/* A stop may take a part of a millisecond. */
enum { LONG_NS = 1000000 };

/* Whether the function runs in place, and its calls are short. */
static bool
calls_in_place(const struct func_plan *fplan)
{
	const struct times *times = fplan->times;

	return times && !times->event && fplan->placement &&
	       !fplan->relocated && times->total / LONG_NS < times->ended;
}

const char *
fplan_untimed(const struct func_plan *fplan)
{
	static const char lost[] =
		"calls were on several stacks that pmon could not tell apart";
	static const char given_up[] =
		"entries and exits could not be watched all the time";

	static const char in_place[] =
		"a breakpoint at each entry and exit takes longer than calls";

	if (fplan->untimed)
		return fplan->untimed;
	if (fplan->times && fplan->times->lost)
		return lost;
	if (fplan->dropped || fplan->lost || fplan->unwritten)
		return given_up;
	return calls_in_place(fplan) ? in_place : NULL;
}
