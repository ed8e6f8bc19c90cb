/*
 * The table of hosts, and the choice of one.  Starts no program.
 */
#include "monitor/process/machine.h"

#include <string.h>

#include "host/emulator.h"
#include "host/remote.h"
#include "host/simh.h"
#include "util/fail.h"

static const struct machine machines[] = {
	{ "ptrace", &host_ptrace, .arch = &arch_x86_64 },
	{ "qemu", &host_remote, .runs = emulator_known },
	{ "simh", &host_simh, .arch = &arch_vax },
};

const struct machine *const machine_own = &machines[0];

static const struct machine behind_stub = {
	.name = "remote",
	.host = &host_remote,
};

static bool
machine_runs(const struct machine *machine, const struct arch *arch)
{
	return machine->arch ? machine->arch == arch : machine->runs(arch);
}

static const struct machine *
machine_found(const struct arch *arch, const char *named)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (named ? !strcmp(machines[i].name, named) :
			    machine_runs(&machines[i], arch))
			return &machines[i];
	return NULL;
}

const struct machine *
machine_choose(const struct arch *arch, const char *named, const char *remote,
	       const char *path)
{
	const struct machine *machine;

	if (remote && !arch->nwire)
		return fail_null("%s: pmon knows no GDB stub for %s programs",
				 path, arch->name);
	if (remote) {
		remote_use(arch, remote);
		return &behind_stub;
	}
	machine = machine_found(arch, named);
	if (!machine)
		return fail_null("%s: a program for another CPU (%s), for "
				 "which pmon has no simulator",
				 path, arch->name);
	if (!machine_runs(machine, arch))
		return fail_null("%s: %s programs do not run on the host %s",
				 path, arch->name, machine->name);
	if (machine->host == &host_remote)
		remote_use(arch, NULL);
	return machine;
}
