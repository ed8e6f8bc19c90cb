/*
 * Opens trace files, finds their chunks, and merges the items of all threads.
 * Believes nothing that a file says, and holds no more of it in memory than the
 * chunks of threads that ran at one time.
 */
#include "report/trace/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

/* Read n bytes of the file from an offset; false if they are not there. */
static bool
bytes_read(int fd, void *bytes, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n) {
		ssize_t some = pread(fd, (char *)bytes + got, n - got,
				     (off_t)(offset + got));

		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0)
			return false;
		got += (size_t)some;
	}
	return true;
}

bool
trace_file_is(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t bytes[TRACE_HEADER];
	bool is = fd >= 0 && bytes_read(fd, bytes, sizeof(bytes), 0) &&
		  trace_is(bytes, sizeof(bytes));

	if (fd >= 0)
		close(fd);
	return is;
}

/* ---- chunks */

/* Get the header of the chunk at the offset; false if none is there. */
static bool
chunk_find(const struct trace *trace, uint64_t offset, struct chunk *chunk)
{
	uint8_t header[CHUNK_HEADER];
	uint64_t left;

	if (!bytes_read(trace->fd, header, sizeof(header), offset) ||
	    !chunk_header_get(header, chunk))
		return false;
	chunk->offset = offset;
	left = trace->size - offset;
	return left >= CHUNK_HEADER + CHUNK_CRC &&
	       left - CHUNK_HEADER - CHUNK_CRC >= chunk->stored;
}

static uint64_t
chunk_end(const struct chunk *chunk)
{
	return chunk->offset + CHUNK_HEADER + chunk->stored + CHUNK_CRC;
}

/* The chunk's data, owned by the caller; NULL if it is damaged. */
static uint8_t *
chunk_read(const struct trace *trace, const struct chunk *chunk)
{
	size_t n = CHUNK_HEADER + (size_t)chunk->stored + CHUNK_CRC;
	uint8_t *bytes = mem_alloc(n), *data = NULL;

	if (bytes_read(trace->fd, bytes, n, chunk->offset))
		data = chunk_unpack(chunk, bytes);
	free(bytes);
	return data;
}

/* Take a chunk: note where items are, and get the others. */
static bool
chunk_take(struct trace *trace, const struct chunk *chunk)
{
	uint8_t *data;
	bool good;

	if (chunk->kind == CHUNK_ITEMS) {
		if (chunk->thread >= trace->tables.nthreads)
			return false;
		*vec_push(trace->chunks, trace->nchunks) = *chunk;
		return true;
	}
	if (chunk->kind >= CHUNK_INDEX)
		return true;
	data = chunk_read(trace, chunk);
	good = data &&
	       trace_tables_get(&trace->tables, chunk->kind, data, chunk->size);
	free(data);
	return good;
}

/* ---- finding them */

/*
 * Find the chunks by the index.  False if there is none, or it is not the
 * file's.
 */
static bool
chunks_indexed(struct trace *trace)
{
	uint8_t trailer[TRACE_TRAILER], *data = NULL;
	struct chunk index, *chunks = NULL;
	uint64_t at;
	size_t n = 0;
	bool good;

	good = trace->size >= TRACE_HEADER + TRACE_TRAILER &&
	       bytes_read(trace->fd, trailer, sizeof(trailer),
			  trace->size - TRACE_TRAILER) &&
	       trace_trailer_get(trailer, &at) && at < trace->size &&
	       chunk_find(trace, at, &index) && index.kind == CHUNK_INDEX &&
	       chunk_end(&index) == trace->size - TRACE_TRAILER &&
	       (data = chunk_read(trace, &index)) &&
	       (chunks = trace_index_get(data, index.size, &n));
	for (size_t i = 0; i < n && good; i++) {
		struct chunk found;

		good = chunks[i].offset < at &&
		       chunk_find(trace, chunks[i].offset, &found) &&
		       found.kind == chunks[i].kind &&
		       found.thread == chunks[i].thread &&
		       found.first == chunks[i].first &&
		       found.last == chunks[i].last &&
		       chunk_take(trace, &found);
	}
	free(data);
	free(chunks);
	return good;
}

/* Find the chunks one after the other, as far as they are whole. */
static void
chunks_scan(struct trace *trace)
{
	uint64_t at = TRACE_HEADER;
	struct chunk chunk;

	while (chunk_find(trace, at, &chunk) && chunk_take(trace, &chunk))
		at = chunk_end(&chunk);
	/* The last chunk's data may be torn, too. */
	if (trace->nchunks && at == trace->size) {
		uint8_t *data = chunk_read(trace,
					   &trace->chunks[trace->nchunks - 1]);

		trace->nchunks -= !data;
		free(data);
	}
	trace->fault = at < trace->size ?
			       mem_printf("%s: cut off or damaged behind byte "
					  "%llu: what follows is dropped",
					  trace->path, (unsigned long long)at) :
			       mem_printf("%s: its end is missing: pmon was "
					  "killed while it wrote",
					  trace->path);
}

