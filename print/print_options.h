/*
 * pmprint's command line.
 */
#ifndef PRINT_PRINT_OPTIONS_H
#define PRINT_PRINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"
#include "report/trace/trace_calls.h"

struct options {
	bool runs, executed;	/* pages that need no program */
	bool parts;		/* each process or thread separately */
	bool diff;		/* compare two files */
	struct trace_part part;	/* of a trace: --from, --to, --thread */
	bool recover;		/* recover data of runs whose pmon was killed */
	bool no_pager;
	size_t columns;		/* of a line of what is printed */
	const char *output;	/* -o, or NULL: standard output */
	size_t jobs;		/* --jobs, or 0 */
	bool skip_damaged;	/* leave out files that cannot be merged */
	const char **program_paths;	/* --program-path: "OLD=NEW", or DIR */
	size_t nprogram_paths;
	const char *by;		/* --by: a glob that labels files, or NULL */
	const char *merge;	/* write the merged profile there, or NULL */
	struct selection selection;
	struct report_options report;
	struct option_about about;
	char **files;		/* at least one */
	size_t nfiles;
};

/* Parse the command line.  0, or -1 with the message set. */
int options_parse(struct options *opts, int argc, char **argv);
/* Free what *opts owns. */
void options_free(struct options *opts);
/* Print the text of -h, that of --version, and a shell's completion. */
void options_help(FILE *out);
void options_version(FILE *out);
int options_complete(const struct options *opts, FILE *out);

#endif
