/*
 * The counts that the live view shows.
 */
#ifndef MONITOR_LIVE_LOOK_H
#define MONITOR_LIVE_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function or a line. */
struct item {
	char *name;		/* owned */
	uint64_t count;
	double rate;		/* per second, since the last look */
	bool stale;		/* the count is that of an earlier look */
};

struct items {
	struct item *items;
	size_t n;
};

/* One look at the counts. */
struct look {
	char *answer;		/* owns command and outcome */
	double time;
	const char *command, *outcome;
	size_t processes, threads;
	size_t nfuncs, nlines;	/* counted, whether they ran or not */
	struct items funcs, lines;	/* those that ran, ascending name */
};

/*
 * Ask for the counts; all threads stand still for it if `still`.  NULL with the
 * message set.  look_free frees the look; nothing if it is NULL.
 */
struct look *look_take(int fd, bool still);
void look_free(struct look *look);

/*
 * Fill in the rates of `now`, and the counts that it lacks.  There are no rates
 * if the counts were reset between.
 */
void look_compare(struct look *now, const struct look *before);

#endif
