/*
 * Packs and unpacks the sections of data files, with zlib.  Believes nothing
 * that a file says: allocates memory only for bytes that are there.
 */
#include "report/profile/sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	VERSION = 1,
	VERSION_SIZE = 4,
	MAGIC_SIZE = FRAME_HEADER - VERSION_SIZE,
	TAG_SIZE = 4,
	NUMBERS_SIZE = 16,	/* stored size, size */
	CRC_SIZE = 4,
	LEVEL = 5,
	/* Enough for small sections, and faster to set up. */
	SMALL_WBITS = 12,
	SMALL_MEM_LEVEL = 5,
	/* A section that expands by more is a bomb. */
	RATIO_MAX = 100,
	CHUNK = 1 << 16,
};

/* Shows a change of line ends or the loss of bit 7; is not text. */
static const uint8_t magic[MAGIC_SIZE + 1] = "\211PMON\r\n\032";
static const char tag_end[] = "END ";

static const char *const tags[SECTIONS] = {
	[SECTION_RUNS] = "RUNS",    [SECTION_PARTS] = "PART",
	[SECTION_OBJECTS] = "OBJS", [SECTION_FUNCS] = "FUNC",
	[SECTION_NAMES] = "NAME",   [SECTION_SIZES] = "SIZE",
	[SECTION_INSNS] = "INSN",   [SECTION_GAPS] = "GAPS",
	[SECTION_EDGES] = "EDGE",   [SECTION_TARGETS] = "DEST",
	[SECTION_STATES] = "STAT",  [SECTION_COUNTS] = "CNTS",
	[SECTION_EXTRAS] = "XTRA",  [SECTION_STOPS] = "stop",
	[SECTION_DOUBTS] = "DOUB",  [SECTION_TIMES] = "time",
	[SECTION_DEATHS] = "died",
};

const char *
section_tag(enum section section)
{
	return tags[section];
}

uint32_t
crc_more(uint32_t crc, const void *bytes, size_t n)
{
	return (uint32_t)crc32_z(crc, bytes, n);
}

/* ---- writing */

static void
deflate_into(struct sink *out, const struct sink *raw, int strategy)
{
	z_stream z = { .next_in = raw->bytes };
	size_t left = raw->n;
	bool small = raw->n <= 1 << SMALL_WBITS;
	uint8_t chunk[CHUNK];
	int err;

	must(deflateInit2(&z, LEVEL, Z_DEFLATED,
			  small ? SMALL_WBITS : MAX_WBITS,
			  small ? SMALL_MEM_LEVEL : MAX_MEM_LEVEL,
			  strategy) == Z_OK);
	do {
		if (!z.avail_in) {
			z.avail_in = left < CHUNK ? (uInt)left : CHUNK;
			left -= z.avail_in;
		}
		z.next_out = chunk;
		z.avail_out = CHUNK;
		err = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		must(err == Z_OK || err == Z_STREAM_END);
		put_bytes(out, chunk, CHUNK - z.avail_out);
	} while (err != Z_STREAM_END);
	deflateEnd(&z);
}

static void
section_pack(const char *tag, const struct sink *raw, struct sink *file)
{
	struct sink packed = { 0 };
	size_t start = file->n;

	deflate_into(&packed, raw, Z_DEFAULT_STRATEGY);
	if (raw->n / RATIO_MAX >= packed.n) {
		/* Expands by 8 at most, which RATIO_MAX allows. */
		packed.n = 0;
		deflate_into(&packed, raw, Z_HUFFMAN_ONLY);
	}
	put_bytes(file, tag, TAG_SIZE);
	put_fixed(file, packed.n, NUMBERS_SIZE / 2);
	put_fixed(file, raw->n, NUMBERS_SIZE / 2);
	put_bytes(file, packed.bytes, packed.n);
	put_fixed(file, crc_more(0, file->bytes + start, file->n - start),
		  CRC_SIZE);
	free(packed.bytes);
}

void
sections_pack(const struct sink *sections, struct sink *file)
{
	struct sink end = { 0 };
	size_t n = 0;

	put_bytes(file, magic, MAGIC_SIZE);
	put_fixed(file, VERSION, VERSION_SIZE);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (!sections[i].n)
			continue;
		section_pack(tags[i], &sections[i], file);
		n++;
	}
	put_uint(&end, n);
	section_pack(tag_end, &end, file);
	free(end.bytes);
}

/* ---- reading */

/* A section as it is in the file. */
struct packed {
	char tag[TAG_SIZE + 1];
	const uint8_t *bytes;
	size_t stored, size;
};

static int
damaged(const char *path, const char *tag, const char *how)
{
	return fail("%s: damaged: section %s %s", path, tag, how);
}

