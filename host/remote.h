/*
 * A host that is a stub of the GDB remote protocol: a simulator, which is
 * started here, or whatever listens elsewhere (gdbserver).
 *
 * The stub stops all threads of its program when one stops (all-stop), so
 * the program is one task here, whose registers are those of the thread that
 * stopped.  It is not told of system calls, new processes and what they
 * execute.
 */
#ifndef HOST_REMOTE_H
#define HOST_REMOTE_H

#include "host/host.h"

/*
 * What host_remote's launch is to do, called before it: connect to the stub
 * at `where` (see link_open), or if that is NULL start the arch's simulator.
 * where must live on.
 */
void remote_use(const struct arch *arch, const char *where);

extern const struct host host_remote;

#endif
