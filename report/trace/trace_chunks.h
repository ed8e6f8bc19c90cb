/*
 * The frame of a trace file: chunks that are compressed and have checksums.
 * Knows nothing of what is in them.  See man/pmon.trace.5.
 */
#ifndef REPORT_TRACE_TRACE_CHUNKS_H
#define REPORT_TRACE_TRACE_CHUNKS_H

#include "report/profile/stream.h"
#include "util/fail.h"

enum chunk_kind {
	CHUNK_RUN,		/* what ran */
	CHUNK_FUNCS,		/* functions */
	CHUNK_THREAD,		/* a thread begins */
	CHUNK_CLOCK,		/* what the time stamp was when */
	CHUNK_ITEMS,		/* of one thread */
	CHUNK_PROGRAM,		/* which program a thread runs from now on */
	CHUNK_INDEX,		/* where the other chunks are */
	CHUNK_KINDS,		/* one that may be ignored */
};

enum {
	TRACE_HEADER = 12,	/* bytes of the magic number and version */
	TRACE_TRAILER = 16,	/* bytes behind the index */
	CHUNK_HEADER = 36,	/* bytes in front of a chunk's data ... */
	CHUNK_CRC = 4,		/* ... and behind them */
	CHUNK_MAX = 1 << 24,	/* of its data: stored or not compressed */
};

/* What a chunk's header says. */
struct chunk {
	enum chunk_kind kind;
	uint32_t thread;	/* CHUNK_ITEMS: its number */
	uint64_t first, last;	/* CHUNK_ITEMS: stamps of the items */
	uint64_t offset;	/* in the file; not part of the header */
	uint32_t stored, size;	/* bytes of the data, in the file and when
				   decompressed */
};

/* Put the beginning of a trace file. */
void trace_header_put(struct sink *file);
/*
 * Check the beginning of a file, of which there are n bytes.  0, or -1 with the
 * message, which begins with path.
 */
MUST_CHECK int trace_header_check(const char *path, const uint8_t *bytes,
				  size_t n);
/* Whether these n bytes begin with the magic number of traces. */
bool trace_is(const uint8_t *bytes, size_t n);

/* The end of the file: where the index is. */
void trace_trailer_put(struct sink *file, uint64_t index);
/* Whether TRACE_TRAILER bytes are one, and where the index is. */
bool trace_trailer_get(const uint8_t *bytes, uint64_t *index);

/* What compresses, and is used again and again. */
struct packer;
struct packer *packer_open(void);
void packer_close(struct packer *packer);

/*
 * Append a chunk of this kind, thread and stamps to the file's bytes: header,
 * compressed data and checksum.  Sets chunk->stored and size.
 */
void chunk_pack(struct packer *packer, struct chunk *chunk,
		const struct sink *data, struct sink *file);

/*
 * Get a chunk's header from CHUNK_HEADER bytes.  False if it is none: of no kind
 * that is known or may be ignored, or too large.
 */
bool chunk_header_get(const uint8_t *bytes, struct chunk *chunk);

/*
 * Check and decompress a chunk: its header, data and checksum are at `bytes`.
 * Owned by the caller, chunk->size bytes; NULL if the chunk is damaged.
 */
uint8_t *chunk_unpack(const struct chunk *chunk, const uint8_t *bytes);

#endif
