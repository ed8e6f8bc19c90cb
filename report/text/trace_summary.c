/*
 * The summary of a trace: what ran, its threads, and where the time went.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/names.h"
#include "report/printable.h"
#include "report/text/time_rows.h"
#include "report/trace/trace_report.h"
#include "util/mem.h"

static const struct trace_watch nothing;

char *
trace_thread_text(const struct trace_thread *thread)
{
	return thread->tid == thread->pid ?
		       mem_printf("process %" PRIu32, thread->pid) :
		       mem_printf("thread %" PRIu32 " of process %" PRIu32,
				  thread->tid, thread->pid);
}

static void
rows_put(const struct trace_report *report, const struct trace_sums *sums,
	 size_t top, FILE *out)
{
	const struct trace *trace = report->trace;
	struct time_rows rows = { 0 };

	for (size_t i = 0; i < trace->tables.nfuncs; i++) {
		struct times *times = times_scale(&sums->times[i],
						  trace->tick_ns);

		if (times->calls || times->total)
			*vec_push(rows.rows, rows.n) = (struct time_row){
				.times = *times,
				.why = times->lost ? "calls were on several "
						     "stacks that pmon could "
						     "not tell apart" :
						     NULL,
				.calls.n = times->calls,
				.name = mem_strdup(report->names[i]),
			};
		times_free(times);
	}
	time_rows_write(&rows, top, report->columns, out);
}

static void
run_put(const struct trace_report *report, const struct trace_sums *sums,
	FILE *out)
{
	const struct trace *trace = report->trace;
	const struct trace_run *run = &trace->tables.run;
	time_t start = (time_t)(run->start / 1000000000);
	char date[64] = "?", *time;
	uint64_t calls = 0;
	struct tm tm;

	for (size_t i = 0; i < trace->tables.nthreads; i++)
		calls += sums->calls[i];
	if (gmtime_r(&start, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fputs("Trace of calls of ", out);
	text_put(out, run->command);
	fprintf(out, "\nBegun %s, by pmon ", date);
	text_put(out, run->version);
	putc('\n', out);
	time = text_time(trace_ticks_ns(
		trace, sums->items ? sums->end - sums->begin : 0));
	text_count(out, calls, 0);
	fputs(calls == 1 ? " call of " : " calls of ", out);
	text_count(out, trace->tables.nfuncs, 0);
	fprintf(out, " %s in %s\n",
		trace->tables.nfuncs == 1 ? "function" : "functions", time);
	free(time);
}

static void
threads_put(const struct trace_report *report, const struct trace_sums *sums,
	    FILE *out)
{
	const struct trace *trace = report->trace;
	size_t shown = 0, all = 0;

	fprintf(out, "\n%14s %9s %12s  THREAD\n", "FROM (s)", "FOR", "CALLS");
	for (size_t i = 0; i < trace->tables.nthreads; i++) {
		const struct trace_thread *thread = &trace->tables.threads[i];
		char *text, *time;
		uint64_t ns;

		if (!sums->first[i] || ++all > report->top)
			continue;
		shown++;
		ns = trace_ns(trace, sums->first[i]);
		time = text_time(
			trace_ticks_ns(trace, sums->last[i] - sums->first[i]));
		text = trace_thread_text(thread);
		fprintf(out, "%4" PRIu64 ".%09" PRIu64 " %9s ", ns / 1000000000,
			ns % 1000000000, time);
		text_count(out, sums->calls[i], 12);
		fprintf(out, "  %s, ", text);
		text_put(out, thread->program);
		putc('\n', out);
		free(text);
		free(time);
	}
	if (all > shown)
		fprintf(out, "... and %zu more\n", all - shown);
}

int
trace_summary_write(const struct trace_report *report, FILE *out)
{
	struct trace_sums sums;
	int err = trace_follow(report->trace, report->part, &nothing, NULL,
			       &sums);

	run_put(report, &sums, out);
	threads_put(report, &sums, out);
	rows_put(report, &sums, report->top, out);
	trace_sums_free(report->trace, &sums);
	return err;
}

int
trace_times_write(const struct trace_report *report, FILE *out)
{
	struct trace_sums sums;
	int err = trace_follow(report->trace, report->part, &nothing, NULL,
			       &sums);

	fputs("Times of ", out);
	text_put(out, report->trace->tables.run.command);
	putc('\n', out);
	rows_put(report, &sums, SIZE_MAX, out);
	trace_sums_free(report->trace, &sums);
	return err;
}
