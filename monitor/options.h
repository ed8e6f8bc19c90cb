/*
 * The command line: one table of options makes the parser, -h and the
 * one-letter forms.
 */
#ifndef MONITOR_OPTIONS_H
#define MONITOR_OPTIONS_H

#include <sys/types.h>

#include "flow/placement.h"
#include "plan/select.h"
#include "report/report.h"

enum patch_choice {
	PATCH_AUTO,		/* in relocated functions; else as PATCH_TRAP */
	PATCH_TRAP,		/* the cheapest way for each trap */
	PATCH_STEP,
	PATCH_SLOT,
	PATCH_EMULATE,
};

enum follow { FOLLOW_ALL, FOLLOW_NONE };

/* Whose counts are kept apart. */
enum separate { SEPARATE_NONE, SEPARATE_PROCESS, SEPARATE_THREAD };

/* What is asked of another pmon, by its control socket. */
enum request {
	REQUEST_NONE,
	REQUEST_QUERY,
	REQUEST_SNAPSHOT,
	REQUEST_RESET,
	REQUEST_STOP,
	REQUEST_LIVE,
};

struct options {
	struct selection selection;
	struct report_options report;
	enum patch_choice patch;
	enum follow follow;
	enum separate separate;
	enum placement_method placement;
	bool once;		/* each site until it is reached */
	bool eager;		/* look at all functions before the start */
	bool no_traps;		/* what only a trap could count is not */
	const char *data;	/* -d, as given, or NULL */
	double save_every;	/* seconds, 0: never */
	const char *weights;	/* --weights, or NULL */
	const char *host;	/* where the program runs, or NULL ... */
	const char *remote;	/* ... or the stub that controls it */
	const char *output;	/* -o, or NULL: stderr */
	double duration;	/* seconds, 0: no end */
	enum request request;
	const char *query;	/* the reports of it, or NULL */
	const char *snapshot;	/* where to write it */
	pid_t asked;		/* which pmon, or a process it counts */
	pid_t *pids;		/* -p */
	size_t npids;
	char **argv;		/* the program, NULL-terminated, or NULL */
	struct option_about about;
	bool no_config;
	char **configs;		/* texts that options come from */
	size_t nconfigs;
	char *warning;		/* what is to be said before all else, or
				   NULL */
};

/*
 * Parse, and read the files of options (config.h); 0 or -1 with the message
 * set.
 */
int options_parse(struct options *opts, int argc, char **argv);
void options_free(struct options *opts);
void options_help(FILE *out);

/* Print the completion asked for; 0, or -1 with the message. */
int options_complete(const struct options *opts, FILE *out);

void options_version(FILE *out);

#endif
