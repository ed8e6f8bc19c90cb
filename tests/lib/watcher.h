/*
 * A small monitor for tests of stacks and stack switches.  It counts how often
 * each call of a program is made, how often control comes back behind it, and
 * the frame edges, which must make up the difference.
 *
 * It watches the calls in main and in functions with "t_" in their names,
 * unless a branch or a landing pad leads to the return address.  It traps the
 * call and the instruction behind it, and emulates both, so that no other
 * thread slips past a lifted trap.  Only traps of hooks may be lifted.
 */
#ifndef TESTS_LIB_WATCHER_H
#define TESTS_LIB_WATCHER_H

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/unwind/stack_switch.h"
#include "tests/lib/hooks.h"
#include "util/fail.h"
#include "util/mem.h"

/* The counts of one call of the program. */
struct balance {
	uint64_t call, ret;	/* link addresses */
	unsigned long called, returned, left, came;
};

struct watched_image {
	struct image *image;
	struct hook *hooks;
	size_t nhooks;
	struct balance *balances;	/* ascending ret; of the program */
	size_t nbalances;
};

struct watched_module {
	struct watched_image *of;
	uint64_t bias, lo, hi;
};

struct watched_space {
	int mem;
	struct stack *stack;
	struct watched_module modules[16];
	size_t nmodules;
	bool foreign;		/* runs another program now */
};

struct watched_task {
	pid_t tid;
	struct watched_space *space;
	struct entries entries;
	struct stack_switch exec;	/* frame edges if its exec succeeds */
	uint64_t lifted;	/* va of a trap lifted for a step, or 0 */
};

struct watcher {
	const struct host *host;
	const char *program;
	struct event *queue;	/* received, not yet handled */
	size_t nqueue, next;
	pid_t held[64];		/* new tasks that have stopped already */
	size_t nheld;
	struct watched_image *images;
	size_t nimages;
	struct watched_space **spaces;
	size_t nspaces;
	struct watched_task tasks[64];
	size_t ntasks;
	unsigned long left, came, exact, unknown;	/* frame edges in all */
	char why[256];		/* reason of the last unknown ones */
	int status;		/* of the first process; -signal */
};

/* ---- events */

/* Run the program to its end.  Images are kept from run to run. */
void watch(struct watcher *watcher, char **argv);

/* Make a watcher ready for another run. */
void watch_again(struct watcher *watcher);
void watch_close(struct watcher *watcher);

#endif
