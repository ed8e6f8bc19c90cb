/*
 * Writes and reads the tables of a trace as bytes.  Believes nothing that it
 * reads.
 */
#include "report/trace/trace_tables.h"

#include <stdlib.h>

#include "report/trace/trace_items.h"
#include "util/mem.h"

void
trace_tables_free(struct trace_tables *tables)
{
	for (size_t i = 0; i < tables->nobjects; i++)
		free(tables->objects[i].path);
	for (size_t i = 0; i < tables->nfuncs; i++) {
		free(tables->funcs[i].name);
		free(tables->funcs[i].file);
	}
	for (size_t i = 0; i < tables->nthreads; i++)
		free(tables->threads[i].program);
	free(tables->objects);
	free(tables->funcs);
	free(tables->threads);
	free(tables->run.command);
	free(tables->run.version);
}

/* ---- writing */

void
trace_run_put(struct sink *out, const struct trace_run *run)
{
	put_string(out, run->command);
	put_string(out, run->version);
	put_uint(out, run->start);
	put_uint(out, run->stamp);
	put_uint(out, run->cost);
}

void
trace_funcs_put(struct sink *out, const struct trace_tables *tables,
		size_t first_object, size_t first_func)
{
	put_uint(out, tables->nobjects - first_object);
	for (size_t i = first_object; i < tables->nobjects; i++) {
		const struct trace_object *object = &tables->objects[i];

		put_string(out, object->path);
		put_byte(out, (unsigned)object->build_id_len);
		put_bytes(out, object->build_id, object->build_id_len);
	}
	put_uint(out, tables->nfuncs - first_func);
	for (size_t i = first_func; i < tables->nfuncs; i++) {
		const struct trace_func *func = &tables->funcs[i];

		put_uint(out, func->object);
		put_uint(out, func->addr);
		put_string(out, func->name);
		put_string(out, func->file);
		put_uint(out, func->line);
	}
}

void
trace_thread_put(struct sink *out, const struct trace_thread *thread)
{
	put_uint(out, thread->pid);
	put_uint(out, thread->tid);
	put_uint(out, thread->began);
	put_string(out, thread->program);
}

void
trace_program_put(struct sink *out, uint32_t thread, const char *program)
{
	put_uint(out, thread);
	put_string(out, program);
}

void
trace_clock_put(struct sink *out, const struct moment *clock)
{
	put_uint(out, clock->stamp);
	put_uint(out, clock->ns);
}

void
trace_index_put(struct sink *out, const struct chunk *chunks, size_t n)
{
	uint64_t offset = 0, stamp = 0;

	put_uint(out, n);
	for (size_t i = 0; i < n; i++) {
		put_byte(out, chunks[i].kind);
		put_uint(out, chunks[i].offset - offset);
		put_uint(out, chunks[i].thread);
		put_delta(out, chunks[i].first, stamp);
		put_uint(out, chunks[i].last - chunks[i].first);
		offset = chunks[i].offset;
		stamp = chunks[i].first;
	}
}

/* ---- reading */

static void
run_get(struct trace_run *run, struct feed *feed)
{
	struct trace_run got = { .command = get_string(feed) };

	got.version = get_string(feed);
	got.start = get_uint(feed);
	got.stamp = get_uint(feed);
	got.cost = get_uint(feed);
	/* It may have been there already. */
	feed->bad |= feed_left(feed) || run->command;
	if (!feed->bad) {
		*run = got;
		return;
	}
	free(got.command);
	free(got.version);
}

static void
clock_get(struct moment *clock, struct feed *feed)
{
	struct moment got = { .stamp = get_uint(feed) };

	got.ns = get_uint(feed);
	feed->bad |= feed_left(feed) > 0;
	if (!feed->bad)
		*clock = got;
}

