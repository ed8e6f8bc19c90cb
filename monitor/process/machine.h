/*
 * The hosts by name, and which CPUs' programs each of them runs.
 */
#ifndef MONITOR_PROCESS_MACHINE_H
#define MONITOR_PROCESS_MACHINE_H

#include "arch/arch.h"
#include "host/host.h"

struct machine {
	const char *name;	/* as --host has it */
	const struct host *host;
	const struct arch *arch;	/* of all its programs; or NULL: */
	bool (*runs)(const struct arch *arch);
};

/* This machine, on which pmon itself runs. */
extern const struct machine *const machine_own;

/*
 * Choose the machine for a program of the arch, and prepare it: the stub at
 * `remote` if that is not NULL, else the machine `named` if that is not NULL,
 * else the first that runs such programs.  NULL with the message, in which path
 * is the program's.
 */
const struct machine *machine_choose(const struct arch *arch, const char *named,
				     const char *remote, const char *path);

#endif
