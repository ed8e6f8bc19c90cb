/*
 * Plugins of simulators: pmon-qemu.so counts inside qemu, see host/qemu/.
 */
#ifndef HOST_EMULATOR_PLUGIN_H
#define HOST_EMULATOR_PLUGIN_H

#include <stdbool.h>

struct emulator_plugin {
	char *arg;		/* of -plugin */
	int counts;		/* the file to count in, which it inherits */
	int outputs[2];		/* copies of standard output and error; or -1 */
};

/*
 * What a simulator needs to load pmon's plugin and count in the file.  To be
 * closed.  NULL if the plugin is not found: *why, which the caller owns, says so.
 */
struct emulator_plugin *emulator_plugin_open(int counts, char **why);
/* Frees it; the file stays open.  NULL does nothing. */
void emulator_plugin_close(struct emulator_plugin *plugin);

/*
 * In the process that is to become the simulator: have it inherit what the plugin
 * needs.  Until the plugin is loaded nothing can be written to standard output
 * and error: a simulator that refuses plugins may say so there.
 */
void emulator_plugin_inherit(const struct emulator_plugin *plugin);

/* Has the simulator, whose stub answers or which has ended, loaded the plugin? */
bool emulator_plugin_loaded(const struct emulator_plugin *plugin);

#endif