static void
object_get(struct trace_tables *tables, struct feed *feed)
{
	struct trace_object object = { .path = get_string(feed) };

	object.build_id_len = get_byte(feed);
	if (object.build_id_len > BUILD_ID_MAX)
		feed->bad = true;
	else
		get_bytes(feed, object.build_id, object.build_id_len);
	if (feed->bad)
		free(object.path);
	else
		*vec_push(tables->objects, tables->nobjects) = object;
}

static void
func_get(struct trace_tables *tables, struct feed *feed)
{
	struct trace_func func = { 0 };

	func.object = (uint32_t)get_max(feed, UINT32_MAX);
	func.addr = get_uint(feed);
	func.name = get_string(feed);
	func.file = get_string(feed);
	func.line = (uint32_t)get_max(feed, UINT32_MAX);
	feed->bad |= func.object >= tables->nobjects ||
		     tables->nfuncs >= TRACE_FUNCS_MAX;
	if (!feed->bad) {
		*vec_push(tables->funcs, tables->nfuncs) = func;
		return;
	}
	free(func.name);
	free(func.file);
}

static void
funcs_get(struct trace_tables *tables, struct feed *feed)
{
	for (uint64_t n = get_uint(feed); n && !feed->bad; n--)
		object_get(tables, feed);
	for (uint64_t n = get_uint(feed); n && !feed->bad; n--)
		func_get(tables, feed);
}

static void
thread_get(struct trace_tables *tables, struct feed *feed)
{
	struct trace_thread thread = { 0 };

	thread.pid = (uint32_t)get_max(feed, INT32_MAX);
	thread.tid = (uint32_t)get_max(feed, INT32_MAX);
	thread.began = get_uint(feed);
	thread.program = get_string(feed);
	feed->bad |= tables->nthreads >= TRACE_THREADS_MAX;
	if (feed->bad)
		free(thread.program);
	else
		*vec_push(tables->threads, tables->nthreads) = thread;
}

static void
program_get(struct trace_tables *tables, struct feed *feed)
{
	uint64_t thread = get_uint(feed);
	char *program = get_string(feed);

	feed->bad |= thread >= tables->nthreads;
	if (feed->bad) {
		free(program);
		return;
	}
	free(tables->threads[thread].program);
	tables->threads[thread].program = program;
}

bool
trace_tables_get(struct trace_tables *tables, enum chunk_kind kind,
		 const uint8_t *bytes, size_t n)
{
	struct feed feed = { .at = bytes, .end = bytes + n };

	switch (kind) {
	case CHUNK_RUN:
		run_get(&tables->run, &feed);
		break;
	case CHUNK_FUNCS:
		funcs_get(tables, &feed);
		break;
	case CHUNK_THREAD:
		thread_get(tables, &feed);
		break;
	case CHUNK_PROGRAM:
		program_get(tables, &feed);
		break;
	case CHUNK_CLOCK:
		clock_get(&tables->clock, &feed);
		break;
	default:
		return false;
	}
	return !feed.bad && !feed_left(&feed);
}

struct chunk *
trace_index_get(const uint8_t *bytes, size_t n, size_t *nchunks)
{
	struct feed feed = { .at = bytes, .end = bytes + n };
	uint64_t count = get_uint(&feed), offset = 0, stamp = 0;
	struct chunk *chunks = NULL;

	*nchunks = 0;
	for (; count && !feed.bad; count--) {
		struct chunk chunk = { 0 };

		chunk.kind = (enum chunk_kind)get_byte(&feed);
		offset += get_max(&feed, UINT64_MAX / 2 - offset);
		chunk.offset = offset;
		chunk.thread = (uint32_t)get_max(&feed, UINT32_MAX);
		stamp = get_delta(&feed, stamp);
		chunk.first = stamp;
		chunk.last = stamp + get_max(&feed, UINT64_MAX - stamp);
		feed.bad |= chunk.kind >= CHUNK_INDEX ||
			    offset >= UINT64_MAX / 2;
		*vec_push(chunks, *nchunks) = chunk;
	}
	if (!feed.bad && !feed_left(&feed) && chunks)
		return chunks;
	free(chunks);
	return NULL;
}
