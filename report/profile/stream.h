/*
 * Numbers and strings as bytes, of which the sections of data files consist.
 * Never reads or writes a file.
 */
#ifndef REPORT_PROFILE_STREAM_H
#define REPORT_PROFILE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. */
struct sink {
	uint8_t *bytes;		/* owned: free() */
	size_t n, size;
};

/* Bytes that are read, up to `end`. */
struct feed {
	const uint8_t *at, *end;
	bool bad;		/* the bytes ended too early or are not
				   valid */
};

void put_bytes(struct sink *sink, const void *bytes, size_t n);
void put_byte(struct sink *sink, unsigned byte);
/* LEB128: seven bits a byte, low ones first, bit 7 set in all but the last. */
void put_uint(struct sink *sink, uint64_t value);
/*
 * The difference to - from mod 2^64 as put_uint, taken as a number with a sign:
 * 0, -1, 1, -2, 2, ...
 */
void put_delta(struct sink *sink, uint64_t to, uint64_t from);
/* The string with its NUL. */
void put_string(struct sink *sink, const char *s);
/* Least significant byte first. */
void put_fixed(struct sink *sink, uint64_t value, size_t nbytes);

/*
 * Get what was put.  At the end of the bytes, or if they are not valid, these
 * set `bad`, which lasts, and return 0, false or NULL.  Numbers must have their
 * shortest form.
 */
bool get_bytes(struct feed *feed, void *bytes, size_t n);
unsigned get_byte(struct feed *feed);
uint64_t get_uint(struct feed *feed);
uint64_t get_max(struct feed *feed, uint64_t max);	/* bad if larger */
uint64_t get_delta(struct feed *feed, uint64_t from);
char *get_string(struct feed *feed);		/* owned by the caller */
uint64_t get_fixed(struct feed *feed, size_t nbytes);

/* A feed of a sink's bytes.  The sink must outlive it. */
static inline struct feed
feed_of(const struct sink *sink)
{
	return (struct feed){
		.at = sink->bytes,
		.end = sink->n ? sink->bytes + sink->n : sink->bytes,
	};
}

static inline size_t
feed_left(const struct feed *feed)
{
	return (size_t)(feed->end - feed->at);
}

#endif
