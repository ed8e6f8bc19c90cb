/*
 * pmprint's command line.
 */
#ifndef PRINT_OPTIONS_H
#define PRINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

struct options {
	bool runs, executed;	/* what needs no program */
	bool parts;		/* processes and threads by themselves */
	bool diff;		/* compare two files */
	bool recover;		/* of runs whose pmon was killed */
	const char *output;	/* -o, or NULL: standard output */
	const char *merge;	/* write what was merged there, or NULL */
	struct selection selection;
	struct report_options report;
	struct option_about about;
	char **files;		/* at least one */
	size_t nfiles;
};

/* Parse; 0 or -1 with the message set. */
int options_parse(struct options *opts, int argc, char **argv);
void options_free(struct options *opts);
void options_help(FILE *out);
void options_version(FILE *out);
int options_complete(const struct options *opts, FILE *out);

#endif
