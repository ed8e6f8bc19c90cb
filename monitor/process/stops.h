/*
 * Every stop of the program, by what it was for, with the time that the task
 * stood still.
 */
#ifndef MONITOR_PROCESS_STOPS_H
#define MONITOR_PROCESS_STOPS_H

#include <stdint.h>

#include "host/host.h"
#include "report/report.h"

struct run;
struct task;

/* What a task stopped for.  stops.c has them in words. */
enum stop_cause {
	/* It ran into a trap of pmon's: */
	STOP_LEADS,
	STOP_SLOTTED,
	STOP_EMULATED,
	STOP_SKIPPED,
	STOP_STEPPED,
	STOP_ENTERED,		/* a function for the first time */
	STOP_SWITCH,		/* of stacks, as by longjmp */
	STOP_UNWINDER,		/* is entered */
	STOP_UNWOUND,		/* it goes to a frame */
	STOP_EXECS,		/* or may */
	STOP_CLONES,		/* makes a thread or process */
	STOP_SIGACTION,		/* sets what a signal does */
	STOP_SIGRETURN,
	STOP_STARTS,		/* the program's first instruction */
	STOP_LOADED,		/* the dynamic linker has */
	STOP_VOID,		/* the trap is gone, or its task is killed
				   before it is looked at */
	STOP_TRAPS,		/* all before are traps */
	/* pmon made it do something: */
	STOP_STEP = STOP_TRAPS,
	STOP_CALLED,		/* a system call in its name */
	STOP_ATTACH,
	STOP_PLANT,
	STOP_OTHER_STEPS,
	STOP_MENDS,		/* another, see sigtrap.h */
	STOP_ASKED,		/* for counts */
	STOP_STOPPING,		/* counting is over */
	STOP_SUSPEND,		/* pmon stops, too */
	/* It made a system call that pmon has to see: */
	STOP_CALL_MAPS,
	STOP_CALL_REDO,
	STOP_CALL_PINNED,
	STOP_CALL_UNTRACED,
	/* The kernel stops whoever is traced: */
	STOP_SIGNAL,
	STOP_SIGTRAP,		/* the program's own */
	STOP_GROUP,
	STOP_CLONE,
	STOP_FORK,
	STOP_EXEC,
	STOP_BIRTH,
	STOP_END,
	STOP_CAUSES,
};

/* A task's own: its stop, if it is in one, and what will tell the next one. */
struct stop {
	uint64_t since;		/* monotonic nanoseconds; 0: it runs, or the
				   counts are older than a reset */
	uint8_t cause;		/* enum stop_cause */
	uint8_t asked;		/* why it was paused last, or 0 */
	uint8_t how;		/* enum resume, of last time */
	uint8_t call;		/* why its system calls are seen */
};

struct stops {
	uint64_t n[STOP_CAUSES], ns[STOP_CAUSES];
};

/*
 * The host has told of the event, which is not an end; the task may be NULL
 * if it was never heard of.
 */
void stop_begin(struct run *run, struct task *task,
		const struct event *event);
/* It is known better by now what the task stopped for. */
void stop_is(struct run *run, struct task *task, enum stop_cause cause);
/* The task does not stand still any more. */
void stop_end(struct run *run, struct task *task);

/* host->resume, with which its stop ends unless that fails. */
int task_resume(struct run *run, struct task *task, enum resume how,
		int signal);
/* host->pause, for this reason. */
int task_interrupt(struct run *run, struct task *task, enum stop_cause why);

/* How many of the stops were traps. */
uint64_t stops_traps(const struct run *run);
/* Those there were, in the order above; owned by the caller. */
struct stop_sum *stops_sums(const struct run *run, size_t *n);
/* Count from 0 on. */
void stops_reset(struct run *run);

#endif
