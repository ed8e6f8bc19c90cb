/*
 * What a host tells of tasks, and what it is told to do with them.
 */
#ifndef HOST_EVENT_H
#define HOST_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SIGINFO_MAX = 128 };

enum { HOST_OK = 0, HOST_ERROR = -1, HOST_GONE = -2 };

enum event_kind {
	EVENT_WAKE,		/* a signal reached pmon itself */
	EVENT_DONE,		/* no task is left */
	EVENT_TRAP,		/* a SIGTRAP; trap_cause tells whose */
	EVENT_SIGNAL,		/* value: a signal about to be delivered */
	EVENT_STOPPED,		/* value: in a group stop by this signal */
	EVENT_PAUSED,		/* after pause, or a new task's first stop */
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
	bool accounted;		/* the monitor's tables already include it */
	bool delayed;		/* the monitor's own: see run_resume_last */
	bool sent;		/* the same: a SIGTRAP that no trap of pmon's
				   has caused */
};

enum trap_cause {
	TRAP_INSN,		/* a trap instruction, which the pc is behind */
	TRAP_STEP,		/* one instruction has been stepped */
	TRAP_SENT,		/* by kill(2) or the like */
	TRAP_NONE,		/* the task was killed meanwhile */
};

enum resume {
	RESUME_RUN,
	RESUME_STEP,		/* one instruction */
	RESUME_SYSCALL,		/* to the next system call's entry or exit */
	RESUME_LISTEN,		/* stay in the group stop, but report its end */
	RESUME_END,		/* from EVENT_EXITING on */
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

/* Whether a set of signals has the signal. */
static inline bool
signals_have(uint64_t set, int signal)
{
	return set >> (signal - 1) & 1;
}

#endif
