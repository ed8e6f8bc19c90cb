/*
 * Gathers the items of each thread in chunks, and writes these or keeps the
 * newest.  Whatever a chunk needs was written before it, so that a trace can be
 * read up to where it ends.
 */
#include "report/trace/trace_write.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* A chunk that is kept, packed. */
struct kept {
	struct chunk chunk;
	struct sink bytes;
};

/* Where bytes go. */
struct trace_file {
	trace_out *out;
	void *ctx;
	uint64_t offset;
	struct chunk *chunks;	/* written; for the index */
	size_t nchunks;
	char *failure;		/* message of the first write that failed */
};

struct trace_writer {
	struct trace_file file;
	struct packer *packer;
	struct trace_tables tables;
	struct trace_encoder **encoders;	/* per thread; NULL: ended */
	size_t nencoders;
	size_t objects_written, funcs_written;
	uint64_t clock_written;	/* the stamp, or 0 */
	uint64_t ring;		/* most bytes that are kept, or 0 */
	struct kept *kept;	/* the oldest first, from `oldest` on */
	size_t nkept, oldest;
	uint64_t kept_bytes;
};

/* ---- what is written */

static void
file_put(struct trace_file *file, const struct sink *bytes)
{
	if (file->failure)
		return;
	if (file->out(file->ctx, bytes->bytes, bytes->n))
		file->failure = mem_strdup(fail_message());
	file->offset += bytes->n;
}

static void
file_begin(struct trace_file *file)
{
	struct sink bytes = { 0 };

	trace_header_put(&bytes);
	file_put(file, &bytes);
	free(bytes.bytes);
}

/* Put a chunk that is packed. */
static void
file_chunk(struct trace_file *file, const struct chunk *chunk,
	   const struct sink *bytes)
{
	struct chunk *put = vec_push(file->chunks, file->nchunks);

	*put = *chunk;
	put->offset = file->offset;
	file_put(file, bytes);
}

/* Put the index.  0, or -1 with the message of the first failure. */
static int
file_end(struct trace_file *file, struct packer *packer)
{
	struct sink data = { 0 }, bytes = { 0 };
	struct chunk chunk = { .kind = CHUNK_INDEX };
	size_t most = CHUNK_MAX / 48;

	/* A file that has no index is read from its beginning. */
	if (file->nchunks < most) {
		trace_index_put(&data, file->chunks, file->nchunks);
		chunk_pack(packer, &chunk, &data, &bytes);
		trace_trailer_put(&bytes, file->offset);
		file_put(file, &bytes);
	}
	free(data.bytes);
	free(bytes.bytes);
	return file->failure ? fail("%s", file->failure) : 0;
}

static void
file_clear(struct trace_file *file)
{
	free(file->chunks);
	free(file->failure);
}

/* Pack and put a chunk without items. */
static void
table_write(struct trace_writer *writer, struct trace_file *file,
	    enum chunk_kind kind, struct sink *data)
{
	struct chunk chunk = { .kind = kind };
	struct sink bytes = { 0 };

	chunk_pack(writer->packer, &chunk, data, &bytes);
	file_chunk(file, &chunk, &bytes);
	free(bytes.bytes);
	free(data->bytes);
}

static void
run_write(struct trace_writer *writer, struct trace_file *file)
{
	struct sink data = { 0 };

	file_begin(file);
	trace_run_put(&data, &writer->tables.run);
	table_write(writer, file, CHUNK_RUN, &data);
}

static void
clock_write(struct trace_writer *writer, struct trace_file *file)
{
	struct sink data = { 0 };

	trace_clock_put(&data, &writer->tables.clock);
	table_write(writer, file, CHUNK_CLOCK, &data);
}

static void
thread_write(struct trace_writer *writer, struct trace_file *file, size_t i)
{
	struct sink data = { 0 };

	trace_thread_put(&data, &writer->tables.threads[i]);
	table_write(writer, file, CHUNK_THREAD, &data);
}

