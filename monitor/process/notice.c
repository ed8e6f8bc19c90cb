/*
 * Notices: the handlers of signals sent to pmon only set flags, which the run
 * loop takes between events.  A signal that comes just before the loop waits
 * would be noticed only after the next event; so every signal starts the ticks,
 * which end the wait.  Nothing here acts on a notice.
 */
#include "monitor/process/notice.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>

/* Taken by atomic exchange, as a signal may come between read and clear. */
static atomic_int stop_signal, report_wanted, ticked, suspend, asked;
static volatile sig_atomic_t ticks_wanted, typed_ignored;
static volatile sig_atomic_t stop_sender, suspend_sender;
/* The last report is being written: signals that were to stop pmon, from 1. */
static volatile sig_atomic_t finishing;

static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

enum { STOPS = sizeof(stops) / sizeof(stops[0]) };

static void
ticks_set(bool on)
{
	long us = on ? TICK_MS * 1000 : 0;
	struct itimerval timer = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Stop the ticks, unless a notice waits. */
static void
ticks_rest(void)
{
	ticks_set(false);
	/* A signal may have come just before the timer was stopped. */
	if (stop_signal || report_wanted || suspend || asked)
		ticks_set(true);
}

/* The first lets the report be written, the second ends pmon. */
static void
finish_again(int signal)
{
	const struct sigaction end = { .sa_handler = SIG_DFL };

	if (finishing++ == 1)
		return;
	sigaction(signal, &end, NULL);
	raise(signal);
}

static void
on_signal(int signal, siginfo_t *info, void *context)
{
	bool typed = info->si_code == SI_KERNEL;

	switch (signal) {
	case SIGALRM:
		ticked = 1;
		return;
	case SIGUSR1:
		report_wanted = 1;
		break;
	case SIGIO:
		asked = 1;
		break;
	case SIGTSTP:
		suspend_sender = info->si_pid;
		suspend = typed ? SUSPEND_TYPED : SUSPEND_SENT;
		break;
	default:
		if (finishing) {
			finish_again(signal);
			return;
		}
		if (typed && typed_ignored && signal != SIGTERM)
			return;
		stop_sender = typed ? 0 : info->si_pid;
		stop_signal = signal;
		break;
	}
	ticks_set(true);
}

static const struct sigaction action = {
	.sa_sigaction = on_signal,
	.sa_flags = SA_SIGINFO,
};

void
notice_init(bool launched)
{
	static const int signals[] = {
		SIGALRM, SIGUSR1, SIGINT,  SIGTERM,
		SIGHUP,	 SIGQUIT, SIGTSTP, SIGIO,
	};
	struct sigaction old;

	typed_ignored = launched;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* A signal that was ignored (nohup, a shell's &) stays so. */
		if (sigaction(signals[i], NULL, &old) ||
		    (old.sa_handler == SIG_IGN && signals[i] != SIGALRM &&
		     signals[i] != SIGIO))
			continue;
		sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void
notice_typed(void)
{
	typed_ignored = 0;
}

int
notice_stop(pid_t *sender)
{
	int signal = atomic_exchange(&stop_signal, 0);

	*sender = stop_sender;
	return signal;
}

int
notice_stopping(pid_t *sender)
{
	*sender = stop_sender;
	return stop_signal;
}

enum suspension
notice_suspend(pid_t *sender)
{
	enum suspension was = atomic_exchange(&suspend, SUSPEND_NONE);

	*sender = suspend_sender;
	return was;
}

void
notice_block(bool on)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGIO);
	for (size_t i = 0; i < STOPS && !finishing; i++)
		sigaddset(&blocked, stops[i]);
	if (!finishing)
		sigaddset(&blocked, SIGTSTP);
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &blocked, NULL);
}

void
notice_finish(void)
{
	const struct sigaction again = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct sigaction old;

	finishing = 1;
	for (size_t i = 0; i < STOPS; i++)
		if (!sigaction(stops[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(stops[i], &again, NULL);
	if (!sigaction(SIGTSTP, NULL, &old) && old.sa_handler != SIG_IGN)
		signal(SIGTSTP, SIG_DFL);
}

void
notice_suspended(void)
{
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &action, NULL);
}

bool
notice_report(void)
{
	return atomic_exchange(&report_wanted, 0);
}

bool
notice_asked(void)
{
	return atomic_exchange(&asked, 0);
}

bool
notice_tick(void)
{
	bool was = atomic_exchange(&ticked, 0);

	if (was && !ticks_wanted)
		ticks_rest();
	return was;
}

void
notice_ticks(bool on)
{
	ticks_wanted += on ? 1 : -1;
	if (ticks_wanted != on)
		return;
	if (on)
		ticks_set(true);
	else
		ticks_rest();
}
