/*
 * Plugins of simulators: pmon-qemu.so counts inside qemu, see host/qemu/.
 */
#ifndef HOST_EMULATOR_PLUGIN_H
#define HOST_EMULATOR_PLUGIN_H

/*
 * The argument of -plugin by which the simulator `program`, found by PATH, is
 * to load pmon's plugin, with fd, a file that it inherits.  Owned by the caller.
 * NULL if it cannot: *why, which the caller owns, says why.
 */
char *emulator_plugin(const char *program, int fd, char **why);

#endif
