/*
 * Fuzz target: takes the input as a trace, or makes one of it whose checksums
 * are right: items, and changes to their bytes.  What is opened can be followed
 * to its end or to the damage.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/trace/trace_calls.h"
#include "tests/fuzz/target.h"
#include "util/fail.h"
#include "util/mem.h"

enum { FUNCS = 8, THREADS = 4, COST = 20 };

bool target_accepted;

static void
try(const uint8_t *data, size_t size)
{
	static const struct trace_watch watch;
	static const struct trace_part part;
	int fd = memfd_create("trace", MFD_CLOEXEC);
	char *path = mem_printf("/proc/self/fd/%d", fd);
	struct trace_sums sums;
	struct trace *trace;

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	trace = trace_open(path);
	if (trace) {
		target_accepted |= !trace_follow(trace, &part, &watch, NULL,
						 &sums);
		trace_sums_free(trace, &sums);
	}
	trace_close(trace);
	free(path);
	close(fd);
}

static void
chunk_put(struct packer *packer, enum chunk_kind kind, struct sink *data,
	  struct sink *file)
{
	struct chunk chunk = { .kind = kind };

	chunk_pack(packer, &chunk, data, file);
	data->n = 0;
}

static void
tables_put(struct packer *packer, struct sink *file)
{
	char name[] = "f", none[] = "", path[] = "/p";
	struct trace_object object = { .path = path };
	struct trace_func funcs[FUNCS];
	struct trace_tables tables = {
		.run = { name, none, 0, 0, COST },
		.objects = &object,
		.nobjects = 1,
		.funcs = funcs,
		.nfuncs = FUNCS,
	};
	struct trace_thread thread = { 1, 1, 0, path };
	struct sink data = { 0 };

	for (int i = 0; i < FUNCS; i++)
		funcs[i] = (struct trace_func){ .name = name, .file = none };
	trace_header_put(file);
	trace_run_put(&data, &tables.run);
	chunk_put(packer, CHUNK_RUN, &data, file);
	trace_funcs_put(&data, &tables, 0, 0);
	chunk_put(packer, CHUNK_FUNCS, &data, file);
	for (int i = 0; i < THREADS; i++) {
		trace_thread_put(&data, &thread);
		chunk_put(packer, CHUNK_THREAD, &data, file);
	}
	free(data.bytes);
}

/* The stamps of the first and last item, as far as the bytes are valid. */
static void
stamps_find(const struct sink *data, struct chunk *chunk)
{
	struct trace_decoder *decoder = mem_alloc(sizeof(*decoder));
	struct trace_item item;

	if (trace_decoder_begin(decoder, data->bytes, data->n, COST))
		while (trace_decode(decoder, &item)) {
			if (!chunk->first)
				chunk->first = item.stamp;
			chunk->last = item.stamp;
		}
	free(decoder);
}

static void
items_put(struct packer *packer, struct feed *feed, struct sink *file)
{
	struct trace_encoder *encoder = mem_alloc(sizeof(*encoder));
	struct chunk chunk = { .kind = CHUNK_ITEMS,
			       .thread = get_byte(feed) % THREADS };
	struct sink data = { 0 };
	uint64_t stamp = 1;

	trace_encoder_init(encoder, COST);
	for (unsigned n = 1 + get_byte(feed) % 16; n; n--) {
		struct trace_item item = {
			.kind = get_byte(feed) % (TRACE_FORK + 1),
			.record = get_byte(feed) % RECORD_KINDS,
			.func = get_byte(feed) % FUNCS,
			.sp = get_byte(feed) << 8,
			.value = get_byte(feed) % TRACE_ENDS,
		};

		stamp += get_byte(feed);
		item.stamp = item.now = stamp;
		trace_encode(encoder, &item);
	}
	trace_encoder_take(encoder, &data);
	for (unsigned n = get_byte(feed) % 4; n; n--) {
		size_t at = get_byte(feed) % data.n;

		data.bytes[at] = (uint8_t)get_byte(feed);
	}
	stamps_find(&data, &chunk);
	chunk_pack(packer, &chunk, &data, file);
	trace_encoder_clear(encoder);
	free(encoder);
	free(data.bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed feed = { .at = data, .end = data + size };
	struct packer *packer;
	struct sink file = { 0 };

	if (size && data[0] == 0x89) {
		try(data, size);
		return 0;
	}
	packer = packer_open();
	tables_put(packer, &file);
	while (feed_left(&feed))
		items_put(packer, &feed, &file);
	try(file.bytes, file.n);
	packer_close(packer);
	free(file.bytes);
	return 0;
}
