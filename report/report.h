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
#include "util/options.h"

enum report_kind {
	REPORT_SUMMARY,
	REPORT_LISTING,
	REPORT_HIST,
	REPORT_HIST_SCALED,
	REPORT_HIST_LOG,
	REPORT_FUNCS,
	REPORT_UNCOVERED,
	REPORT_INLINES,
	REPORT_FILES,
	REPORT_LINES,
	REPORT_INSNS,
	REPORT_BLOCKS,
	REPORT_EDGES,
	REPORT_CFG,
	REPORT_CALLS,
	REPORT_PLACEMENT,
	REPORT_SITES,
	REPORT_HTML,
	REPORT_LCOV,
	REPORT_COBERTURA,
	REPORT_GCOV_JSON,
	REPORT_CALLGRIND,
	REPORT_BOLT,
	REPORT_AUTOFDO,
	REPORT_PPROF,
	REPORT_DRCOV,
	REPORT_FOLDED,
	REPORT_JSON,
	REPORT_CSV,
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
	unsigned fail_under;		/* --fail-under, 1/1000 percent; 0: no
					   limit */
};

/* What holds if nothing is said. */
extern const struct report_options report_usual;

/*
 * --report, --top, --no-demangle, --source-path, --fail-under: into
 * report_options.
 */
enum { REPORT_OPTIONS = 5 };
extern const struct option_entry report_entries[REPORT_OPTIONS];

/* How often the program stopped for one cause, and how long in all. */
struct stop_sum {
	const char *cause;
	uint64_t n, ns;
};

/* What processes felt that were attached to. */
struct stall {
	double attach, detach;	/* the longest they stood still, seconds; 0:
				   none was attached to, or let go yet */
	size_t traps;		/* in their text when they were let go */
};

/* What was measured: everything a report is made from. */
struct report_input {
	struct plan **plans;	/* one per image, main executable first;
				   propagated */
	size_t nplans;
	const char *command;	/* the program and its arguments, or "PID" */
	double seconds;		/* elapsed */
	size_t nprocesses, nthreads;	/* seen */
	uint64_t events;	/* traps handled */
	struct stop_sum *stops;	/* by cause, traps first */
	size_t nstops;		/* 0: not known */
	struct stall stall;
	char *outcome;		/* "exited with status 1", "still running" */
	char **remarks;		/* what the user should know */
	size_t nremarks;
};

/* Add the reports of one --report argument; 0 or -1 with the message. */
int report_parse(struct report_options *opts, const char *arg);
/*
 * Add to the selection what the reports wanted need: the units, if none were
 * asked for, and whether lines are to be known.
 */
void report_choose(const struct report_options *opts, struct selection *sel);

/*
 * Settle the report input's plans for the reports wanted: functions that were
 * never entered are not analysed if none says what they are made of.
 */
void report_settle(const struct report_options *opts,
		   const struct report_input *report_input);

/* Whether any of it says only what ran, not how often (--once). */
bool report_input_once(const struct report_input *report_input);
/* None of the reports wanted is of how often: 0, or -1 with the message. */
int report_once(const struct report_options *opts);

/*
 * Whether enough lines ran for --fail-under: 0, 1 with the message if not, -1
 * with the message if no line was counted.  A line whose count is not known
 * has not been seen to run.
 */
int coverage_check(const struct report_options *opts,
		   const struct report_input *report_input);

/*
 * Which lines ran in one of two tallies and not in the other, both of the
 * same programs.
 */
void coverage_diff_write(const struct report_options *opts,
			 const struct report_input *before,
			 const struct report_input *after, FILE *out);

/* What runs, and all counts that are known and not 0. */
void live_write(const struct report_options *opts,
		const struct report_input *report_input, FILE *out);

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
		 const struct report_input *report_input, FILE *out);

#endif
