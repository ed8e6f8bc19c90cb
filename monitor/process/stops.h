/*
 * The program's stops by cause: how many, and how long tasks stood still.
 */
#ifndef MONITOR_PROCESS_STOPS_H
#define MONITOR_PROCESS_STOPS_H

#include <stdint.h>

#include "host/host.h"
#include "report/report.h"

struct run;
struct task;

/* Why a task stopped.  stops.c has the causes in words. */
enum stop_cause {
	/* It hit a trap of pmon's: */
	STOP_LEADS,
	STOP_SLOTTED,
	STOP_EMULATED,
	STOP_SKIPPED,
	STOP_STEPPED,
	STOP_ENTERED,		/* a function for the first time */
	STOP_SWITCH,		/* of stacks, as by longjmp */
	STOP_UNWINDER,		/* an unwinder is entered */
	STOP_UNWOUND,		/* an unwinder goes to a frame */
	STOP_EXECS,		/* it may execute another program */
	STOP_MAPS,		/* it may change what code is mapped */
	STOP_COMPUTED,		/* it makes a system call of any number */
	STOP_CLONES,		/* it makes a thread or process */
	STOP_SIGACTION,		/* it sets what a signal does */
	STOP_SIGPROCMASK,	/* it sets which signals are blocked */
	STOP_SIGRETURN,
	STOP_STARTS,		/* the program's first instruction */
	STOP_LOADED,		/* libraries were loaded or unloaded */
	STOP_RECORDS,		/* there is no more room for records */
	STOP_VOID,		/* the trap is gone, or the task was killed
				   before pmon looked at it */
	STOP_TRAPS,		/* all before are traps */
	/* pmon made it step, make a system call, or pause: */
	STOP_STEP = STOP_TRAPS,
	STOP_CALLED,		/* an injected system call */
	STOP_ATTACH,
	STOP_PLANT,
	STOP_OTHER_STEPS,	/* another task is stepped */
	STOP_MENDS,		/* SIGTRAP is mended for another: sigtrap.h */
	STOP_PINS,		/* another task is pinned: affinity.h */
	STOP_WATCH,		/* all system calls are to be seen */
	STOP_ASKED,		/* counts were asked for */
	STOP_STOPPING,		/* counting is over */
	STOP_SUSPEND,		/* pmon stops, too */
	/* It made a system call that pmon has to see: */
	STOP_CALL_MAPS,		/* it changes what code is mapped */
	STOP_CALL_WATCHED,	/* it may, as any call of the space */
	STOP_CALL_REDO,
	STOP_CALL_PINNED,
	STOP_CALL_UNTRACED,
	STOP_CALL_FOLLOWED,	/* in a handler with SIGTRAP blocked */
	STOP_CALL_RESTART,	/* a pause may have interrupted it */
	/* The kernel stops every traced task: */
	STOP_SIGNAL,
	STOP_SIGTRAP,		/* the program's own */
	STOP_DAMAGE,		/* a fault in memory of pmon's: mend.h */
	STOP_GROUP,
	STOP_CLONE,
	STOP_FORK,
	STOP_EXEC,
	STOP_BIRTH,
	STOP_END,
	STOP_CAUSES,
};

/* A task's stop, if it is in one, and what gives its next stop's cause. */
struct stop {
	uint64_t since;		/* monotonic nanoseconds; 0: it runs, or a
				   reset has voided the stop */
	uint64_t resumed;	/* monotonic nanoseconds; 0: never yet */
	uint64_t ran;		/* nanoseconds between stops, all together; the
				   kernel's switching included */
	uint8_t cause;		/* enum stop_cause */
	uint8_t asked;		/* why pmon paused it last, or 0 */
	uint8_t how;		/* enum resume: how it was resumed last */
	uint8_t call;		/* why pmon sees its system calls */
};

struct stops {
	uint64_t n[STOP_CAUSES], ns[STOP_CAUSES];
};

/*
 * Begin a stop: the host has told of this event, which is not an end.  task is
 * NULL if the tables do not have it.
 */
void stop_begin(struct run *run, struct task *task, const struct event *event);
/* Correct the cause of the task's stop. */
void stop_is(struct run *run, struct task *task, enum stop_cause cause);
/* End the task's stop: it was detached from. */
void stop_end(struct run *run, struct task *task);

/* host->resume; ends the task's stop unless the host fails. */
int task_resume(struct run *run, struct task *task, enum resume how,
		int signal);
/* host->pause; `why` is the cause of the stop that follows. */
int task_interrupt(struct run *run, struct task *task, enum stop_cause why);

/* The cause in words; static. */
const char *stop_cause_text(enum stop_cause cause);

/* How many stops were traps. */
uint64_t stops_traps(const struct run *run);
/* A sum for each cause that occurred, in the order above; caller owns it. */
struct stop_sum *stops_sums(const struct run *run, size_t *n);
/* Reset the table: no stops, those that tasks are in included. */
void stops_reset(struct run *run);

#endif
