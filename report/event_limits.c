/*
 * Limits of events (--fail-if): parses them, and tells whether one is passed.
 * Compares exactly, in integers.
 */
#include "report/event_limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/event_sums.h"
#include "util/mem.h"

enum { DECIMALS = 3, PERCENT_ALL = 100000 };	/* in 1/1000 */

static int
limit_refuse(const char *arg)
{
	return fail("--fail-if: \"%s\" is not EVENT > NUMBER, EVENT > +NUMBER, "
		    "EVENT > +PERCENT%%, or one of these with <",
		    arg);
}

/* Parse a whole number, or a percentage if it ends in '%'. */
static int
value_parse(struct event_limit *limit, const char *s)
{
	const char *end;

	limit->percent = strchr(s, '%');
	end = decimal_read(s, limit->percent ? DECIMALS : 0, &limit->n);
	if (!end || strcmp(end, limit->percent ? "%" : "") != 0 ||
	    limit->n == UINT64_MAX)
		return -1;
	return limit->percent && (!limit->change ||
				  limit->n >
					  (uint64_t)PERCENT_ALL * PERCENT_ALL) ?
		       -1 :
		       0;
}

int
event_limit_add(struct events *events, const char *arg)
{
	struct event_limit limit = { 0 };
	const char *more = strrchr(arg, '>'), *less = strrchr(arg, '<');
	const char *sign = !more || (less && less > more) ? less : more;
	const char *end = sign;

	if (!sign)
		return limit_refuse(arg);
	limit.less = *sign++ == '<';
	while (end > arg && end[-1] == ' ')
		end--;
	sign += strspn(sign, " ");
	limit.change = *sign == '+' || *sign == '-';
	limit.down = *sign == '-';
	if (end == arg || value_parse(&limit, sign + limit.change))
		return limit_refuse(arg);
	limit.event = mem_strndup(arg, (size_t)(end - arg));
	limit.text = mem_strdup(arg);
	*vec_push(events->limits, events->nlimits) = limit;
	return 0;
}

static long
event_find(const struct events *events, const char *name)
{
	for (size_t i = 0; i < events->n; i++)
		if (!strcmp(events->events[i].name, name))
			return (long)i;
	return -1;
}

int
event_limits_check(const struct events *events, bool two)
{
	for (size_t i = 0; i < events->nlimits; i++) {
		const struct event_limit *limit = &events->limits[i];

		if (event_find(events, limit->event) < 0)
			return fail("--fail-if: no event is named \"%s\"",
				    limit->event);
		if (limit->change && !two)
			return fail("--fail-if: \"%s\" needs two files: "
				    "pmprint --diff BEFORE AFTER",
				    limit->text);
	}
	return 0;
}

/* Whether n is beyond the limit. */
static bool
limit_passed(const struct event_limit *limit, uint64_t before, uint64_t n)
{
	__int128 at = limit->n, is = n;

	if (limit->change) {
		if (limit->percent)
			at *= before;
		is -= before;
		is *= limit->percent ? PERCENT_ALL : 1;
		at = limit->down ? -at : at;
	}
	return limit->less ? is < at : is > at;
}

int
event_limits_judge(const struct events *events, const struct figure *before,
		   const struct figure *after)
{
	for (size_t i = 0; i < events->nlimits; i++) {
		const struct event_limit *limit = &events->limits[i];
		size_t e = (size_t)event_find(events, limit->event);
		const char *why = before && before[e].why ? before[e].why :
							    after[e].why;

		if (why)
			return fail("--fail-if: %s is not known: %s",
				    limit->event, why);
		if (!limit_passed(limit, before ? before[e].n : 0, after[e].n))
			continue;
		if (before)
			fail("%s: %s went from %" PRIu64 " to %" PRIu64,
			     limit->text, limit->event, before[e].n,
			     after[e].n);
		else
			fail("%s: %s is %" PRIu64, limit->text, limit->event,
			     after[e].n);
		return 1;
	}
	return 0;
}

int
events_judge(struct table *table)
{
	const struct events *events = &table->opts->events;

	return events->nlimits ?
		       event_limits_judge(events, NULL,
					  event_sums(table, NULL)->all) :
		       0;
}
