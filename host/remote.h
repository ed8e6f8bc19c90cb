/*
 * A host that is a stub of the GDB remote protocol: a simulator that pmon
 * starts, or whatever listens elsewhere (gdbserver).  When one thread stops the
 * stub stops all of them (all-stop), so the program is one task here, and its
 * registers are those of the thread that stopped.  The stub reports no system
 * calls, no new processes and nothing that those execute.
 */
#ifndef HOST_REMOTE_H
#define HOST_REMOTE_H

#include "host/host.h"

/*
 * Set what host_remote's launch is to do; called before it.  Launch connects to
 * the stub at `where` (see link_open), or starts the arch's simulator if
 * `where` is NULL.  The string must live on.
 */
void remote_use(const struct arch *arch, const char *where);

extern const struct host host_remote;

#endif
