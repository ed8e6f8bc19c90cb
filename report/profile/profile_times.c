/*
 * Writes, reads, checks and adds up the times of functions.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_inner.h"
#include "util/mem.h"

/* What is there of a function. */
enum { KNOWN = 1, UNTIMED = 2, EVENT = 4 };

const char *
times_fault(const struct profile_func *func)
{
	const struct times *times = func->times;
	uint64_t n = 0;

	if (!times)
		return NULL;
	for (unsigned i = time_bin_next(times, 0); i < TIME_BINS;
	     i = time_bin_next(times, i + 1))
		if (__builtin_add_overflow(n, times->bins[i], &n))
			return "too many times";
	if (n != times->ended || times->min > times->max ||
	    (!n && (times->sum || times->max)))
		return "times that contradict each other";
	return NULL;
}

/* ---- files */

static bool
times_any(const struct profile *profile)
{
	struct func_cursor at = { 0 };
	const struct profile_func *func;

	while ((func = func_next(profile, &at)))
		if (func->times || func->untimed)
			return true;
	return false;
}

static void
bins_put(const struct times *times, struct sink *out)
{
	unsigned last = 0, n = 0;

	for (unsigned i = time_bin_next(times, 0); i < TIME_BINS;
	     i = time_bin_next(times, i + 1))
		n++;
	put_uint(out, n);
	for (unsigned i = time_bin_next(times, 0); i < TIME_BINS;
	     i = time_bin_next(times, i + 1)) {
		put_uint(out, i - last);
		put_uint(out, times->bins[i]);
		last = i;
	}
}

static void
func_times_put(const struct profile_func *func, struct sink *out)
{
	const struct times *times = func->times;

	put_byte(out, (times ? KNOWN : 0) | (func->untimed ? UNTIMED : 0) |
			      (times && times->event ? EVENT : 0));
	if (func->untimed)
		put_string(out, func->untimed);
	if (!times)
		return;
	if (times->event)
		put_string(out, times->event);
	put_uint(out, times->calls);
	put_uint(out, times->total);
	put_uint(out, times->self);
	put_uint(out, times->sum);
	put_uint(out, times->min);
	put_uint(out, times->max);
	put_byte(out, times->lost);
	bins_put(times, out);
}

void
times_put(const struct profile *profile, struct sink *out)
{
	struct func_cursor at = { 0 };
	const struct profile_func *func;

	if (!times_any(profile))
		return;
	while ((func = func_next(profile, &at)))
		func_times_put(func, out);
}

static void
bins_get(struct times *times, struct feed *feed)
{
	uint64_t n = get_max(feed, TIME_BINS), bin = 0;

	if (n)
		times->bins = mem_alloc(TIME_BINS * sizeof(*times->bins));
	while (n-- && !feed->bad) {
		bin += get_max(feed, TIME_BINS - 1 - bin);
		times->bins[bin] = get_uint(feed);
		if (__builtin_add_overflow(times->ended, times->bins[bin],
					   &times->ended))
			feed->bad = true;
	}
}

static void
func_times_get(struct profile_func *func, struct feed *feed)
{
	unsigned flags = get_byte(feed);
	struct times *times;

	if (flags & ~(KNOWN | UNTIMED | EVENT) ||
	    (flags & EVENT && !(flags & KNOWN)))
		feed->bad = true;
	if (flags & UNTIMED)
		func->untimed = get_string(feed);
	if (!(flags & KNOWN))
		return;
	times = func->times = mem_alloc(sizeof(*times));
	if (flags & EVENT)
		times->event = get_string(feed);
	times->calls = get_uint(feed);
	times->total = get_uint(feed);
	times->self = get_uint(feed);
	times->sum = get_uint(feed);
	times->min = get_uint(feed);
	times->max = get_uint(feed);
	times->lost = get_byte(feed);
	bins_get(times, feed);
}

void
times_get(struct profile *profile, struct feed *feed)
{
	struct func_cursor at = { 0 };
	struct profile_func *func;

	if (!feed_left(feed))
		return;
	while (!feed->bad && (func = func_next(profile, &at)))
		func_times_get(func, feed);
}

/* ---- merging */

static bool
times_fit(const struct times *a, const struct times *b)
{
	uint64_t sum;

	return !__builtin_add_overflow(a->calls, b->calls, &sum) &&
	       !__builtin_add_overflow(a->ended, b->ended, &sum) &&
	       !__builtin_add_overflow(a->total, b->total, &sum) &&
	       !__builtin_add_overflow(a->self, b->self, &sum) &&
	       !__builtin_add_overflow(a->sum, b->sum, &sum);
}

/*
 * What cannot be added up is not known, whatever is added later.  The order of
 * merging must not matter.
 */
static const char why_lost[] =
	"the merged files have times, or events, that cannot be added up";

static bool
times_lost(const struct profile_func *func)
{
	return func->untimed && !strcmp(func->untimed, why_lost);
}

static void
times_lose(struct profile_func *into, struct profile_func *from)
{
	times_free(into->times);
	times_free(from->times);
	into->times = from->times = NULL;
	free(into->untimed);
	into->untimed = mem_strdup(why_lost);
}

static bool
times_alike(const struct times *a, const struct times *b)
{
	return a->event && b->event ? !strcmp(a->event, b->event) :
				      a->event == b->event;
}

void
times_merge(struct profile_func *into, struct profile_func *from)
{
	if (times_lost(into) || times_lost(from) ||
	    (into->times && from->times &&
	     (!times_alike(into->times, from->times) ||
	      !times_fit(into->times, from->times)))) {
		times_lose(into, from);
		return;
	}
	if (into->times && from->times) {
		times_add(into->times, from->times);
	} else if (from->times) {
		into->times = from->times;
		from->times = NULL;
	}
	if (from->untimed &&
	    (!into->untimed || strcmp(from->untimed, into->untimed) < 0)) {
		free(into->untimed);
		into->untimed = from->untimed;
		from->untimed = NULL;
	}
}
