/*
 * The counts of a run under way on the terminal.
 */
#ifndef MONITOR_LIVE_H
#define MONITOR_LIVE_H

#include "monitor/options.h"

/*
 * Show what the pmon opts->asked counts until it ends or 'q' is typed; 0, or
 * -1 with the message.
 */
int live_show(const struct options *opts);

#endif
