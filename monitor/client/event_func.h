/*
 * The events of one function: where it adds to the count of events, and how far
 * that count is from the truth where control is in the middle of it.
 */
#ifndef MONITOR_CLIENT_EVENT_FUNC_H
#define MONITOR_CLIENT_EVENT_FUNC_H

#include "monitor/process/client.h"
#include "report/events.h"

struct event_func;

/*
 * Find the increments of the event in a function that is looked at.  NULL with
 * the message: the event cannot be counted there.
 */
struct event_func *event_func_make(const struct event_def *event,
				   const struct plan *plan,
				   const struct func_plan *fplan) MUST_CHECK;
void event_func_free(struct event_func *func);
/* Whether the increments are the same. */
bool event_func_same(const struct event_func *a, const struct event_func *b);

/* Ask for the probes.  0, or -1 with the message. */
int event_func_ask(const struct event_func *func,
		   struct probe_list *list) MUST_CHECK;

/* What the instruction at addr adds in a function that runs in place. */
uint64_t event_func_at(const struct event_func *func, uint64_t addr,
		       enum site_event what);
/* What the probe of an arc adds. */
uint64_t event_func_arc(const struct event_func *func, uint32_t arc);

/*
 * How many events the count lacks when control is at this abnormal edge, which
 * is in the function: *lack.  false: nobody knows.
 */
bool event_func_lacks(const struct event_func *func,
		      const struct func_plan *fplan,
		      const struct abnormal_edge *edge, uint64_t *lack);

#endif