int
frame_check(const char *path, const uint8_t *bytes, size_t size)
{
	struct feed feed = { .at = bytes, .end = bytes + size };
	uint8_t start[MAGIC_SIZE];
	uint64_t version;

	if (!size)
		return fail("%s: the file is empty", path);
	get_bytes(&feed, start, size < MAGIC_SIZE ? size : MAGIC_SIZE);
	if (memcmp(start, magic, size < MAGIC_SIZE ? size : MAGIC_SIZE))
		return fail("%s: not a data file of pmon", path);
	version = get_fixed(&feed, VERSION_SIZE);
	if (feed.bad)
		return fail("%s: truncated", path);
	if (version != VERSION)
		return fail("%s: a data file of version %" PRIu64 "; this "
			    "pmon reads version %d",
			    path, version, VERSION);
	return 0;
}

static int
packed_get(const char *path, struct feed *feed, struct packed *packed)
{
	const uint8_t *start = feed->at;
	uint64_t stored, size;
	uint32_t crc;

	get_bytes(feed, packed->tag, TAG_SIZE);
	packed->tag[TAG_SIZE] = '\0';
	stored = get_fixed(feed, NUMBERS_SIZE / 2);
	size = get_fixed(feed, NUMBERS_SIZE / 2);
	if (feed->bad || feed_left(feed) < CRC_SIZE ||
	    stored > feed_left(feed) - CRC_SIZE)
		return fail("%s: truncated", path);
	packed->bytes = feed->at;
	packed->stored = stored;
	feed->at += stored;
	crc = crc_more(0, start, (size_t)(feed->at - start));
	for (size_t i = 0; i < TAG_SIZE; i++)
		if (packed->tag[i] < ' ' || packed->tag[i] > '~')
			packed->tag[i] = '?';
	if (get_fixed(feed, CRC_SIZE) != crc)
		return damaged(path, packed->tag, "has a wrong checksum");
	if (size / RATIO_MAX >= stored)
		return damaged(path, packed->tag, "has an impossible size");
	packed->size = size;
	return 0;
}

/*
 * Decompress a section.  Stops at the size that the file says, and never
 * allocates more than about twice the bytes made so far.
 */
static int
packed_inflate(const struct packed *packed, struct sink *raw)
{
	z_stream z = { 0 };
	size_t left = packed->stored;
	uint8_t chunk[CHUNK];
	int err = Z_OK;

	must(inflateInit(&z) == Z_OK);
	z.next_in = (Bytef *)packed->bytes;
	while (err == Z_OK && raw->n <= packed->size) {
		if (!z.avail_in) {
			z.avail_in = left < CHUNK ? (uInt)left : CHUNK;
			left -= z.avail_in;
		}
		z.next_out = chunk;
		z.avail_out = CHUNK;
		err = inflate(&z, Z_NO_FLUSH);
		put_bytes(raw, chunk, CHUNK - z.avail_out);
	}
	left += z.avail_in;
	inflateEnd(&z);
	return err == Z_STREAM_END && !left && raw->n == packed->size ? 0 : -1;
}

/*
 * Check the end section: it has the number of sections, and must be the last
 * thing in the file.
 */
static int
end_check(const char *path, const struct packed *packed, size_t n,
	  size_t behind)
{
	struct sink raw = { 0 };
	struct feed feed;
	bool good;

	good = packed_inflate(packed, &raw) == 0;
	feed = feed_of(&raw);
	good = good && get_uint(&feed) == n && !feed.bad && !feed_left(&feed);
	free(raw.bytes);
	if (!good)
		return fail("%s: damaged: sections are missing", path);
	if (behind)
		return fail("%s: damaged: %zu bytes after its end", path,
			    behind);
	return 0;
}

/* Unpack one section.  Unknown ones with a lower-case tag are ignored. */
static int
packed_unpack(const char *path, const struct packed *packed,
	      struct sink *sections)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		if (memcmp(packed->tag, tags[i], TAG_SIZE))
			continue;
		if (sections[i].n)
			return damaged(path, packed->tag, "appears twice");
		if (packed_inflate(packed, &sections[i]))
			return damaged(path, packed->tag,
				       "cannot be decompressed");
		return 0;
	}
	if (packed->tag[0] >= 'a' && packed->tag[0] <= 'z')
		return 0;
	return fail("%s: this pmon does not know section %s", path,
		    packed->tag);
}

int
sections_unpack(const char *path, const uint8_t *bytes, size_t size,
		struct sink *sections)
{
	struct feed feed;
	struct packed packed;

	memset(sections, 0, SECTIONS * sizeof(*sections));
	if (frame_check(path, bytes, size))
		return -1;
	feed = (struct feed){ bytes + FRAME_HEADER, bytes + size, false };
	for (size_t n = 0;; n++) {
		if (packed_get(path, &feed, &packed))
			return -1;
		if (!memcmp(packed.tag, tag_end, TAG_SIZE))
			return end_check(path, &packed, n, feed_left(&feed));
		if (packed_unpack(path, &packed, sections))
			return -1;
	}
}

void
sections_free(struct sink *sections)
{
	for (size_t i = 0; i < SECTIONS; i++)
		free(sections[i].bytes);
}

bool
frame_is(const uint8_t *bytes, size_t n)
{
	return n >= MAGIC_SIZE && memcmp(bytes, magic, MAGIC_SIZE) == 0;
}
