/*
 * Signals sent to pmon itself: none is lost, at whichever instruction it comes,
 * and none while a process is attached to.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/ptrace.h"
#include "monitor/process/notice.h"

#include <cmocka.h>

enum { TAKEN, LOST, SLEEPS, STEPS_MAX = 20000 };

/* ---- at each instruction */

/* As the run loop takes them: was it this one? */
static bool
take(int sig)
{
	pid_t sender;
	int stop = notice_stop(&sender);
	bool report, asked, suspend;

	notice_tick();
	report = notice_report();
	asked = notice_asked();
	suspend = notice_suspend(&sender) == SUSPEND_SENT;
	return sig == SIGUSR1 ? report :
	       sig == SIGIO   ? asked :
	       sig == SIGTSTP ? suspend :
				stop == sig;
}

static bool
ticks(void)
{
	struct itimerval timer;

	return !getitimer(ITIMER_REAL, &timer) && timer.it_interval.tv_usec;
}

/*
 * Between its two stops it is sent the signal.  What it does not see before it
 * waits it must be woken for.
 */
static _Noreturn void
child_run(int sig)
{
	bool taken;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	notice_init(false);
	notice_ticks(true);
	notice_ticks(false);
	raise(SIGALRM);
	raise(SIGSTOP);
	taken = take(sig);
	raise(SIGSTOP);
	if (!taken && !ticks())
		_exit(SLEEPS);
	_exit(taken || take(sig) ? TAKEN : LOST);
}

/* Let it go on, given a signal, to its next own stop or its end. */
static int
child_go(pid_t pid, int sig)
{
	int status;

	do {
		assert_int_equal(
			ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	} while (sig && sig != SIGSTOP);
	return status;
}

/* The signal comes after so many instructions; false if it ended before. */
static bool
signal_at(int sig, int at)
{
	int status, given = 0;
	pid_t pid = fork();
	bool before = true;

	assert_true(pid >= 0);
	if (!pid)
		child_run(sig);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WSTOPSIG(status) != SIGSTOP)
		child_go(pid, WSTOPSIG(status));
	for (int i = 0; i < at && before; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL,
					(void *)(long)given),
				 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		before = WSTOPSIG(status) != SIGSTOP;
		given = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	if (before) {
		child_go(pid, sig);
		status = child_go(pid, 0);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) != TAKEN)
			fail_msg("signal %d after %d instructions: %s", sig, at,
				 WEXITSTATUS(status) == LOST ?
					 "lost" :
					 "nothing wakes pmon");
	} else {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return before;
}

static void
test_each_instruction(void **state)
{
	static const int signals[] = { SIGTERM, SIGUSR1, SIGIO, SIGTSTP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		int at = 0;

		while (at < STEPS_MAX && signal_at(signals[i], at))
			at++;
		assert_in_range(at, 50, STEPS_MAX - 1);
	}
}

/* ---- while a process is attached to */

static bool both;
static volatile sig_atomic_t terms;

/*
 * The C library's, in its place.  Once, when it has done its work, a signal and
 * that of the timer which ends it if it waits come at the same time.
 */
long
ptrace(enum __ptrace_request req, ...)
{
	sigset_t all, old;
	va_list args;
	void *addr, *data;
	pid_t pid;
	long r;

	va_start(args, req);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	r = syscall(SYS_ptrace, req, pid, addr, data);
	if ((int)req == PTRACE_SEIZE && both) {
		both = false;
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &old);
		raise(SIGTERM);
		raise(SIGRTMIN);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	return r;
}

static void
on_term(int sig)
{
	terms++;
}

static void
test_attach(void **state)
{
	const struct sigaction action = { .sa_handler = on_term };
	pid_t *tids = NULL, pid = fork();
	size_t n = 0;
	sigset_t mask;

	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	sigaction(SIGTERM, &action, NULL);
	both = true;
	assert_int_equal(ptrace_attach(pid, &tids, &n), HOST_OK);
	assert_int_equal(n, 1);
	assert_false(both);
	assert_int_equal(terms, 1);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	assert_false(sigismember(&mask, SIGTERM));
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0)
		;
	free(tids);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_instruction),
		cmocka_unit_test(test_attach),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