static void
tables_clear(struct trace *trace)
{
	trace_tables_free(&trace->tables);
	trace->tables = (struct trace_tables){ 0 };
	free(trace->chunks);
	trace->chunks = NULL;
	trace->nchunks = 0;
}

/* What a tick is, from the last moment of which the clock is known. */
static void
clock_choose(struct trace *trace)
{
	const struct trace_tables *tables = &trace->tables;
	uint64_t ticks = tables->clock.stamp - tables->run.stamp;

	trace->tick_ns = tables->clock.stamp > tables->run.stamp ?
				 (double)tables->clock.ns / (double)ticks :
				 0;
}

/* Read the tables.  0, or -1 with the message. */
static int
trace_read(struct trace *trace)
{
	uint8_t header[TRACE_HEADER];
	struct stat st;

	if (fstat(trace->fd, &st))
		return fail("%s: %s", trace->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail("%s: not a file", trace->path);
	trace->size = (uint64_t)st.st_size;
	if (!bytes_read(trace->fd, header, sizeof(header), 0))
		return fail("%s: truncated", trace->path);
	if (trace_header_check(trace->path, header, sizeof(header)))
		return -1;
	if (!chunks_indexed(trace)) {
		tables_clear(trace);
		chunks_scan(trace);
	}
	if (!trace->tables.run.command)
		return fail("%s: damaged: it does not say what ran",
			    trace->path);
	clock_choose(trace);
	return 0;
}

struct trace *
trace_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct trace *trace;

	if (fd < 0)
		return fail_null("%s: %s", path, strerror(errno));
	trace = mem_alloc(sizeof(*trace));
	trace->path = mem_strdup(path);
	trace->fd = fd;
	if (!trace_read(trace))
		return trace;
	trace_close(trace);
	return NULL;
}

void
trace_close(struct trace *trace)
{
	if (!trace)
		return;
	tables_clear(trace);
	close(trace->fd);
	free(trace->fault);
	free(trace->path);
	free(trace);
}

static uint64_t
scaled(uint64_t ticks, double units)
{
	double n = (double)ticks * units + 0.5;

	return n < 0x1p64 ? (uint64_t)n : UINT64_MAX;
}

uint64_t
trace_ns(const struct trace *trace, uint64_t stamp)
{
	uint64_t start = trace->tables.run.stamp;

	return stamp > start ? trace_ticks_ns(trace, stamp - start) : 0;
}

uint64_t
trace_ticks_ns(const struct trace *trace, uint64_t ticks)
{
	return scaled(ticks, trace->tick_ns);
}

/* ---- items of all threads */

/* The items of a thread. */
struct reader {
	uint32_t thread;
	uint32_t *chunks;	/* its chunks that are left, from `next` on */
	size_t nchunks, next;
	uint64_t chunk;		/* the number that the next one must have */
	uint64_t stamp;		/* of the last item of those before */
	uint8_t *data;		/* of the chunk that is being read, or NULL */
	struct trace_decoder *decoder;
	struct trace_item item;	/* the next one, if there are data; else only
				   its stamp counts */
};

struct trace_cursor {
	const struct trace *trace;
	trace_begun *told;
	void *ctx;
	struct reader *readers;		/* per thread */
	struct reader **heap;	/* those with items: the earliest first */
	size_t n;
};

static bool
reader_before(const struct reader *a, const struct reader *b)
{
	return a->item.stamp != b->item.stamp ? a->item.stamp < b->item.stamp :
						a->thread < b->thread;
}

/* Let the reader at that place of the heap sink to where it belongs. */
static void
heap_sink(struct trace_cursor *cursor, size_t i)
{
	struct reader **heap = cursor->heap, *reader = heap[i];

	for (;;) {
		size_t k = 2 * i + 1;

		if (k + 1 < cursor->n && reader_before(heap[k + 1], heap[k]))
			k++;
		if (k >= cursor->n || !reader_before(heap[k], reader))
			break;
		heap[i] = heap[k];
		i = k;
	}
	heap[i] = reader;
}

static int
damaged(const struct trace_cursor *cursor, const struct chunk *chunk)
{
	return fail("%s: damaged: the chunk at byte %llu", cursor->trace->path,
		    (unsigned long long)chunk->offset);
}

/* The next item will be of the next chunk, which is read when its time comes. */
static void
reader_wait(const struct trace_cursor *cursor, struct reader *reader)
{
	free(reader->data);
	reader->data = NULL;
	reader->stamp = reader->item.stamp;
	free(reader->decoder);
	reader->decoder = NULL;
	if (reader->next < reader->nchunks)
		reader->item.stamp =
			cursor->trace->chunks[reader->chunks[reader->next]]
				.first;
}

