/*
 * The writers of all reports: each writes one report from the table.  report.c
 * calls them; reports share the helpers at the end.
 */
#ifndef REPORT_KINDS_H
#define REPORT_KINDS_H

#include <stdio.h>

#include "report/table.h"
#include "util/fail.h"

void summary_write(struct table *table, FILE *out);
void listing_write(struct table *table, FILE *out);
void hist_write(struct table *table, FILE *out);
void hist_scaled_write(struct table *table, FILE *out);
void hist_log_write(struct table *table, FILE *out);
void funcs_write(struct table *table, FILE *out);
void inlines_write(struct table *table, FILE *out);
void uncovered_write(struct table *table, FILE *out);
void files_write(struct table *table, FILE *out);
void lines_write(struct table *table, FILE *out);
void insns_write(struct table *table, FILE *out);
void blocks_write(struct table *table, FILE *out);
void edges_write(struct table *table, FILE *out);
void cfg_write(struct table *table, FILE *out);
void calls_write(struct table *table, FILE *out);
void events_write(struct table *table, FILE *out);
void times_write(struct table *table, FILE *out);
void placement_write(struct table *table, FILE *out);
void sites_write(struct table *table, FILE *out);

/* Formats of other tools. */
void lcov_write(struct table *table, FILE *out);
void cobertura_write(struct table *table, FILE *out);
void gcov_json_write(struct table *table, FILE *out);
void callgrind_write(struct table *table, FILE *out);
void bolt_write(struct table *table, FILE *out);
void autofdo_write(struct table *table, FILE *out);
void pprof_write(struct table *table, FILE *out);
void drcov_write(struct table *table, FILE *out);
void folded_write(struct table *table, FILE *out);
void csv_write(struct table *table, FILE *out);
void json_write(struct table *table, FILE *out);

/* Write the page into the directory: 0, or -1 with the message set. */
MUST_CHECK int html_write(struct table *table, const char *path);

/*
 * Check that a page can be written to the path: it does not exist, or is an
 * empty directory or a page.  Changes nothing.  0, or -1 with the message set.
 */
MUST_CHECK int html_dir_check(const char *path);

/* uncovered.c: the chosen lines, by index into table->lines, as ranges. */
void line_ranges_write(const struct table *table, const bool *chosen,
		       FILE *out);

/* executed.c: the functions with their executed instructions. */
void funcs_executed_write(struct table *table, FILE *out);
/* Those that executed most, as many as --top says; false if none is known. */
bool funcs_busiest_write(struct table *table, FILE *out);

/* hot_lines.c: the lines that run most, nothing if none ran. */
void hot_lines_write(struct table *table, FILE *out);

/*
 * text_funcs.c: the functions that are called most, as many as --top says, but
 * for those that every program has; nothing if none was called.
 */
void funcs_most_write(const struct table *table, const struct func_table *funcs,
		      const char *title, FILE *out);

/*
 * title_write writes the first line of a report, its title and the program, and
 * a note on counts of --once.  lines_present returns whether lines were
 * counted, and writes a line saying so if not.
 */
void title_write(const struct table *table, FILE *out, const char *title);
/* summary.c: how the run ended, and how long it took. */
void run_line_write(const struct table *table, FILE *out);
bool lines_present(const struct table *table, FILE *out);

/* view.c: the same for blocks, edges and instructions. */
bool units_present(const struct table *table, FILE *out, enum unit_kind kind);
/* "  42 blocks, 26 run, 16 never run" */
void totals_line_write(const struct totals *totals, enum unit_kind kind,
		       FILE *out);
/* The end of such a line: "16 never run, 2 not known (?)" */
void totals_rest_write(const struct totals *totals, const char *never,
		       FILE *out);

#endif
