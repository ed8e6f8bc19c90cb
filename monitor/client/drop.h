/*
 * Counters whose traps cost too much, and dropping them.
 * doc/theory/monitor.md, "Slow programs", has the bound.
 */
#ifndef MONITOR_CLIENT_DROP_H
#define MONITOR_CLIENT_DROP_H

#include "monitor/client/slow.h"

struct drop *drop_open(void);
void drop_close(struct drop *drop);

/*
 * By what factor pmon may slow the program down by traps that count: 2 if calls
 * alone are counted, else 3.
 */
double drop_bound(const struct run *run);
/* Whether the options let counters be dropped. */
bool drop_allowed(const struct run *run);

/* A time begins, at whose end counters may be dropped: note the hits so far. */
void drop_begin(struct run *run, struct drop *drop);
/*
 * It has ended, with this use.  If traps that count have cost more than they
 * may, drop those that cost most.  Returns a note that says so, owned by the
 * caller, or NULL.
 */
char *drop_costly(struct run *run, struct drop *drop,
		  const struct slow_use *use, const struct stop_costs *costs);

#endif
