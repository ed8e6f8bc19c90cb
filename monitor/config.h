/*
 * Options from files.
 */
#ifndef MONITOR_CONFIG_H
#define MONITOR_CONFIG_H

#include "monitor/options.h"
#include "util/options.h"

/*
 * Set what is not given yet: by .pmonrc of the working directory or the nearest
 * above it that has one, then by the user's $XDG_CONFIG_HOME/pmon or
 * ~/.config/pmon.  A file of somebody else's is not read, but opts->warning
 * says so; a .pmonrc may set only what is TRUST_PROJECT.  0, or -1 with the
 * message.
 */
int config_read(const struct option_table *table, struct options *opts,
		bool *given);

#endif
