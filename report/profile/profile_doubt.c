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

void
doubts_put(const struct profile *profile, struct sink *out)
{
	bool any = false;

	for (size_t i = 0; i < profile->nobjects; i++)
		for (size_t k = 0; k < profile->objects[i].nfuncs; k++)
			any |= profile->objects[i].funcs[k].doubt != 0;
	for (size_t i = 0; any && i < profile->nobjects; i++)
		for (size_t k = 0; k < profile->objects[i].nfuncs; k++) {
			const struct profile_func *func =
				&profile->objects[i].funcs[k];
			uint64_t last = func->addr;

			if (!func_may_doubt(func))
				continue;
			put_byte(out, func->doubt);
			if (!func->doubt)
				continue;
			put_uint(out, func->npassed);
			for (size_t p = 0; p < func->npassed; p++) {
				put_delta(out, func->passed[p], last);
				last = func->passed[p];
			}
		}
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
	if (!feed_left(feed))
		return;
	for (size_t i = 0; i < profile->nobjects; i++)
		for (size_t k = 0; k < profile->objects[i].nfuncs; k++)
			if (func_may_doubt(&profile->objects[i].funcs[k]))
				doubt_get(&profile->objects[i].funcs[k], feed);
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
