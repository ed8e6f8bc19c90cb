/*
 * Writes a trace in Chrome's trace event format, which Perfetto, Speedscope and
 * chrome://tracing read: events "B" and "E" in microseconds, with the thread's
 * clock as `tts`.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "probe/time_stacks.h"
#include "report/export/json_value.h"
#include "report/trace/trace_report.h"
#include "util/mem.h"

struct page {
	const struct trace_report *report;
	FILE *out;
	bool first;
};

static void
micro_put(struct json_object *into, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000,
		 ns % 1000);
	json_object_object_add(
		into, key, json_object_new_double_s((double)ns / 1000, text));
}

/* An event of a thread; each stack of a thread has an id of its own. */
static struct json_object *
event_of(const struct page *page, const char *phase, uint32_t thread,
	 uint32_t stack)
{
	const struct trace_thread *of =
		&page->report->trace->tables.threads[thread];
	struct json_object *event = json_object_new_object();

	json_text_put(event, "ph", phase);
	json_number_put(event, "pid", of->pid);
	json_number_put(event, "tid", of->tid + ((uint64_t)stack << 32));
	return event;
}

static void
call_put(struct page *page, const struct trace_call *call, const char *phase)
{
	const struct trace *trace = page->report->trace;
	struct json_object *event = event_of(page, phase, call->thread,
					     call->stack);

	json_text_put(event, "name", page->report->names[call->func]);
	micro_put(event, "ts", trace_ns(trace, call->stamp));
	micro_put(event, "tts", trace_ticks_ns(trace, call->now));
	json_element_write(page->out, event, &page->first);
}

static void
call_began(void *ctx, const struct trace_call *call)
{
	call_put(ctx, call, "B");
}

static void
call_ended(void *ctx, const struct trace_call *call)
{
	call_put(ctx, call, "E");
}

static void
item_happened(void *ctx, const struct trace_item *item)
{
	static const char *const names[] = {
		[TRACE_END] = "end of the thread",
		[TRACE_EXEC] = "runs another program",
		[TRACE_FORK] = "forked",
	};
	struct page *page = ctx;
	struct json_object *event;

	if (item->kind == TRACE_STOP)
		return;
	event = event_of(page, "i", item->thread, 0);
	json_text_put(event, "name", names[item->kind]);
	json_text_put(event, "s", "t");
	micro_put(event, "ts", trace_ns(page->report->trace, item->stamp));
	json_element_write(page->out, event, &page->first);
}

/* Tell what a process or thread is called. */
static void
name_put(struct page *page, uint32_t thread, const char *what, const char *name)
{
	struct json_object *event = event_of(page, "M", thread, 0), *args;

	json_text_put(event, "name", what);
	args = json_object_new_object();
	json_text_put(args, "name", name);
	json_object_object_add(event, "args", args);
	json_element_write(page->out, event, &page->first);
}

int
trace_chrome_write(const struct trace_report *report, FILE *out)
{
	static const struct trace_watch watch = { call_began, call_ended,
						  item_happened };
	struct page page = { .report = report, .out = out, .first = true };
	const struct trace_tables *tables = &report->trace->tables;
	struct trace_sums sums;
	int err;

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	for (size_t i = 0; i < tables->nthreads; i++) {
		const struct trace_thread *thread = &tables->threads[i];
		char *text = trace_thread_text(thread);

		if (thread->pid == thread->tid)
			name_put(&page, (uint32_t)i, "process_name",
				 thread->program);
		name_put(&page, (uint32_t)i, "thread_name", text);
		free(text);
	}
	err = trace_follow(report->trace, report->part, &watch, &page, &sums);
	fputs("]}\n", out);
	trace_sums_free(report->trace, &sums);
	return err;
}
