/*
 * What this machine's kernel tells of its tasks, and does to them, beyond what
 * every host can.
 */
#ifndef HOST_NATIVE_H
#define HOST_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/abi.h"
#include "host/event.h"
#include "util/fail.h"

/*
 * What a stop takes of the processor time of the process that stops, in
 * seconds: by the kernel, before and after pmon looks at it.
 */
struct stop_costs {
	double trap;		/* and any that are not these: */
	double call;		/* entry or exit of a system call */
	double step;		/* behind a single step */
};

/*
 * Which system calls of a task the kernel dispatches to the task itself
 * (PR_SET_SYSCALL_USER_DISPATCH): struct ptrace_sud_config of linux/ptrace.h.
 */
struct dispatch {
	uint64_t mode;		/* 0: none */
	uint64_t selector, offset, len;
};

/* Where a task tells the kernel of restartable sequences (rseq(2)). */
struct rseq_area {
	uint64_t va;		/* of its struct rseq; 0: it has none */
	uint32_t signature;	/* in front of abort handlers */
};

/* A piece of a task's memory, and where it is copied to. */
struct data_part {
	uint64_t va;
	void *buf;
	size_t n;
};

enum { DATA_PARTS = 16 };

struct host_native {
	/*
	 * Trace all threads of process pid, whose ids are appended to *tids;
	 * each is paused and an EVENT_PAUSED (or another event) follows.  On
	 * failure those that are there are traced nevertheless.
	 */
	MUST_CHECK int (*attach)(pid_t pid, pid_t **tids, size_t *n);
	/* Why the launched task ended before its EVENT_EXEC: an errno, or 0. */
	MUST_CHECK int (*launch_error)(void);
	/* Send the signal to this thread alone. */
	int (*send)(pid_t tid, int signal);
	/* Change the address of the signal that the task stopped for. */
	int (*fault_set)(pid_t tid, uint64_t va);
	/* The whole siginfo of the signal that the task stopped for. */
	MUST_CHECK int (*siginfo_get)(pid_t tid, uint8_t info[SIGINFO_MAX]);
	int (*siginfo_set)(pid_t tid, const uint8_t info[SIGINFO_MAX]);
	/* The set of blocked signals. */
	MUST_CHECK int (*mask_get)(pid_t tid, uint64_t *mask);
	/* va is 0, too, on a kernel that does not tell (before Linux 5.13). */
	MUST_CHECK int (*rseq_get)(pid_t tid, struct rseq_area *area);
	/* mode is 0, too, on a kernel that does not tell (before Linux 6.4). */
	MUST_CHECK int (*dispatch_get)(pid_t tid, struct dispatch *dispatch);
	int (*dispatch_set)(pid_t tid, const struct dispatch *dispatch);
	/*
	 * Has something happened to a stopped task that wait has not reported
	 * yet?  Either it was killed, or another thread's exec took its id.
	 */
	bool (*changed)(pid_t tid);
	/*
	 * The task that another thread's exec has made of this id is meant from
	 * now on.  Before that, requests mean the task that was let go to its
	 * end by RESUME_END, and find it gone.
	 */
	void (*renewed)(pid_t tid);
	/*
	 * The id of the process that started the task's process, or of its
	 * adopter if that has ended.  0 for threads other than the first.
	 */
	pid_t (*parent)(pid_t tid);
	/*
	 * Append the ids of those processes that the host traces among the
	 * children of a process with one thread.
	 */
	MUST_CHECK int (*children)(pid_t pid, pid_t **pids, size_t *n);
	/*
	 * What `signals` tells, of the first 31 signals alone and without
	 * `pending`, in a fraction of the time.
	 */
	MUST_CHECK int (*actions)(pid_t tid, struct signal_state *state);
	/* Bytes of memory that the process may still map (RLIMIT_AS). */
	uint64_t (*room)(pid_t tid);
	/* The size that files the process writes may have (RLIMIT_FSIZE). */
	uint64_t (*file_max)(pid_t tid);
	/*
	 * data_read of n parts, DATA_PARTS at most, in one request: the number
	 * of the first that were read, whole.  The others may be readable
	 * all the same.
	 */
	MUST_CHECK size_t (*data_gather)(pid_t tid,
					 const struct data_part *parts,
					 size_t n);
	/*
	 * mem_read and mem_write for any thread of pmon's.  They fail where
	 * those would ask the kernel in other ways as well.
	 */
	MUST_CHECK int (*mem_get)(int mem, uint64_t va, void *buf, size_t n);
	MUST_CHECK int (*mem_put)(int mem, uint64_t va, const void *buf,
				  size_t n);
	/* Is the task under a seccomp filter? */
	bool (*confined)(pid_t tid);
	/*
	 * Has the task this file (or, if fd is -1, any) of that name open, in
	 * whatever folder?  True, too, if that cannot be known.
	 */
	bool (*holds)(pid_t tid, int fd, const char *name);
	enum file_kind (*file_kind)(pid_t tid, int fd);
	/*
	 * The processor time that the process has used, in seconds, or -1 if it
	 * is gone.  NULL, like stop_costs, on a host whose time is not real.
	 */
	double (*cpu_time)(pid_t pid);
	/*
	 * Measure, in some milliseconds, what stops cost.  HOST_OK, or
	 * HOST_ERROR without a message.
	 */
	MUST_CHECK int (*stop_costs)(struct stop_costs *costs);
};

#endif
