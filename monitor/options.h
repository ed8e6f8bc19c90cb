/*
 * pmon's command line.  One table of options gives the parser, -h, the
 * completions and the files of options.
 */
#ifndef MONITOR_OPTIONS_H
#define MONITOR_OPTIONS_H

#include <sys/types.h>

#include "flow/placement.h"
#include "program/select.h"
#include "report/report.h"
#include "util/fail.h"

enum patch_choice {
	PATCH_AUTO,		/* relocated functions; else as PATCH_TRAP */
	PATCH_TRAP,		/* the cheapest patch for each trap */
	PATCH_STEP,
	PATCH_SLOT,
	PATCH_EMULATE,
};

enum follow { FOLLOW_ALL, FOLLOW_NONE };

/* Whose counts are kept apart. */
enum separate { SEPARATE_NONE, SEPARATE_PROCESS, SEPARATE_THREAD };

/* Requests to another pmon, by its control socket. */
enum request {
	REQUEST_NONE,
	REQUEST_QUERY,
	REQUEST_SNAPSHOT,
	REQUEST_RESET,
	REQUEST_STOP,
	REQUEST_LIVE,
	REQUEST_TRACE,
};

/* --slow: calls of some functions that take longer. */
struct slow_option {
	struct selection of;
	uint64_t ns;
};

struct options {
	struct selection selection;
	struct report_options report;
	enum patch_choice patch;
	enum follow follow;
	enum separate separate;
	enum placement_method placement;
	bool stat, deterministic;	/* --stat, --deterministic */
	bool time;		/* measure times of functions: --time */
	const char *trace;	/* write a trace of calls there, or NULL */
	uint64_t ring;		/* keep so many bytes of it, or 0: --ring */
	struct selection per;	/* functions in whose calls the first event is
				   counted: --per */
	bool per_alone;		/* ... and nothing else is */
	struct slow_option *slows;
	size_t nslows;
	bool exact;		/* drop no counter, whatever it costs */
	bool once;		/* count each site only until it is reached */
	bool eager;		/* look at all functions before the start */
	bool no_traps;		/* count nothing that needs a trap */
	const char *data;	/* -d, as given, or NULL */
	double save_every;	/* seconds, 0: never */
	const char *weights;	/* --weights, or NULL */
	const char *host;	/* where the program runs, or NULL ... */
	const char *remote;	/* ... or the stub that controls it */
	const char *output;	/* -o, or NULL: stderr */
	double duration;	/* seconds, 0: no end */
	enum request request;
	const char *query;	/* reports of REQUEST_QUERY, or NULL */
	const char *snapshot;	/* file for REQUEST_SNAPSHOT, or NULL */
	pid_t asked;		/* the other pmon, or a process it counts */
	pid_t *pids;		/* -p */
	size_t npids;
	char **argv;		/* the program, NULL-terminated, or NULL */
	struct option_about about;
	bool no_config;
	bool no_cache;
	char **configs;		/* texts of the files of options */
	size_t nconfigs;
	char *warning;		/* to be printed before all else, or NULL */
};

/*
 * Parse the command line, read the files of options (config.h), and check that
 * the options go together.  *opts points into argv; options_free it even after
 * a failure.  0, or -1 with the message.
 */
int options_parse(struct options *opts, int argc, char **argv) MUST_CHECK;
/* Free what *opts owns. */
void options_free(struct options *opts);

/* Print the text of -h, and that of --version. */
void options_help(FILE *out);
void options_version(FILE *out);

/* Print the shell's completion asked for.  0, or -1 with the message. */
int options_complete(const struct options *opts, FILE *out) MUST_CHECK;

#endif
