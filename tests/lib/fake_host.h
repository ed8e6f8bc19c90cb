/*
 * A host that runs nothing: programs of a few instructions on a processor, and
 * under a kernel, that are data of the test.  A schedule decides what happens
 * next wherever that is open: which task runs to its next stop, which stop is
 * reported, whether a task stops at once when it is paused, and when somebody
 * kills or stops the program.  So a race is one schedule of a run, and the same
 * schedule makes the same race again.  doc/how-to/test.md has an example.
 *
 * The kernel answers requests as Linux does: one on a task that was killed
 * meanwhile returns HOST_GONE, and the task's EVENT_EXITING follows, unless the
 * task died so fast that only its end is seen.
 */
#ifndef TESTS_LIB_FAKE_HOST_H
#define TESTS_LIB_FAKE_HOST_H

#include "host/host.h"

/*
 * A program says by a system call of its own, FAKE_MARK + i, that it passes
 * there; the kernel counts how often each was made while pmon watched.  A call
 * of FAKE_REST waits for ever.
 */
enum { FAKE_MARK = 0x400, FAKE_MARKS = 32, FAKE_REST = 34 };

/* What somebody else does, once, at a time that the schedule says. */
enum fake_deed {
	FAKE_NOTHING,
	FAKE_KILL,		/* SIGKILL; the tasks take their time to die */
	FAKE_KILL_AT_ONCE,	/* the same; they are at their last stops */
	FAKE_KILL_PAST,		/* the same; and a request that resumes one
				   resumes it from its last stop */
	FAKE_KILL_CHILD,	/* SIGKILL to the youngest process */
	FAKE_STOP,		/* SIGSTOP */
	FAKE_CONTINUE,		/* SIGCONT */
	FAKE_PMON_STOPS,	/* SIGTERM to pmon */
	FAKE_ADVANCE,		/* each task that runs comes to its next stop */
};

enum { FAKE_CHOICES = 4096, FAKE_DEEDS = 4 };

struct fake_schedule {
	/*
	 * The i-th choice that is open takes this of the possibilities, which
	 * are numbered from 0; 0 is what happens where nobody disturbs.
	 */
	uint8_t choices[FAKE_CHOICES];
	size_t nchoices;	/* later ones are 0 */
	/* Deeds that a choice may begin instead of going on with a task. */
	enum fake_deed deeds[FAKE_DEEDS];
	size_t ndeeds;
	/* A deed that is done just before the host's at_request-th request. */
	enum fake_deed deed;
	uint64_t at_request;	/* from 1; 0: never */
};

struct fake_result {
	uint64_t marks[FAKE_MARKS];
	uint64_t requests;	/* made by pmon */
	bool done[FAKE_DEEDS];	/* which of the deeds were */
	bool deed_done;
	const char *wrong;	/* what pmon did that it must not do, or what
				   it left in the program; NULL: nothing */
	pid_t wrong_tid;
};

extern const struct host fake_host;

/*
 * Begin a run with this schedule, which must live until fake_end.  The program
 * of host->launch is the file; its arguments are not passed.
 */
void fake_begin(const struct fake_schedule *schedule);
/*
 * Let go of all that the run had, after tasks that pmon has let go have come to
 * their ends.
 */
void fake_end(struct fake_result *result);

/*
 * Change the schedule to the next one with at most `deviations` choices that
 * are not 0, in all orders, by what the last run could choose from.  False if
 * there is none: call this between fake_end and the next fake_begin.
 */
bool fake_next(struct fake_schedule *schedule, unsigned deviations);

/* Print the schedule; and make it again from that text. */
void fake_print(const struct fake_schedule *schedule);
void fake_parse(struct fake_schedule *schedule, const char *text);

#endif
