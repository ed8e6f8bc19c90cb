/*
 * Prints reports of traces.
 */
#ifndef PRINT_TRACES_H
#define PRINT_TRACES_H

#include <stdio.h>

#include "print/print_options.h"

/* Is the file, or one of several, a trace? */
bool traces_given(const struct options *opts);

/*
 * Check that the options are for a trace.  0, or -1 with the message.
 */
int trace_options_check(const struct options *opts);

/*
 * Print the reports asked for, or the summary.  Gives warn, to be freed, why the
 * trace's end is missing.  0, or -1 with the message.
 */
int trace_print(const struct options *opts, FILE *out,
		void (*warn)(char *warning));

#endif
