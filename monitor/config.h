/*
 * The files of options: .pmonrc and ~/.config/pmon.
 */
#ifndef MONITOR_CONFIG_H
#define MONITOR_CONFIG_H

#include "monitor/options.h"
#include "util/fail.h"
#include "util/command_line.h"

/*
 * Set options that are not given yet: first from the .pmonrc of the working
 * directory or of the nearest directory above that has one, then from the
 * user's $XDG_CONFIG_HOME/pmon or ~/.config/pmon.  A file that neither the user
 * nor root owns, or that others may write, is not read, and opts->warning says
 * so.  A .pmonrc may set only TRUST_PROJECT options.  0, or -1 with the
 * message.
 */
int config_read(const struct option_table *table, struct options *opts,
		bool *given) MUST_CHECK;

#endif
