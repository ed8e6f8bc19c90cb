/*
 * The task whose memory emulated instructions read and write, as they could.
 */
#ifndef MONITOR_PROCESS_OWNER_H
#define MONITOR_PROCESS_OWNER_H

#include "arch/emul.h"
#include "host/host.h"

struct owner {
	const struct host *host;
	pid_t tid;
};

/* Lends the owner. */
struct memory owner_memory(struct owner *owner);

#endif
