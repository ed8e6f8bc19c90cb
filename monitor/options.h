/*
 * The command line: one table of options makes the parser, -h and the
 * one-letter forms.
 */
#ifndef MONITOR_OPTIONS_H
#define MONITOR_OPTIONS_H

#include <sys/types.h>

#include "plan/select.h"
#include "report/report.h"

enum patch_choice {
	PATCH_AUTO,
	PATCH_STEP,
	PATCH_SLOT,
	PATCH_EMULATE,
};

enum follow { FOLLOW_ALL, FOLLOW_NONE };

struct options {
	struct selection selection;
	struct report_options report;
	enum patch_choice patch;
	enum follow follow;
	const char *output;	/* -o, or NULL: stderr */
	double duration;	/* seconds, 0: no end */
	pid_t *pids;		/* -p */
	size_t npids;
	char **argv;		/* the program, NULL-terminated, or NULL */
	bool help, version;
};

/*
 * Parse; 0 or -1 with the message set.  With help or version set nothing
 * else counts.
 */
int options_parse(struct options *opts, int argc, char **argv);
void options_free(struct options *opts);
void options_help(FILE *out);

/* pmon's version and those of the libraries it was built against. */
void options_version(FILE *out);

#endif
