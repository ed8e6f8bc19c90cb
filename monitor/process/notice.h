/*
 * Notices: signals sent to pmon itself, kept for the run loop to take between
 * events.  A notice is never lost and never waits longer than a tick.
 */
#ifndef MONITOR_PROCESS_NOTICE_H
#define MONITOR_PROCESS_NOTICE_H

#include <stdbool.h>
#include <sys/types.h>

enum {
	TICK_MS = 50,
};

/*
 * Catch the signals.  If pmon launched the program, a ^C typed at the terminal
 * is no notice: the program, in the same foreground process group, gets it too.
 */
void notice_init(bool launched);

/* The launched program has ended: typed signals are notices from now on. */
void notice_typed(void);

/*
 * Take the notice to stop: the signal, or 0 if none came since the last call.
 * *sender is the process that sent it, or 0.
 */
int notice_stop(pid_t *sender);

/* What the next notice_stop will return; the notice stays. */
int notice_stopping(pid_t *sender);

/* Was a report asked for (SIGUSR1) since the last call? */
bool notice_report(void);

/* Did anything happen at the control socket since the last call? */
bool notice_asked(void);

/*
 * Take the notice of a SIGTSTP: typed at the terminal (the program gets it too)
 * or sent by process *sender.
 */
enum suspension { SUSPEND_NONE, SUSPEND_TYPED, SUSPEND_SENT };
enum suspension notice_suspend(pid_t *sender);

/*
 * Block the signals of notices until it is called with false: a report that
 * waits for its reader is not interrupted by a signal.
 */
void notice_block(bool on);
/*
 * Nothing is followed any more, and the last report is about to be written:
 * from now on the first signal that was to stop pmon does nothing, and the
 * second ends pmon.
 */
void notice_finish(void);

/* Stop pmon as SIGTSTP does; returns when pmon is continued. */
void notice_suspended(void);

/* Did a tick pass since the last call? */
bool notice_tick(void);

/*
 * Ask for ticks, or stop asking: host->wait returns EVENT_WAKE every TICK_MS as
 * long as there are more calls with true than with false.
 */
void notice_ticks(bool on);

#endif
