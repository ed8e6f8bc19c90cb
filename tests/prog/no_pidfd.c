/*
 * Preloaded into pmon: there are no file descriptors of processes, as in
 * kernels before 5.3.
 */
#include <errno.h>
#include <sys/types.h>

int pidfd_open(pid_t pid, unsigned flags);

int
pidfd_open(pid_t pid, unsigned flags)
{
	(void)pid;
	(void)flags;
	errno = ENOSYS;
	return -1;
}
