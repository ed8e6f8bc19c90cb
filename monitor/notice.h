/*
 * Signals sent to pmon itself, made into notices that the run loop takes
 * between events.  A notice is never lost and never waits longer than a tick.
 */
#ifndef MONITOR_NOTICE_H
#define MONITOR_NOTICE_H

#include <stdbool.h>
#include <sys/types.h>

enum {
	TICK_MS = 50,
};

/*
 * Catch the signals.  With launched set, a ^C typed at the terminal is no
 * notice: the program, in the same foreground process group, has it already.
 */
void notice_init(bool launched);

/* Typed signals are notices from now on: the program has ended. */
void notice_typed(void);

/*
 * The signal that asks pmon to stop, 0 if none did since the last call, and
 * the process that sent it, 0 if it was none.
 */
int notice_stop(pid_t *sender);

/* The signal that the next notice_stop tells of, 0 if there is none. */
int notice_stopping(pid_t *sender);

/* Was a report asked for since the last call? */
bool notice_report(void);

/* Did anything happen at the control socket since the last call? */
bool notice_asked(void);

/*
 * SIGTSTP came to pmon since the last call: by the terminal (the program has
 * it too) or by a process.
 */
enum suspension { SUSPEND_NONE, SUSPEND_TYPED, SUSPEND_SENT };
enum suspension notice_suspend(pid_t *sender);

/* Stop as SIGTSTP does; returns when pmon is continued. */
void notice_suspended(void);

/* Did a tick pass since the last call? */
bool notice_tick(void);

/*
 * Ticks, by which host->wait returns EVENT_WAKE every TICK_MS: they go on as
 * long as somebody wants them.
 */
void notice_ticks(bool on);

#endif
