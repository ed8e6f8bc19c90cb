/*
 * Writes, reads, checks and adds up the doubts of functions.  A function is in
 * doubt if control may have left it or come to it within blocks, so that the
 * counts of blocks do not give those of all instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_inner.h"
#include "util/mem.h"

static bool
func_may_doubt(const struct profile_func *func)
{
	return func->state == PROFILE_COUNTED && func->nblocks;
}

const char *
doubt_fault(const struct profile_func *func)
{
	if (func->doubt > REASON_MAX)
		return "a doubt of an unknown kind";
	if (func->doubt && !func_may_doubt(func))
		return "a doubt about a function that was not counted";
	if (func->npassed && !func->doubt)
		return "returned calls in a function without a doubt";
	for (size_t i = 1; i < func->npassed; i++)
		if (func->passed[i] <= func->passed[i - 1])
			return "returned calls out of order";
	return NULL;
}

/* ---- files */

static bool
doubts_any(const struct profile *profile)
{
	struct func_cursor at = { 0 };
	const struct profile_func *func;

	while ((func = func_next(profile, &at)))
		if (func->doubt)
			return true;
	return false;
}

static void
doubt_put(const struct profile_func *func, struct sink *out)
{
	uint64_t last = func->addr;

	put_byte(out, func->doubt);
	if (!func->doubt)
		return;
	put_uint(out, func->npassed);
	for (size_t i = 0; i < func->npassed; i++) {
		put_delta(out, func->passed[i], last);
		last = func->passed[i];
	}
}

void
doubts_put(const struct profile *profile, struct sink *out)
{
	struct func_cursor at = { 0 };
	const struct profile_func *func;

	if (!doubts_any(profile))
		return;
	while ((func = func_next(profile, &at)))
		if (func_may_doubt(func))
			doubt_put(func, out);
}

static void
doubt_get(struct profile_func *func, struct feed *feed)
{
	uint64_t n, last = func->addr;

	func->doubt = (uint8_t)get_byte(feed);
	if (!func->doubt)
		return;
	n = get_uint(feed);
	while (n-- && !feed->bad) {
		last = get_delta(feed, last);
		*vec_push(func->passed, func->npassed) = last;
	}
}

void
doubts_get(struct profile *profile, struct feed *feed)
{
	struct func_cursor at = { 0 };
	struct profile_func *func;

	if (!feed_left(feed))
		return;
	while ((func = func_next(profile, &at)))
		if (func_may_doubt(func))
			doubt_get(func, feed);
}

/* ---- merging */

/*
 * Of two doubts, the one that leaves less known, else the lower number.  With
 * another one, control that came behind a call may have come anywhere: see
 * doubt_of.
 */
static uint8_t
doubt_more(uint8_t a, uint8_t b)
{
	if (!a || !b)
		return a | b;
	if (a != b && (a == REASON_CAME_BACK || b == REASON_CAME_BACK))
		return REASON_MID_ENTRY;
	if (reason_anywhere(a) != reason_anywhere(b))
		return reason_anywhere(a) ? a : b;
	return a < b ? a : b;
}

/* Leave only the instructions that are in both lists. */
static void
passed_common(struct profile_func *into, const struct profile_func *from)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < into->npassed; i++) {
		while (k < from->npassed && from->passed[k] < into->passed[i])
			k++;
		if (k < from->npassed && from->passed[k] == into->passed[i])
			into->passed[n++] = into->passed[i];
	}
	into->npassed = n;
}

void
doubt_add(struct profile_func *into, struct profile_func *from)
{
	if (!from->doubt)
		return;
	if (into->doubt) {
		passed_common(into, from);
	} else {
		into->passed = from->passed;
		into->npassed = from->npassed;
		from->passed = NULL;
		from->npassed = 0;
	}
	into->doubt = doubt_more(into->doubt, from->doubt);
}