/* Get the next item of the chunk.  1; 0 at its end; -1 with the message. */
static int
reader_item(const struct trace_cursor *cursor, struct reader *reader)
{
	const struct trace *trace = cursor->trace;
	const struct chunk *chunk =
		&trace->chunks[reader->chunks[reader->next - 1]];
	struct trace_item item;
	bool got = trace_decode(reader->decoder, &item);

	if (got)
		reader->item = item;
	reader->item.thread = reader->thread;
	if (reader->decoder->bad ||
	    (got && (reader->item.stamp > chunk->last ||
		     (reader->item.kind == TRACE_RECORD &&
		      reader->item.func >= trace->tables.nfuncs) ||
		     (reader->item.kind == TRACE_FORK &&
		      reader->item.value >= trace->tables.nthreads))))
		return damaged(cursor, chunk);
	return got;
}

/* Begin the next chunk.  0, or -1 with the message. */
static int
reader_begin(const struct trace_cursor *cursor, struct reader *reader)
{
	const struct trace *trace = cursor->trace;
	const struct chunk *chunk =
		&trace->chunks[reader->chunks[reader->next++]];
	struct trace_decoder *decoder = mem_alloc(sizeof(*decoder));
	const struct trace_item before = reader->item;
	bool gap;

	reader->data = chunk_read(trace, chunk);
	reader->decoder = decoder;
	if (!reader->data ||
	    !trace_decoder_begin(decoder, reader->data, chunk->size,
				 trace->tables.run.cost) ||
	    decoder->chunk < reader->chunk)
		return damaged(cursor, chunk);
	gap = decoder->chunk != reader->chunk;
	reader->chunk = decoder->chunk + 1;
	if (reader_item(cursor, reader) <= 0 ||
	    reader->item.stamp != chunk->first ||
	    reader->item.stamp < reader->stamp || reader->item.now < before.now)
		return damaged(cursor, chunk);
	for (size_t i = 0; i < decoder->begun.n && gap; i++)
		if (decoder->begun.frames[i].func >= trace->tables.nfuncs)
			return damaged(cursor, chunk);
	if (gap && cursor->told)
		cursor->told(cursor->ctx, &reader->item, decoder->begun.frames,
			     decoder->begun.n);
	return 0;
}

/* Sort the chunks by threads. */
static void
readers_make(struct trace_cursor *cursor)
{
	const struct trace *trace = cursor->trace;
	struct reader *readers = cursor->readers;

	for (size_t i = 0; i < trace->nchunks; i++) {
		struct reader *reader = &readers[trace->chunks[i].thread];

		*vec_push(reader->chunks, reader->nchunks) = (uint32_t)i;
	}
	for (size_t i = 0; i < trace->tables.nthreads; i++) {
		readers[i].thread = (uint32_t)i;
		if (!readers[i].nchunks)
			continue;
		reader_wait(cursor, &readers[i]);
		cursor->heap[cursor->n++] = &readers[i];
	}
	for (size_t i = cursor->n; i-- > 0;)
		heap_sink(cursor, i);
}

struct trace_cursor *
trace_cursor_open(const struct trace *trace, trace_begun *begun, void *ctx)
{
	struct trace_cursor *cursor = mem_alloc(sizeof(*cursor));
	size_t n = trace->tables.nthreads;

	*cursor = (struct trace_cursor){
		.trace = trace,
		.told = begun,
		.ctx = ctx,
		.readers = mem_alloc(n * sizeof(*cursor->readers)),
		.heap = mem_alloc(n * sizeof(struct reader *)),
	};
	readers_make(cursor);
	return cursor;
}

void
trace_cursor_close(struct trace_cursor *cursor)
{
	if (!cursor)
		return;
	for (size_t i = 0; i < cursor->trace->tables.nthreads; i++) {
		free(cursor->readers[i].chunks);
		free(cursor->readers[i].data);
		free(cursor->readers[i].decoder);
	}
	free(cursor->readers);
	free(cursor->heap);
	free(cursor);
}

int
trace_next(struct trace_cursor *cursor, struct trace_item *item)
{
	struct reader *reader;
	int got;

	if (!cursor->n)
		return 0;
	reader = cursor->heap[0];
	if (!reader->data && reader_begin(cursor, reader))
		return -1;
	*item = reader->item;
	got = reader_item(cursor, reader);
	if (got < 0)
		return -1;
	if (!got)
		reader_wait(cursor, reader);
	if (!got && reader->next == reader->nchunks)
		cursor->heap[0] = cursor->heap[--cursor->n];
	if (cursor->n)
		heap_sink(cursor, 0);
	return 1;
}
