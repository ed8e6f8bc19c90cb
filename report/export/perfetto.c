/*
 * Writes a trace in Perfetto's format (perfetto.proto): a track for each thread,
 * and for each further stack of a thread, with calls as slices.  Packets are
 * written as they come, in the order of time.
 */
#include <stdlib.h>

#include "probe/time_stacks.h"
#include "report/export/perfetto.pb-c.h"
#include "report/printable.h"
#include "report/trace/trace_report.h"
#include "util/mem.h"

enum {
	STATE_CLEARED = 1,	/* SEQ_INCREMENTAL_STATE_CLEARED */
	STATE_NEEDED = 2,	/* SEQ_NEEDS_INCREMENTAL_STATE */
};

struct page {
	const struct trace_report *report;
	FILE *out;
	bool *named;		/* per function: its name was written */
	uint64_t *stacks;	/* per thread: a bit for each stack that has
				   a track */
	uint8_t *bytes;
	size_t size;
	bool begun;
};

/* ---- packets */

static void
packet_put(struct page *page, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	size_t n;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = 1;
	packet->has_sequence_flags = true;
	packet->sequence_flags = STATE_NEEDED |
				 (page->begun ? 0 : STATE_CLEARED);
	page->begun = true;
	/* A trace with one packet, of which the file is a sequence. */
	trace.n_packet = 1;
	trace.packet = &packet;
	n = perfetto__trace__get_packed_size(&trace);
	if (n > page->size) {
		page->size = 2 * n;
		page->bytes = mem_grow(page->bytes, page->size, 1);
	}
	perfetto__trace__pack(&trace, page->bytes);
	fwrite(page->bytes, 1, n, page->out);
}

static uint64_t
track_uuid(uint32_t thread, uint32_t stack)
{
	return ((uint64_t)thread + 1) * TIME_STACKS_MAX + stack;
}

static uint64_t
process_uuid(uint32_t pid)
{
	return UINT64_C(1) << 62 | pid;
}

static void
track_put(struct page *page, Perfetto__TrackDescriptor *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = true;
	packet.track_descriptor = track;
	packet_put(page, &packet);
}

static void
process_put(struct page *page, const struct trace_thread *thread)
{
	Perfetto__ProcessDescriptor process =
		PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	char *name = text_line(thread->program);

	process.has_pid = true;
	process.pid = (int32_t)thread->pid;
	process.process_name = name;
	track.uuid = process_uuid(thread->pid);
	track.process = &process;
	track_put(page, &track);
	free(name);
}

static void
thread_put(struct page *page, uint32_t number)
{
	const struct trace_thread *thread =
		&page->report->trace->tables.threads[number];
	Perfetto__ThreadDescriptor of = PERFETTO__THREAD_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	char *name = trace_thread_text(thread);

	of.has_pid = of.has_tid = true;
	of.pid = (int32_t)thread->pid;
	of.tid = (int32_t)thread->tid;
	of.thread_name = name;
	track.uuid = track_uuid(number, 0);
	track.thread = &of;
	track_put(page, &track);
	page->stacks[number] = 1;
	free(name);
}

/* The track of a thread's stack, which is written first if it is new. */
static uint64_t
track_of(struct page *page, uint32_t thread, uint32_t stack)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	uint64_t uuid = track_uuid(thread, stack);
	char *name;

	if (page->stacks[thread] >> stack & 1)
		return uuid;
	page->stacks[thread] |= UINT64_C(1) << stack;
	name = mem_printf("stack %u", (unsigned)stack + 1);
	track.uuid = uuid;
	track.has_parent_uuid = true;
	track.parent_uuid = track_uuid(thread, 0);
	track.name = name;
	track_put(page, &track);
	free(name);
	return uuid;
}

/* ---- events */

static void
event_put(struct page *page, uint64_t stamp, Perfetto__TrackEvent__Type type,
	  Perfetto__TrackEvent *event, Perfetto__InternedData *interned)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	event->has_type = true;
	event->type = type;
	event->has_track_uuid = true;
	packet.has_timestamp = true;
	packet.timestamp = trace_ns(page->report->trace, stamp);
	packet.track_event = event;
	packet.interned_data = interned;
	packet_put(page, &packet);
}

static void
call_began(void *ctx, const struct trace_call *call)
{
	struct page *page = ctx;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName of = PERFETTO__EVENT_NAME__INIT;
	Perfetto__EventName *names[] = { &of };
	bool new = !page->named[call->func];
	char *name = new ? text_line(page->report->names[call->func]) : NULL;

	of.has_iid = true;
	of.iid = (uint64_t)call->func + 1;
	of.name = name;
	interned.n_event_names = 1;
	interned.event_names = names;
	page->named[call->func] = true;
	event.track_uuid = track_of(page, call->thread, call->stack);
	event.has_name_iid = true;
	event.name_iid = of.iid;
	event_put(page, call->stamp,
		  PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, &event,
		  new ? &interned : NULL);
	free(name);
}

static void
call_ended(void *ctx, const struct trace_call *call)
{
	struct page *page = ctx;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	event.track_uuid = track_of(page, call->thread, call->stack);
	event_put(page, call->stamp,
		  PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, &event, NULL);
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
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	if (item->kind == TRACE_STOP)
		return;
	event.track_uuid = track_of(page, item->thread, 0);
	event.name = (char *)names[item->kind];
	event_put(page, item->stamp, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
		  &event, NULL);
}

int
trace_perfetto_write(const struct trace_report *report, FILE *out)
{
	static const struct trace_watch watch = { call_began, call_ended,
						  item_happened };
	const struct trace_tables *tables = &report->trace->tables;
	struct page page = {
		.report = report,
		.out = out,
		.named = mem_alloc(tables->nfuncs * sizeof(bool)),
		.stacks = mem_alloc(tables->nthreads * sizeof(uint64_t)),
	};
	struct trace_sums sums;
	int err;

	for (size_t i = 0; i < tables->nthreads; i++) {
		if (tables->threads[i].pid == tables->threads[i].tid)
			process_put(&page, &tables->threads[i]);
		thread_put(&page, (uint32_t)i);
	}
	err = trace_follow(report->trace, report->part, &watch, &page, &sums);
	free(page.named);
	free(page.stacks);
	free(page.bytes);
	trace_sums_free(report->trace, &sums);
	return err;
}
