/*
 * Starts and ends simulators that speak the GDB remote protocol: qemu's for
 * Linux programs of other CPUs.  Sends no packets.
 */
#ifndef HOST_EMULATOR_H
#define HOST_EMULATOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "host/packet.h"

/* A program that a simulator is to run. */
struct emulated {
	const struct arch *arch;
	const char *path;
	char **argv;
	int counts;		/* a file for the simulator's plugin to count
				   in (see host/qemu/counts.h), or -1 */
	char *uncounting;	/* by emulator_start: why the simulator does not
				   count there, owned by the caller; NULL: it
				   does */
};

/*
 * Start the simulator with the program and connect to it.  The program is
 * stopped before its first instruction.  The simulator dies with pmon.
 * Returns the simulator's process id, or -1 with the message set.
 */
pid_t emulator_start(struct emulated *emulated, struct link *link);

/* Can emulator_start run programs of the arch? */
bool emulator_known(const struct arch *arch);

/*
 * Has the program started a thread?  If so the text of the program has no traps
 * any more, as the simulator does not stop all threads when one stops.
 */
bool emulator_threads(void);

/*
 * The stub reported SIGBUS: return the signal that this SIGBUS stands for (see
 * ptrace_forks.h), or 0 if it stands for itself.
 */
int emulator_signal(void);

/*
 * Pass all signals on to the simulator, whose stub is about to be left.  The
 * program must stand still.
 */
void emulator_leave(void);

/*
 * Wait for the simulator's end.  Returns true with its wait status taken apart,
 * or false if a signal came first.
 */
bool emulator_wait(pid_t pid, bool *killed, int *value);

#endif
