/*
 * The notes of a report: what the user should know of its objects and of the
 * run.
 */
#ifndef REPORT_REMARKS_H
#define REPORT_REMARKS_H

#include "report/report.h"

/*
 * The notes, *n of them: those of the objects, in their order, then the run's.
 * If the same is to be said of several objects, the note of the first says so,
 * and one behind it names the others.
 */
char **report_remarks(const struct report_input *report_input, size_t *n);
void report_remarks_free(char **remarks, size_t n);

#endif
