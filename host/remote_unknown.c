/*
 * Requests that a stub cannot answer, or only its simulator's process can.
 * The answers claim nothing.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "host/remote_state.h"
#include "util/mem.h"

/*
 * Take such a signal as raised by an instruction, unless the pc is right behind
 * a system call, by which the program sent the signal to itself.  The address
 * that the signal is about is not known.
 */
int
remote_fault_get(pid_t tid, int *code, uint64_t *va)
{
	const struct arch *arch = remote.arch;
	uint8_t before[sizeof(arch->syscall)];
	uint64_t pc;

	if (remote.signal != SIGSEGV && remote.signal != SIGBUS &&
	    remote.signal != SIGFPE && remote.signal != SIGILL)
		return HOST_GONE;
	if (remote_reg_get(tid, arch->reg_pc, &pc))
		return HOST_GONE;
	if (!remote_mem_read(0, tid, pc - arch->syscall_len, before,
			     arch->syscall_len) &&
	    !memcmp(before, arch->syscall, arch->syscall_len))
		return HOST_GONE;
	*code = 1;
	*va = 0;
	return HOST_OK;
}

int
remote_mask_set(pid_t tid, uint64_t mask, uint64_t *old)
{
	return HOST_GONE;
}

bool
remote_zombie(pid_t tid)
{
	return remote.ended;
}

int
remote_signals(pid_t tid, struct signal_state *state)
{
	*state = (struct signal_state){ 0 };
	return HOST_OK;
}

char *
remote_exe(pid_t tid, char **open_path)
{
	*open_path = remote.path ? mem_strdup(remote.path) : NULL;
	return remote.path ? mem_strdup(remote.path) : NULL;
}

char *
remote_mapped(pid_t tid, const struct mapping *map)
{
	return mem_strdup(map->path);
}

int
remote_affinity_get(pid_t tid, void *set, size_t size)
{
	if (!remote.simulator)
		return HOST_GONE;
	return sched_getaffinity(remote.simulator, size, set) ? HOST_GONE :
								HOST_OK;
}

int
remote_affinity_set(pid_t tid, const void *set, size_t size)
{
	if (!remote.simulator)
		return HOST_GONE;
	return sched_setaffinity(remote.simulator, size, set) ? HOST_GONE :
								HOST_OK;
}