/* Functions from these numbers on, in chunks that are not too large. */
static void
funcs_write(struct trace_writer *writer, struct trace_file *file,
	    size_t first_object, size_t first_func)
{
	enum { FUNCS = 256 };
	struct trace_tables part = writer->tables;

	while (first_func < writer->tables.nfuncs) {
		struct sink data = { 0 };

		part.nfuncs = first_func + FUNCS;
		if (part.nfuncs > writer->tables.nfuncs)
			part.nfuncs = writer->tables.nfuncs;
		trace_funcs_put(&data, &part, first_object, first_func);
		table_write(writer, file, CHUNK_FUNCS, &data);
		first_object = part.nobjects;
		first_func = part.nfuncs;
	}
}

/* ---- the writer */

/* Names of functions, and the command, are cut: chunks have an end. */
enum { NAME_MOST = 8192, COMMAND_MOST = 1 << 20 };

static void
text_cut(char *s, size_t most)
{
	if (strlen(s) > most)
		s[most] = '\0';
}

struct trace_writer *
trace_writer_open(struct trace_run run, uint64_t ring, trace_out *out,
		  void *ctx)
{
	struct trace_writer *writer = mem_alloc(sizeof(*writer));

	*writer = (struct trace_writer){
		.file = { .out = out, .ctx = ctx },
		.packer = packer_open(),
		.tables.run = run,
		.ring = ring,
	};
	text_cut(run.command, COMMAND_MOST);
	if (!ring)
		run_write(writer, &writer->file);
	return writer;
}

static void
encoder_free(struct trace_writer *writer, size_t i)
{
	if (!writer->encoders[i])
		return;
	trace_encoder_clear(writer->encoders[i]);
	free(writer->encoders[i]);
	writer->encoders[i] = NULL;
}

void
trace_writer_close(struct trace_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->nencoders; i++)
		encoder_free(writer, i);
	for (size_t i = writer->oldest; i < writer->nkept; i++)
		free(writer->kept[i].bytes.bytes);
	free(writer->kept);
	free(writer->encoders);
	file_clear(&writer->file);
	packer_close(writer->packer);
	trace_tables_free(&writer->tables);
	free(writer);
}

uint32_t
trace_writer_object(struct trace_writer *writer, struct trace_object object)
{
	struct trace_tables *tables = &writer->tables;

	*vec_push(tables->objects, tables->nobjects) = object;
	return (uint32_t)tables->nobjects - 1;
}

uint32_t
trace_writer_func(struct trace_writer *writer, struct trace_func func)
{
	struct trace_tables *tables = &writer->tables;

	text_cut(func.name, NAME_MOST);
	text_cut(func.file, NAME_MOST);
	*vec_push(tables->funcs, tables->nfuncs) = func;
	return (uint32_t)tables->nfuncs - 1;
}

uint32_t
trace_writer_thread(struct trace_writer *writer, struct trace_thread thread)
{
	struct trace_tables *tables = &writer->tables;
	struct trace_encoder *encoder = mem_alloc(sizeof(*encoder));

	trace_encoder_init(encoder, tables->run.cost);
	*vec_push(writer->encoders, writer->nencoders) = encoder;
	*vec_push(tables->threads, tables->nthreads) = thread;
	if (!writer->ring)
		thread_write(writer, &writer->file, tables->nthreads - 1);
	return (uint32_t)tables->nthreads - 1;
}

void
trace_writer_program(struct trace_writer *writer, uint32_t thread,
		     char *program)
{
	struct sink data = { 0 };

	free(writer->tables.threads[thread].program);
	writer->tables.threads[thread].program = program;
	if (writer->ring)
		return;
	trace_program_put(&data, thread, program);
	table_write(writer, &writer->file, CHUNK_PROGRAM, &data);
}

void
trace_writer_clock(struct trace_writer *writer, struct moment clock)
{
	writer->tables.clock = clock;
}

/* ---- chunks of items */

