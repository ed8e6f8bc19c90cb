/*
 * Counting, as a client: fills the counter sets of plans.
 */
#ifndef MONITOR_CLIENT_COUNT_H
#define MONITOR_CLIENT_COUNT_H

#include "monitor/process/client.h"

extern const struct client client_count;

/*
 * The sum of all tasks' counts in the plan, as they are about now, while the
 * tasks run.  Owned by the caller: counter_set_free.
 */
struct counter_set *count_peek(struct run *run, const struct plan *plan);

#endif
