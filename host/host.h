/*
 * Where a target runs, and how to control it: start, stop, resume, look into.
 * A table of functions per host; native processes are host_ptrace's.  A host
 * knows tasks (threads) by their id and nothing of sites or counts.
 *
 * The target's death is an event, never an error: a request on a task that
 * has died returns HOST_GONE without a message, and an EVENT_EXITED or
 * EVENT_KILLED for it follows (or has been delivered already).
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"

enum { SIGINFO_MAX = 128 };

enum { HOST_OK = 0, HOST_ERROR = -1, HOST_GONE = -2 };

enum event_kind {
	EVENT_WAKE,		/* a signal came to pmon itself */
	EVENT_DONE,		/* no task is left */
	EVENT_TRAP,		/* a SIGTRAP; trap_cause tells whose */
	EVENT_SIGNAL,		/* value: a signal about to be delivered */
	EVENT_STOPPED,		/* value: in a group stop by this signal */
	EVENT_PAUSED,		/* by pause, or a new task's first stop */
	EVENT_SYSCALL_ENTRY,
	EVENT_SYSCALL_EXIT,
	EVENT_CLONE,		/* value: the new task, a thread */
	EVENT_FORK,		/* value: the new task, a process */
	EVENT_VFORK,		/* the same; the memory is shared, and the
				   task waits in the kernel ... */
	EVENT_VFORK_DONE,	/* ... until now */
	EVENT_EXEC,		/* value: the id the task had before */
	EVENT_EXITING,		/* last stop before the end */
	EVENT_EXITED,		/* value: status */
	EVENT_KILLED,		/* value: signal */
};

struct event {
	enum event_kind kind;
	pid_t tid;
	int value;
	bool accounted;		/* the monitor's tables know of it already */
};

enum trap_cause {
	TRAP_INSN,		/* a trap instruction, which the pc is past */
	TRAP_STEP,		/* one instruction is done */
	TRAP_SENT,		/* by kill(2) or the like */
	TRAP_NONE,		/* the task was killed meanwhile */
};

enum resume {
	RESUME_RUN,
	RESUME_STEP, /* one instruction */
	RESUME_SYSCALL, /* to the next system call's entry or exit */
	RESUME_LISTEN, /* stay in the group stop, but hear of its end */
	RESUME_END, /* from EVENT_EXITING on */
};

/* One line of /proc/PID/maps. */
struct mapping {
	uint64_t lo, hi;
	uint64_t offset;
	uint64_t dev, ino;
	bool read, write, exec, shared;
	char *path;		/* owned; "" if anonymous */
};

/* What decides how a signal reaches a task; bit n - 1 is signal n. */
struct signal_state {
	uint64_t pending;	/* on the task or its process */
	uint64_t blocked, ignored, caught;
};

struct host {
	const char *name;
	/*
	 * The tasks are of this machine's kernel, which tells of their system
	 * calls, mappings and children.  Else there is one task, EVENT_EXEC
	 * comes first, before anything has run, and what is not the program's
	 * own code is not seen to come.
	 */
	bool native;

	/*
	 * Start argv with path as its program; it is traced and has not
	 * run yet; an EVENT_EXEC follows, if native once it is resumed.  0 or
	 * HOST_ERROR.
	 */
	int (*launch)(const char *path, char **argv, pid_t *tid);
	/* Why the launched task ended before its EVENT_EXEC: an errno or 0. */
	int (*launch_error)(void);
	/*
	 * Trace all threads of process pid, whose ids are appended to *tids;
	 * each is paused and an EVENT_PAUSED (or another event) follows.  On
	 * failure those that are there are traced nevertheless.
	 */
	int (*attach)(pid_t pid, pid_t **tids, size_t *n);
	/* Let the task go, delivering signal (0: none). */
	int (*detach)(pid_t tid, int signal);

