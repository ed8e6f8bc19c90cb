/*
 * Starts and ends simulators that speak the GDB remote protocol: qemu's for
 * Linux programs of other CPUs.
 */
#ifndef HOST_EMULATOR_H
#define HOST_EMULATOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "host/packet.h"

/*
 * Start the simulator of the arch with the program, which is stopped before
 * its first instruction, and connect to it.  It dies with pmon.  The
 * simulator's process id, or -1 with the message set.
 */
pid_t emulator_start(const struct arch *arch, const char *path, char **argv,
		     struct link *link);

/* The arch's simulator can be started by emulator_start. */
bool emulator_known(const struct arch *arch);

/*
 * The program has started a thread.  Then its text was put back, as the
 * simulator does not stop all threads when one stops.
 */
bool emulator_threads(void);

/*
 * The simulator's stub tells of SIGBUS: the signal that this stands for (see
 * ptrace_forks.h), or 0 if it is one.
 */
int emulator_signal(void);

/* Its stub is going to be left.  The program must stand still. */
void emulator_leave(void);

/*
 * Wait for its end: true with the status of wait(2) taken apart, or false if
 * a signal came first.
 */
bool emulator_wait(pid_t pid, bool *killed, int *value);

#endif
