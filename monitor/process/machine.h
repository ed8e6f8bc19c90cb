/*
 * Where programs of each CPU run: the hosts there are, by their names and by
 * the programs they run.
 */
#ifndef MONITOR_PROCESS_MACHINE_H
#define MONITOR_PROCESS_MACHINE_H

#include "arch/arch.h"
#include "host/host.h"

struct machine {
	const char *name;	/* as --host has it */
	const struct host *host;
	bool (*runs)(const struct arch *arch);
	bool counts;		/* it can count by itself: host_counters.c */
};

/* The one of that name, or NULL. */
const struct machine *machine_named(const char *name);

/*
 * The one that runs programs of the arch, prepared for that: behind `remote`
 * if that is not NULL, or as `named` says if that is not NULL, else the first
 * that can.  NULL with the message set if there is none; path is the
 * program's.
 */
const struct machine *machine_choose(const struct arch *arch,
				     const char *named, const char *remote,
				     const char *path);

#endif