	/* The next event, waiting for it; it wakes for signals to pmon. */
	void (*wait)(struct event *event);
	/*
	 * A task that was killed meanwhile is gone: it does not go on before
	 * its EVENT_EXITING, which is still to come.
	 */
	int (*resume)(pid_t tid, enum resume how, int signal);
	/*
	 * Make the task stop; an event, sooner or later EVENT_PAUSED, follows.
	 */
	int (*pause)(pid_t tid);
	int (*kill)(pid_t pid, int signal);
	/* Native: to this thread alone. */
	int (*send)(pid_t tid, int signal);

	/*
	 * Not native: some of the program ran without traps, for the reason
	 * why.  NULL: that does not happen.
	 */
	bool (*uncounted)(const char **why);

	enum trap_cause (*trap_cause)(pid_t tid);

	int (*regs_get)(pid_t tid, struct regs *regs);
	int (*regs_set)(pid_t tid, const struct regs *regs);
	/* One register only, which is cheaper. */
	int (*reg_get)(pid_t tid, unsigned reg, uint64_t *value);
	int (*reg_set)(pid_t tid, unsigned reg, uint64_t value);
	/* The address the pending signal is about, and to change it. */
	int (*fault_get)(pid_t tid, int *code, uint64_t *va);
	int (*fault_set)(pid_t tid, uint64_t va);
	/* All that is known of the signal a task stopped for. */
	int (*siginfo_get)(pid_t tid, uint8_t info[SIGINFO_MAX]);
	int (*siginfo_set)(pid_t tid, const uint8_t info[SIGINFO_MAX]);
	/* Replace the set of blocked signals; returns the old one in *old. */
	int (*mask_set)(pid_t tid, uint64_t mask, uint64_t *old);

	/*
	 * A handle on the memory of the task's process, for text: protection
	 * does not matter.  Handle >= 0 or HOST_GONE.
	 */
	int (*mem_open)(pid_t tid);
	void (*mem_close)(int mem);
	/* HOST_OK if all of it could be read or written. */
	int (*mem_read)(int mem, pid_t tid, uint64_t va, void *buf, size_t n);
	int (*mem_write)(int mem, pid_t tid, uint64_t va, const void *buf,
			 size_t n);
	/* The same as the program itself could: protection is obeyed. */
	int (*data_read)(pid_t tid, uint64_t va, void *buf, size_t n);
	int (*data_write)(pid_t tid, uint64_t va, const void *buf, size_t n);

	/*
	 * Has something happened to a stopped task that wait has not told
	 * yet?  It was killed, or another thread's exec has taken its id.
	 */
	bool (*changed)(pid_t tid);
	/* Has the task ended but for being waited for, or for its threads? */
	bool (*zombie)(pid_t tid);
	/*
	 * The id of the process that started the task's process, or of another
	 * if that has ended; 0 for threads but the first.
	 */
	pid_t (*parent)(pid_t tid);
	/* The memory map; freed by mappings_free. */
	int (*maps)(pid_t tid, struct mapping **maps, size_t *n);
	/* An entry of the auxiliary vector, 0 if it is not there. */
	uint64_t (*auxv)(pid_t tid, uint64_t type);
	int (*signals)(pid_t tid, struct signal_state *state);
	/* Bytes of memory that the process may map yet (RLIMIT_AS). */
	uint64_t (*room)(pid_t tid);
	/* Bytes that a file may have which it makes (RLIMIT_FSIZE). */
	uint64_t (*file_max)(pid_t tid);
	/* Is the task under a seccomp filter? */
	bool (*confined)(pid_t tid);
	/*
	 * The path of the program that runs, as the kernel names it, and one
	 * under which it can be opened here even if it was renamed since.
	 */
	char *(*exe)(pid_t tid, char **open_path);
	/* The same for a file mapped into the process. */
	char *(*mapped)(pid_t tid, const struct mapping *map);

	/* Processor affinity, size bytes of a cpu set. */
	int (*affinity_get)(pid_t tid, void *set, size_t size);
	int (*affinity_set)(pid_t tid, const void *set, size_t size);
};

extern const struct host host_ptrace;

void mappings_free(struct mapping *maps, size_t n);

#endif
