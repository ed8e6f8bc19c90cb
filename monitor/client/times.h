/*
 * Times, as a client: how long each function took, in itself and with what it
 * called (--time).
 */
#ifndef MONITOR_CLIENT_TIMES_H
#define MONITOR_CLIENT_TIMES_H

#include "monitor/process/client.h"

extern const struct client client_times;
/* The same with the number of an event in place of time (--per). */
extern const struct client client_events;

void times_open(struct run *run);
/* What a record takes, in ticks. */
uint64_t times_cost(const struct run *run);
/* Free what the client has; the run may have none. */
void times_close(struct run *run);

/* Bring the counter sets' times up to date; all tasks stand still. */
void times_settle(struct run *run);
/* The counter sets have been cleared: all calls begin now. */
void times_reset(struct run *run);

#endif
