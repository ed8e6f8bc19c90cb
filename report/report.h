/*
 * Reports: text made from plans and their counts.  Reads source files, and
 * no process.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "plan/plan.h"

enum report_kind {
	REPORT_SUMMARY,
	REPORT_LISTING,
	REPORT_HIST,
	REPORT_HIST_SCALED,
	REPORT_HIST_LOG,
	REPORT_FUNCS,
	REPORT_UNCOVERED,
	REPORT_INLINES,
};

/* One report asked for: --report=KIND[:SUBKIND][:FILE] */
struct report_want {
	enum report_kind kind;
	char *path;		/* target, or NULL for the common one */
};

struct report_options {
	struct report_want *wants;	/* in the order given */
	size_t nwants;
	size_t top;			/* --top, 20 */
	bool demangle;
	const char **source_paths;	/* "OLD=NEW" */
	size_t nsource_paths;
	size_t columns;			/* 80 */
};

/* What was measured: everything a report is made from. */
struct tally {
	struct plan **plans;	/* one per image, main executable first */
	size_t nplans;
	const char *command;	/* the program and its arguments, or "PID" */
	double seconds;		/* elapsed */
	size_t nprocesses, nthreads;	/* seen */
	uint64_t events;	/* traps counted */
	char *outcome;		/* "exited with status 1", "still running" */
	char **remarks;		/* what the user should know */
	size_t nremarks;
};

/* Add the reports of one --report argument; 0 or -1 with the message. */
int report_parse(struct report_options *opts, const char *arg);
void report_options_free(struct report_options *opts);

/*
 * Check that every report's target can be written before anything is run:
 * opens them; 0 or -1 with the message.
 */
int report_targets_check(const struct report_options *opts);

/*
 * Write all reports wanted (the summary if none): those with a target there,
 * the others to out.  A target is replaced in whole or not at all.  0 or -1
 * with the message set (full disk).
 */
int report_write(const struct report_options *opts,
		 const struct tally *tally, FILE *out);

#endif
