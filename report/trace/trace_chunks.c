/*
 * Packs and unpacks the chunks of trace files, with zstd.  Believes nothing that
 * a file says, and never reads or writes one.
 */
#include "report/trace/trace_chunks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "report/profile/sections.h"
#include "util/mem.h"

enum {
	VERSION = 1,
	VERSION_SIZE = 4,
	MAGIC_SIZE = TRACE_HEADER - VERSION_SIZE,
	TAG_SIZE = 4,
	LEVEL = 1,
	/* Data that expand by more would be a bomb: they are stored as such. */
	RATIO_MAX = 100,
};

static const uint8_t magic[MAGIC_SIZE + 1] = "\211PMT\r\n\032\n";
static const uint8_t trailer[TRACE_TRAILER - 8 + 1] = "PMT\r\nEND";

static const char *const tags[CHUNK_KINDS] = {
	[CHUNK_RUN] = "RUN ",	 [CHUNK_FUNCS] = "FUNC",
	[CHUNK_THREAD] = "THRD", [CHUNK_CLOCK] = "CLCK",
	[CHUNK_ITEMS] = "ITEM",	 [CHUNK_PROGRAM] = "PROG",
	[CHUNK_INDEX] = "INDX",
};

/* ---- the file's beginning and end */

void
trace_header_put(struct sink *file)
{
	put_bytes(file, magic, MAGIC_SIZE);
	put_fixed(file, VERSION, VERSION_SIZE);
}

bool
trace_is(const uint8_t *bytes, size_t n)
{
	return n >= MAGIC_SIZE && !memcmp(bytes, magic, MAGIC_SIZE);
}

int
trace_header_check(const char *path, const uint8_t *bytes, size_t n)
{
	struct feed feed = { .at = bytes, .end = bytes + n };
	uint64_t version;

	if (!trace_is(bytes, n))
		return fail("%s: not a trace of pmon", path);
	feed.at += MAGIC_SIZE;
	version = get_fixed(&feed, VERSION_SIZE);
	if (feed.bad)
		return fail("%s: truncated", path);
	if (version != VERSION)
		return fail("%s: a trace of version %" PRIu64 "; this pmon "
			    "reads version %d",
			    path, version, VERSION);
	return 0;
}

void
trace_trailer_put(struct sink *file, uint64_t index)
{
	put_fixed(file, index, 8);
	put_bytes(file, trailer, TRACE_TRAILER - 8);
}

bool
trace_trailer_get(const uint8_t *bytes, uint64_t *index)
{
	struct feed feed = { .at = bytes, .end = bytes + TRACE_TRAILER };

	*index = get_fixed(&feed, 8);
	return !memcmp(bytes + 8, trailer, TRACE_TRAILER - 8);
}

/* ---- writing */

struct packer {
	ZSTD_CCtx *ctx;
	uint8_t *bytes;
	size_t size;
};

struct packer *
packer_open(void)
{
	struct packer *packer = mem_alloc(sizeof(*packer));

	packer->ctx = ZSTD_createCCtx();
	must(packer->ctx != NULL);
	return packer;
}

void
packer_close(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->ctx);
	free(packer->bytes);
	free(packer);
}

/* Compress the data into packer->bytes; how many there are, or 0: as they are. */
static size_t
data_compress(struct packer *packer, const struct sink *data)
{
	size_t room = ZSTD_compressBound(data->n), n;

	if (room > packer->size) {
		packer->size = room;
		packer->bytes = mem_grow(packer->bytes, room, 1);
	}
	n = ZSTD_compressCCtx(packer->ctx, packer->bytes, packer->size,
			      data->bytes, data->n, LEVEL);
	must(!ZSTD_isError(n));
	return n >= data->n || data->n / RATIO_MAX >= n ? 0 : n;
}

void
chunk_pack(struct packer *packer, struct chunk *chunk, const struct sink *data,
	   struct sink *file)
{
	size_t start = file->n, n = data_compress(packer, data);

	must(data->n <= CHUNK_MAX);
	chunk->size = (uint32_t)data->n;
	chunk->stored = (uint32_t)(n ? n : data->n);
	put_bytes(file, tags[chunk->kind], TAG_SIZE);
	put_fixed(file, chunk->thread, 4);
	put_fixed(file, chunk->first, 8);
	put_fixed(file, chunk->last, 8);
	put_fixed(file, chunk->stored, 4);
	put_fixed(file, chunk->size, 4);
	/* So that a damaged header is known without the data. */
	put_fixed(file,
		  crc_more(0, file->bytes + start, CHUNK_HEADER - CHUNK_CRC),
		  CHUNK_CRC);
	put_bytes(file, n ? packer->bytes : data->bytes, chunk->stored);
	put_fixed(file, crc_more(0, file->bytes + start, file->n - start),
		  CHUNK_CRC);
}

/* ---- reading */

bool
chunk_header_get(const uint8_t *bytes, struct chunk *chunk)
{
	struct feed feed = { .at = bytes, .end = bytes + CHUNK_HEADER };
	char tag[TAG_SIZE];
	int kind = 0;

	get_bytes(&feed, tag, TAG_SIZE);
	while (kind < CHUNK_KINDS && memcmp(tags[kind], tag, TAG_SIZE))
		kind++;
	*chunk = (struct chunk){ .kind = (enum chunk_kind)kind };
	chunk->thread = (uint32_t)get_fixed(&feed, 4);
	chunk->first = get_fixed(&feed, 8);
	chunk->last = get_fixed(&feed, 8);
	chunk->stored = (uint32_t)get_fixed(&feed, 4);
	chunk->size = (uint32_t)get_fixed(&feed, 4);
	return get_fixed(&feed, CHUNK_CRC) ==
		       crc_more(0, bytes, CHUNK_HEADER - CHUNK_CRC) &&
	       (kind < CHUNK_KINDS || (tag[0] >= 'a' && tag[0] <= 'z')) &&
	       chunk->first <= chunk->last && chunk->size <= CHUNK_MAX &&
	       chunk->stored <= chunk->size &&
	       (chunk->size == chunk->stored ||
		chunk->size / RATIO_MAX < chunk->stored);
}

uint8_t *
chunk_unpack(const struct chunk *chunk, const uint8_t *bytes)
{
	size_t n = CHUNK_HEADER + (size_t)chunk->stored;
	struct feed feed = { bytes + n, bytes + n + CHUNK_CRC, false };
	uint8_t *data;
	size_t got;

	if (get_fixed(&feed, CHUNK_CRC) != crc_more(0, bytes, n))
		return NULL;
	data = mem_alloc(chunk->size + 1);
	if (chunk->size == chunk->stored) {
		memcpy(data, bytes + CHUNK_HEADER, chunk->size);
		return data;
	}
	got = ZSTD_decompress(data, chunk->size, bytes + CHUNK_HEADER,
			      chunk->stored);
	if (got == chunk->size)
		return data;
	free(data);
	return NULL;
}
