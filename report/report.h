/*
 * Reports: the options that choose them, the input that they are made from,
 * and the functions that check their targets and write them.  Reads source
 * files; never touches a process.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "probe/death.h"
#include "probe/plan.h"
#include "report/events.h"
#include "util/fail.h"
#include "util/command_line.h"

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
	REPORT_EVENTS,
	REPORT_TIMES,
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
	REPORT_TRACE,		/* of traces alone, as all that follow */
	REPORT_CHROME,
	REPORT_PERFETTO,
};

/* In which order reports of functions and files are (--sort). */
enum sort_key { SORT_COUNT, SORT_CALLS, SORT_NAME, SORT_FILE };

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* One report that was asked for: --report=KIND[:SUBKIND][:FILE] */
struct report_want {
	enum report_kind kind;
	char *path;		/* target, or NULL for the common output */
};

struct report_options {
	struct report_want *wants;	/* in the order given */
	size_t nwants;
	size_t top;			/* --top, 20 */
	bool demangle;
	bool system_headers;		/* --system-headers */
	bool verbose, quiet, wide;	/* --verbose, --quiet, --wide */
	bool brief;			/* --brief: of the summary only which
					   functions executed most */
	enum when color;		/* --color */
	enum sort_key sort;		/* --sort */
	size_t paged;			/* columns of the terminal to which a
					   pager brings the standard output; 0:
					   no pager */
	const char **source_paths;	/* "OLD=NEW" */
	size_t nsource_paths;
	const char **exclude_paths;	/* globs: --exclude-path */
	size_t nexclude_paths;
	char *source_root;		/* --source-root, in full and resolved;
					   or NULL */
	size_t columns;			/* of a line; 0: as many as the output
					   has, or as names need */
	bool per_call;		/* the event is counted by calls (--per): it has
				   no report of its own unless asked for */
	struct events events;		/* --event */
	unsigned fail_under;		/* --fail-under, 1/1000 percent; 0: no
					   limit */
};

/*
 * style.c: choose how reports to `out` look.  Only at a terminal, unless the
 * options say otherwise, they have colours, commas between thousands, and lines
 * that fit.  Returns the most columns of a line: as $COLUMNS says or as the
 * terminal has, WIDTH_ALL in files and pipes.
 */
size_t report_style(const struct report_options *opts, FILE *out);
/* A pager will show what is printed at the terminal that stdout still is. */
void report_paged(struct report_options *opts);

/* The default options. */
extern const struct report_options report_usual;

/*
 * --report, --brief, --top, --verbose, --quiet, --wide, --color, --sort,
 * --event, --no-demangle, --system-headers, --exclude-path, --source-path, --source-root,
 * --fail-under, --fail-if: options that set a struct report_options.
 */
enum { REPORT_OPTIONS = 16 };
extern const struct option_entry report_entries[REPORT_OPTIONS];

/* The program's stops for one cause: how many, and for how long in all. */
struct stop_sum {
	const char *cause;
	uint64_t n, ns;
};

/* stop_causes.c: the cause of stops while pmon attaches to a process. */
extern const char stop_attaching[];

/* How attaching and detaching disturbed the processes. */
struct stall {
	double attach, detach;	/* longest standstill, seconds; 0: pmon
				   attached to none, or has detached from none
				   yet */
	size_t traps;		/* in their text at the detach */
};

/* What a run measured: everything that a report is made from. */
struct report_input {
	struct plan **plans;	/* one per image, main executable first;
				   propagated */
	size_t nplans;
	const char *command;	/* the program and its arguments, or "PID" */
	double seconds;		/* elapsed */
	size_t nprocesses, nthreads;	/* seen */
	uint64_t events;	/* traps handled */
	bool attached;		/* what ran before is not counted */
	bool partial;		/* a program or library that was counted is
				   left out */
	struct stop_sum *stops;	/* by cause, traps first */
	size_t nstops;		/* 0: not known */
	struct stall stall;
	char *outcome;		/* "exited with status 1", "still running" */
	struct death death;	/* where a signal ended the program */
	char **remarks;		/* notes for the user */
	size_t nremarks;
};

struct table;			/* table.h: report_input, and what it adds up
				   to */

