/*
 * The counters of one module in one thread page, and the guards among them.
 * For thread_pages.c only, which knows where pages are.  A module that has a
 * shared page has none in thread pages: `page` and `va` mean nothing then.
 * Else `page` is where pmon has mapped the thread page.
 */
#ifndef MONITOR_PROCESS_THREAD_COUNTERS_H
#define MONITOR_PROCESS_THREAD_COUNTERS_H

#include "monitor/run.h"

/* Write the module's guards number from, ..., to - 1 into the page. */
void counters_guard(const struct module *module, uint8_t *page, size_t from,
		    size_t to);

/*
 * Tell clients the module's counters in the page, and set these to 0, guards
 * too.  task is NULL if its end was not seen.  If a guard has another value
 * than the one written, the plan's counters have been tampered with.
 */
void counters_drain(struct run *run, const struct task *task,
		    const struct module *module, uint8_t *page);

/*
 * Does the stopped task, for which the page is at va, see the same counters of
 * the module as pmon, in a page of the same generation?
 */
bool counters_seen(struct run *run, const struct task *task,
		   const struct module *module, uint8_t *page, uint64_t va);

#endif
