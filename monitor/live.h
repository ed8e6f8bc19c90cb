/*
 * The live view: the counts of another pmon's run on the terminal.
 */
#ifndef MONITOR_LIVE_H
#define MONITOR_LIVE_H

#include "monitor/options.h"

/*
 * Show what the pmon of opts->asked counts, until that pmon ends or the user
 * types 'q'.  0, or -1 with the message.
 */
int live_show(const struct options *opts);

#endif
