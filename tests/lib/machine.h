/*
 * Runs toy programs at random, counts at a plan's sites as the monitor does,
 * and records the truth: how often each instruction was begun, and how often
 * control went from one to another, left its function, or came to it from
 * outside.  All that a plan may tell follows from that.
 */
#ifndef TESTS_LIB_MACHINE_H
#define TESTS_LIB_MACHINE_H

#include "tests/lib/programs.h"

enum { DEPTH_MAX = 12 };

struct truth {
	uint64_t begun[INSNS_MAX];
	uint64_t moves[INSNS_MAX][INSNS_MAX];	/* within a function */
	uint64_t leaves[INSNS_MAX][2];	/* out of it; [1]: by a taken branch */
	uint64_t arrivals[INSNS_MAX];	/* over no edge of the function */
	uint64_t jumped[INSNS_MAX];	/* of these by its own jumps */
	/* By indirect calls and jumps; the last is outside the program. */
	uint64_t went[INSNS_MAX][INSNS_MAX + 1];
};

/* A live frame.  The last one runs, from pc; others are in calls. */
struct frame {
	uint64_t pc;		/* where the call will come back to */
	bool exact;		/* no call: a signal came before pc */
	uint64_t again;		/* a call may come back there again (setjmp),
				   or 0 */
};

struct machine {
	const struct program *program;
	struct plan *plan;
	struct counter_set *counter_set;
	struct truth *truth;
	struct frame frames[DEPTH_MAX];
	unsigned depth;
	unsigned mishaps;	/* per thousand instructions */
	unsigned unreported;	/* percent of a stack's frames, but for the
				   innermost, that are not found */
	uint64_t walks;		/* times that control came to a function */
};

/* ---- counting, as the monitor does */

/* The state of the running frame. */
enum doing {
	DOING_NEXT,		/* before an instruction */
	DOING_CALL,		/* in a call */
	DOING_FAULT,		/* its instruction has begun */
};

/* Control leaves all frames where they are. */
void frames_leave(struct machine *m, struct counter_set *counter_set,
		  enum doing doing);

/* ---- mishaps; DOING_CALL: the running frame's pc is set behind the call */

void machine_end(struct machine *m, enum doing doing);

/* ---- instructions */

/* Run one instruction, or a mishap between two. */
void machine_step(struct machine *m);

/* Call a function from outside the program. */
void machine_call(struct machine *m, unsigned func);

/* Begin to count while the program runs, with frames on its stack. */
void machine_attach(struct machine *m);

#endif
