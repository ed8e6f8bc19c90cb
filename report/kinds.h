/*
 * The reports, each printed from the table of counts; for report.c only.
 */
#ifndef REPORT_KINDS_H
#define REPORT_KINDS_H

#include <stdio.h>

#include "report/table.h"

void summary_write(struct table *table, FILE *out);
void listing_write(struct table *table, FILE *out);
void hist_write(struct table *table, FILE *out, enum report_kind kind);
void funcs_write(struct table *table, FILE *out);
void inlines_write(struct table *table, FILE *out);
void uncovered_write(struct table *table, FILE *out);

/* funcs.c: at most `max` functions, those never called only if `all`. */
void func_rows_write(const struct table *table,
		     const struct func_table *funcs, FILE *out, size_t max,
		     bool all);

/*
 * The first line of a report: what it is of which program.  Then, if no
 * lines were counted, a line saying so; returns whether there are any.
 */
void title_write(const struct table *table, FILE *out, const char *title);
bool lines_present(const struct table *table, FILE *out);

#endif