static void
chunk_keep(struct trace_writer *writer, const struct chunk *chunk,
	   const struct sink *bytes)
{
	*vec_push(writer->kept, writer->nkept) = (struct kept){ *chunk,
								*bytes };
	writer->kept_bytes += bytes->n;
	while (writer->kept_bytes > writer->ring &&
	       writer->oldest + 1 < writer->nkept) {
		struct kept *old = &writer->kept[writer->oldest++];

		writer->kept_bytes -= old->bytes.n;
		free(old->bytes.bytes);
	}
	/* Move those that are left down once in a while. */
	if (writer->oldest < 64 || writer->oldest < writer->nkept / 2)
		return;
	for (size_t i = writer->oldest; i < writer->nkept; i++)
		writer->kept[i - writer->oldest] = writer->kept[i];
	writer->nkept -= writer->oldest;
	writer->kept = mem_grow(writer->kept, 2 * writer->nkept,
				sizeof(*writer->kept));
	writer->oldest = 0;
}

static void
tables_write(struct trace_writer *writer)
{
	struct trace_tables *tables = &writer->tables;

	funcs_write(writer, &writer->file, writer->objects_written,
		    writer->funcs_written);
	if (writer->funcs_written < tables->nfuncs)
		writer->objects_written = tables->nobjects;
	writer->funcs_written = tables->nfuncs;
	if (tables->clock.stamp != writer->clock_written)
		clock_write(writer, &writer->file);
	writer->clock_written = tables->clock.stamp;
}

static void
items_write(struct trace_writer *writer, size_t thread)
{
	struct trace_encoder *encoder = writer->encoders[thread];
	struct chunk chunk = {
		.kind = CHUNK_ITEMS,
		.thread = (uint32_t)thread,
		.first = encoder->first,
		.last = encoder->state.stamp,
	};
	struct sink data = { 0 }, bytes = { 0 };

	trace_encoder_take(encoder, &data);
	chunk_pack(writer->packer, &chunk, &data, &bytes);
	free(data.bytes);
	if (writer->ring) {
		chunk_keep(writer, &chunk, &bytes);
		return;
	}
	tables_write(writer);
	file_chunk(&writer->file, &chunk, &bytes);
	free(bytes.bytes);
}

void
trace_writer_item(struct trace_writer *writer, const struct trace_item *item)
{
	struct trace_encoder *encoder = writer->encoders[item->thread];

	trace_encode(encoder, item);
	if (trace_encoder_full(encoder) || item->kind == TRACE_END)
		items_write(writer, item->thread);
	if (item->kind == TRACE_END)
		encoder_free(writer, item->thread);
}

uint64_t
trace_writer_last(const struct trace_writer *writer, uint32_t thread)
{
	const struct trace_encoder *encoder = writer->encoders[thread];

	return encoder ? encoder->state.stamp : 0;
}

void
trace_writer_flush(struct trace_writer *writer)
{
	for (size_t i = 0; i < writer->nencoders; i++)
		if (writer->encoders[i] && writer->encoders[i]->n)
			items_write(writer, i);
}

int
trace_writer_end(struct trace_writer *writer)
{
	must(!writer->ring);
	trace_writer_flush(writer);
	/* Nothing may have been recorded. */
	tables_write(writer);
	return file_end(&writer->file, writer->packer);
}

int
trace_writer_save(struct trace_writer *writer, trace_out *out, void *ctx)
{
	struct trace_file file = { .out = out, .ctx = ctx };
	int err;

	must(writer->ring);
	trace_writer_flush(writer);
	run_write(writer, &file);
	funcs_write(writer, &file, 0, 0);
	for (size_t i = 0; i < writer->tables.nthreads; i++)
		thread_write(writer, &file, i);
	clock_write(writer, &file);
	for (size_t i = writer->oldest; i < writer->nkept; i++)
		file_chunk(&file, &writer->kept[i].chunk,
			   &writer->kept[i].bytes);
	err = file_end(&file, writer->packer);
	file_clear(&file);
	return err;
}

bool
trace_writer_failed(const struct trace_writer *writer)
{
	return writer->file.failure != NULL;
}
