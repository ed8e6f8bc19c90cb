/*
 * Runs a program on the remote host with traps at given addresses, and counts
 * their hits: a small monitor to test the host with.
 */
#ifndef TESTS_LIB_REMOTES_H
#define TESTS_LIB_REMOTES_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/abi.h"
#include "host/remote.h"
#include "util/fail.h"
#include "util/mem.h"

enum how {
	HOW_STEP,		/* lift the trap, step, plant it again */
	HOW_SLOT,		/* out of line, or emulated */
};

struct spot {
	uint64_t va;
	uint64_t hits;
	uint8_t saved[4];
	struct emul emul;
	bool emulated;
	uint64_t slot;		/* or 0 */
};

struct counted {
	struct spot *spots;	/* ascending */
	size_t n;
	enum how how;
	uint64_t traps, stops;
	uint64_t stop_after;	/* so many traps kill the program; 0: none */
	bool pause;		/* pause it once, at first */
	struct event end;
	double seconds;
};

extern const struct host *const far;

struct spot *spot_find(struct counted *c, uint64_t va);
void event_next(struct event *event);
bool ended(const struct event *event);

/* Run the program from its first instruction to its end, and count. */
void count_on(const struct arch *arch, struct counted *c, pid_t tid);

#endif