/* Add the reports of one --report argument.  0, or -1 with the message set. */
MUST_CHECK int report_parse(struct report_options *opts, const char *arg);
/* Whether no report but this one is wanted. */
bool report_alone(const struct report_options *opts, enum report_kind kind);
/* Add the report, unless it is asked for already. */
void report_want(struct report_options *opts, enum report_kind kind);
/*
 * Add to the selection what the reports need: their units, if the user asked
 * for none, and whether reports name lines (sel->places).  Events add their
 * units in any case, and their report to the reports.  Completes the options.
 */
void report_choose(struct report_options *opts, struct selection *sel);

/*
 * Add the set of all events if there are none, but a report or a limit of them.
 */
void report_complete(struct report_options *opts);

/*
 * Whether reports leave out the code of the idle functions of a plan, which is
 * propagated or restored: no report shows the code of functions, and the
 * summary would only add up much of it.
 */
bool report_leaves_idle(const struct report_options *opts,
			const struct plan *plan);

/*
 * Propagate the counts of the report input's plans.  Functions that were never
 * entered are analysed only if report_leaves_idle is false.
 */
void report_propagate(const struct report_options *opts,
		      const struct report_input *report_input);

/*
 * Check that no report needs to know how often code ran.  0, or -1 with the
 * message set.
 */
MUST_CHECK int report_once(const struct report_options *opts);

/*
 * Check that enough lines ran for --fail-under.  0 if so, 1 with the message
 * set if not, -1 with the message set if no line was counted.  A line with an
 * unknown count is taken as one that did not run.
 */
MUST_CHECK int coverage_check(const struct table *table);

/*
 * event_limits.c: judge whether events pass the limits of --fail-if: 0 if not,
 * 1 with the message set if one does, -1 with the message set if that is not
 * known.
 */
MUST_CHECK int events_judge(struct table *table);

/*
 * unmatched.c: check that the selection has chosen something of what was
 * counted.  0; or -1 with the message, which names the nearest name.
 */
MUST_CHECK int report_matched(const struct report_input *report_input,
			      const struct selection *sel);

/* Names among which a pattern was meant to match; lent. */
struct names {
	const char **funcs, **files;	/* files by their last components */
	size_t nfuncs, nfiles;
	size_t objects;		/* how many objects the selection has chosen */
};

/*
 * unmatched.c: -1 with the message that the selection, which is not empty, has
 * chosen none of these.
 */
int names_unmatched(const struct selection *sel, const struct names *names);

/*
 * Write the lines that ran in only one of two report inputs, which are of the
 * same programs.
 */
void coverage_diff_write(const struct report_options *opts,
			 const struct report_input *before,
			 const struct report_input *after, FILE *out);

/*
 * Write how events changed between two report inputs; returns as events_judge
 * does.
 */
MUST_CHECK int events_diff_write(const struct report_options *opts,
				 const struct report_input *before,
				 const struct report_input *after, FILE *out);

/* Write what runs, and all counts that are known and not 0. */
void live_write(const struct report_options *opts,
		const struct report_input *report_input, FILE *out);

/* Free what the options own, and clear them. */
void report_options_free(struct report_options *opts);

/*
 * Check that the reports are made of counts, not of a trace.  0, or -1 with the
 * message.
 */
MUST_CHECK int report_counts_check(const struct report_options *opts);

/*
 * Check, before the program runs, that every report's target can be written.
 * 0, or -1 with the message set.
 */
MUST_CHECK int report_targets_check(const struct report_options *opts);

/*
 * Warnings, or NULL, as with --quiet; owned by the caller.  Before the program
 * runs: what will keep a reader from a report that is asked for.
 */
char *report_warning(const struct report_options *opts);
/* With the reports: that one of them is of lines, but the programs have none. */
char *report_empty(const struct report_options *opts,
		   const struct report_input *report_input);

/*
 * Write all reports (the summary if none was asked for): those with a target
 * go there, the others to out, whose errors the caller looks for.  A target is
 * replaced in whole or not at all.  0, or -1 with the message set, which names
 * the target.
 */
MUST_CHECK int report_write(struct table *table, FILE *out);

#endif
