/*
 * What a task has recorded (PROBE_RECORD) in its thread counter page.
 */
#ifndef MONITOR_PROCESS_RECORDS_H
#define MONITOR_PROCESS_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

struct run;
struct task;

/* The task begins to record in the page, which has no records yet. */
void records_begin(struct task *task, uint8_t *page);
/*
 * Tell clients what the task, which stands still or has ended, has recorded
 * since the last call.  Returns the time stamp when it found that there is no
 * room for more; or 0.
 */
uint64_t records_take(struct run *run, struct task *task);

/*
 * How many events the task's probes have counted (PROBE_EVENTS) since it began
 * to record in its page: *n.  false: it has no page.
 */
bool records_events(const struct task *task, uint64_t *n);

#endif
