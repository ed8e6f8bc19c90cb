/*
 * What Linux tells of a process under /proc: its maps, auxiliary vector, signal
 * sets, program.  Only reads; never stops or changes a process.  Functions
 * without a comment are described in host.h and native.h.
 */
#ifndef HOST_PROCFS_H
#define HOST_PROCFS_H

#include "host/host.h"

int procfs_maps(pid_t tid, struct mapping **maps, size_t *n);
uint64_t procfs_auxv(pid_t tid, uint64_t type);
/* A task has ended, or executed another program, which has another vector. */
void procfs_renewed(void);
/* A traced task may have run: what was read of it may be otherwise by now. */
void procfs_ran(void);
int procfs_signals(pid_t tid, struct signal_state *state);
int procfs_actions(pid_t tid, struct signal_state *state);
uint64_t procfs_room(pid_t tid);
uint64_t procfs_file_max(pid_t tid);
bool procfs_confined(pid_t tid);
enum file_kind procfs_file_kind(pid_t tid, int fd);
bool procfs_holds(pid_t tid, int fd, const char *name);
char *procfs_exe(pid_t tid, char **open_path);
char *procfs_mapped(pid_t tid, const struct mapping *map);

pid_t procfs_parent(pid_t tid);
int procfs_children(pid_t pid, pid_t **pids, size_t *n);
bool procfs_zombie(pid_t tid);

/* Append the ids of the process's threads to *tids.  HOST_OK or HOST_GONE. */
int procfs_threads(pid_t pid, pid_t **tids, size_t *n);

/*
 * Append the ids of the other processes of that name, of which the kernel keeps
 * 15 bytes.
 */
void procfs_named(const char *name, pid_t **pids, size_t *n);

/*
 * The value of a "Name:\t..." line of /proc/TID/status, as a number to that
 * base; dflt if there is none.
 */
uint64_t procfs_status(pid_t tid, const char *name, int base, uint64_t dflt);

/*
 * The process's state letter (R, S, T, Z, ...), or 0 if that cannot be read:
 * not only when it is gone.
 */
char procfs_state(pid_t tid);

#endif
