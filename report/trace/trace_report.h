/*
 * What reports of traces share.
 */
#ifndef REPORT_TRACE_TRACE_REPORT_H
#define REPORT_TRACE_TRACE_REPORT_H

#include <stdio.h>

#include "report/trace/trace_calls.h"

struct trace_report {
	const struct trace *trace;
	const struct trace_part *part;
	char **names;		/* of functions, as they are shown */
	size_t top;		/* rows of a list, at most */
	size_t columns;		/* of a line */
};

/* Write the report.  0, or -1 with the message if the trace is damaged. */
typedef int trace_report_write(const struct trace_report *report, FILE *out);

trace_report_write trace_summary_write;		/* text/trace_summary.c */
trace_report_write trace_times_write;		/* text/trace_summary.c */
trace_report_write trace_calls_write;		/* text/trace_text.c */
trace_report_write trace_folded_write;		/* export/folded_trace.c */
trace_report_write trace_chrome_write;		/* export/json_trace.c */
trace_report_write trace_perfetto_write;	/* export/perfetto.c */

/* "thread 12 of process 10" or "process 10"; owned by the caller. */
char *trace_thread_text(const struct trace_thread *thread);

#endif
