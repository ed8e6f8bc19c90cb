/*
 * The report of a trace's calls, one after the other, indented by how deep they
 * are: as uftrace replay shows them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "report/trace/trace_report.h"
#include "util/mem.h"

enum {
	START_WIDTH = 14,
	TIME_WIDTH = 9,
	TID_WIDTH = 7,
	DEEP = 64,		/* more is not indented */
};

struct page {
	const struct trace_report *report;
	FILE *out;
	bool held;		/* the call that began last is not printed yet */
	struct trace_call call;
};

/* Seconds, microseconds apart: "1.234567". */
static void
start_put(struct page *page, uint64_t stamp)
{
	uint64_t ns = trace_ns(page->report->trace, stamp);

	fprintf(page->out, "%*" PRIu64 ".%09" PRIu64 " ", START_WIDTH - 10,
		ns / 1000000000, ns % 1000000000);
}

static void
line_begin(struct page *page, uint64_t stamp, uint32_t thread,
	   const char *duration)
{
	const struct trace_thread *of =
		&page->report->trace->tables.threads[thread];

	start_put(page, stamp);
	fprintf(page->out, "%*s %*" PRIu32 "  ", TIME_WIDTH, duration,
		TID_WIDTH, of->tid);
}

static void
name_put(struct page *page, const struct trace_call *call, const char *before,
	 const char *after)
{
	size_t depth = call->depth < DEEP ? call->depth : DEEP;
	size_t used = START_WIDTH + TIME_WIDTH + TID_WIDTH + 4 + 2 * depth +
		      strlen(before) + strlen(after);

	fprintf(page->out, "%*s%s", (int)(2 * depth), "", before);
	name_fit(page->out, page->report->names[call->func],
		 page->report->columns, used);
	fprintf(page->out, "%s\n", after);
}

/* Print the call that was held, as others come between its begin and end. */
static void
held_put(struct page *page)
{
	const struct trace_call *call = &page->call;

	if (!page->held)
		return;
	page->held = false;
	line_begin(page, call->stamp, call->thread, "");
	name_put(page, call, "", call->before ? " {  (began before)" : " {");
}

static void
call_began(void *ctx, const struct trace_call *call)
{
	struct page *page = ctx;

	held_put(page);
	page->held = true;
	page->call = *call;
}

static const char *
end_text(const struct trace_call *call)
{
	switch (call->how) {
	case CALL_LEFT:
		return "  (left by a jump)";
	case CALL_ENDED:
		return "  (ended with its program)";
	case CALL_OPEN:
		return "  (has not ended)";
	case CALL_LOST:
		return "  (lost)";
	case CALL_RETURNED:
		break;
	}
	return "";
}

static void
call_ended(void *ctx, const struct trace_call *call)
{
	struct page *page = ctx;
	char *time = text_time(
		trace_ticks_ns(page->report->trace, call->ticks));
	bool leaf = page->held && page->call.thread == call->thread &&
		    page->call.stack == call->stack &&
		    page->call.depth == call->depth && !page->call.before;

	if (leaf) {
		page->held = false;
		line_begin(page, page->call.stamp, call->thread, time);
		name_put(page, call, "", end_text(call));
	} else {
		held_put(page);
		line_begin(page, call->stamp, call->thread, time);
		name_put(page, call, "} ", end_text(call));
	}
	free(time);
}

static char *
end_of_thread(const struct trace_item *item)
{
	switch ((enum trace_end)item->value) {
	case TRACE_REPLACED:
		return mem_strdup("the thread was replaced: another one ran a "
				  "program");
	case TRACE_LET_GO:
		return mem_strdup("pmon let the thread go");
	default:
		return mem_strdup("the thread ended");
	}
}

static void
item_happened(void *ctx, const struct trace_item *item)
{
	struct page *page = ctx;
	const struct trace *trace = page->report->trace;
	char *text = NULL, *time;

	switch (item->kind) {
	case TRACE_END:
		text = end_of_thread(item);
		break;
	case TRACE_EXEC:
		text = mem_strdup("it runs another program");
		break;
	case TRACE_FORK:
		text = mem_printf("forked by %" PRIu32,
				  trace->tables.threads[item->value].tid);
		break;
	case TRACE_STOP:
		/* Every 16,384 records: of no interest but to pmon. */
	case TRACE_RECORD:
		return;
	}
	held_put(page);
	time = mem_strdup("");
	line_begin(page, item->stamp, item->thread, time);
	fprintf(page->out, "-- %s\n", text);
	free(time);
	free(text);
}

int
trace_calls_write(const struct trace_report *report, FILE *out)
{
	static const struct trace_watch watch = { call_began, call_ended,
						  item_happened };
	struct page page = { .report = report, .out = out };
	struct trace_sums sums;
	int err;

	fprintf(out, "%*s %*s %*s  CALL\n", START_WIDTH, "START (s)",
		TIME_WIDTH, "DURATION", TID_WIDTH, "THREAD");
	err = trace_follow(report->trace, report->part, &watch, &page, &sums);
	held_put(&page);
	trace_sums_free(report->trace, &sums);
	return err;
}
