/*
 * Prints reports of traces, each to its target.  Opens no programs.
 */
#include "print/traces.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "report/target.h"
#include "report/trace/trace_report.h"
#include "util/mem.h"

static const struct {
	enum report_kind kind;
	trace_report_write *write;
} writers[] = {
	{ REPORT_SUMMARY, trace_summary_write },
	{ REPORT_TRACE, trace_calls_write },
	{ REPORT_TIMES, trace_times_write },
	{ REPORT_CHROME, trace_chrome_write },
	{ REPORT_PERFETTO, trace_perfetto_write },
	{ REPORT_FOLDED, trace_folded_write },
};

static trace_report_write *
writer_of(enum report_kind kind)
{
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (writers[i].kind == kind)
			return writers[i].write;
	return NULL;
}

bool
traces_given(const struct options *opts)
{
	for (size_t i = 0; i < opts->nfiles; i++)
		if (trace_file_is(opts->files[i]))
			return true;
	return false;
}

int
trace_options_check(const struct options *opts)
{
	const struct report_options *report = &opts->report;
	const char *option = opts->diff		       ? "--diff" :
			     opts->merge	       ? "--merge" :
			     opts->parts	       ? "--parts" :
			     opts->executed	       ? "--executed" :
			     report->fail_under	       ? "--fail-under" :
			     report->events.n	       ? "--event" :
			     opts->selection.funcs.n   ? "--func" :
			     opts->selection.objects.n ? "--object" :
							 NULL;

	if (opts->nfiles > 1)
		return fail("a trace is printed alone, not with other files");
	if (option)
		return fail("%s cannot be used with a trace", option);
	for (size_t i = 0; i < report->nwants; i++) {
		if (!writer_of(report->wants[i].kind))
			return fail("--report: %s is a trace; its reports are "
				    "summary, trace, times, chrome, perfetto "
				    "and folded",
				    opts->files[0]);
		for (size_t k = 0; k < i && report->wants[i].path; k++)
			if (report->wants[k].path &&
			    !strcmp(report->wants[k].path,
				    report->wants[i].path))
				return fail("--report: several reports of a "
					    "trace cannot go to %s",
					    report->wants[i].path);
	}
	return 0;
}

static int
want_write(const struct options *opts, struct trace_report *report,
	   const struct report_want *want, FILE *out)
{
	trace_report_write *write = writer_of(want->kind);
	struct target *target = NULL;
	int err;

	if (want->path) {
		target = target_open(want->path);
		if (!target)
			return -1;
		out = target->out;
	}
	report->columns = report_style(&opts->report, out);
	if (want->kind >= REPORT_HTML)
		text_style(false, false);
	err = write(report, out);
	if (target && err)
		target_drop(target);
	else if (target)
		err = target_close(target);
	return err;
}

/* The names that functions are shown by; owned by the caller. */
static char **
names_make(const struct trace *trace, bool demangle)
{
	char **names = mem_alloc(trace->tables.nfuncs * sizeof(*names));

	for (size_t i = 0; i < trace->tables.nfuncs; i++)
		names[i] = name_shown(trace->tables.funcs[i].name, demangle);
	return names;
}

int
trace_print(const struct options *opts, FILE *out, void (*warn)(char *warning))
{
	static const struct report_want usual = { .kind = REPORT_SUMMARY };
	struct trace *trace = trace_open(opts->files[0]);
	const struct report_options *wanted = &opts->report;
	struct trace_part part = opts->part;
	struct trace_report report = { .trace = trace, .part = &part };
	int err = 0;

	if (!trace)
		return -1;
	report.top = wanted->top;
	part.names = report.names = names_make(trace, wanted->demangle);
	for (size_t i = 0; i < wanted->nwants && !err; i++) {
		if (i && !wanted->wants[i].path)
			putc('\n', out);
		err = want_write(opts, &report, &wanted->wants[i], out);
	}
	if (!wanted->nwants)
		err = want_write(opts, &report, &usual, out);
	if (trace->fault && !err)
		warn(mem_strdup(trace->fault));
	for (size_t i = 0; i < trace->tables.nfuncs; i++)
		free(report.names[i]);
	free(report.names);
	trace_close(trace);
	return err;
}
