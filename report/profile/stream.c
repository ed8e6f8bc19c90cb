/*
 * Writes numbers and strings as bytes, and reads them back.  Never reads or
 * writes a file.
 */
#include "report/profile/stream.h"

#include <string.h>

#include "util/mem.h"

enum { MORE = 0x80, LOW = 0x7f, GROUP = 7, LAST_SHIFT = 63 };

void
put_bytes(struct sink *sink, const void *bytes, size_t n)
{
	if (n > sink->size - sink->n) {
		sink->size = 2 * (sink->n + n) + 64;
		sink->bytes = mem_grow(sink->bytes, sink->size, 1);
	}
	if (n)
		memcpy(sink->bytes + sink->n, bytes, n);
	sink->n += n;
}

void
put_byte(struct sink *sink, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	if (sink->n < sink->size)
		sink->bytes[sink->n++] = b;
	else
		put_bytes(sink, &b, 1);
}

void
put_uint(struct sink *sink, uint64_t value)
{
	/* Most are small. */
	if (value <= LOW && sink->n < sink->size) {
		sink->bytes[sink->n++] = (uint8_t)value;
		return;
	}
	for (; value > LOW; value >>= GROUP)
		put_byte(sink, (value & LOW) | MORE);
	put_byte(sink, (unsigned)value);
}

void
put_delta(struct sink *sink, uint64_t to, uint64_t from)
{
	uint64_t delta = to - from;

	put_uint(sink, delta >> 63 ? ~(delta << 1) : delta << 1);
}

void
put_string(struct sink *sink, const char *s)
{
	put_bytes(sink, s, strlen(s) + 1);
}

void
put_fixed(struct sink *sink, uint64_t value, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		put_byte(sink, value >> 8 * i & 0xff);
}

bool
get_bytes(struct feed *feed, void *bytes, size_t n)
{
	if (feed->bad || feed_left(feed) < n) {
		feed->bad = true;
		memset(bytes, 0, n);
		return false;
	}
	if (n)
		memcpy(bytes, feed->at, n);
	feed->at += n;
	return true;
}

unsigned
get_byte(struct feed *feed)
{
	uint8_t byte;

	get_bytes(feed, &byte, 1);
	return byte;
}

uint64_t
get_uint(struct feed *feed)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift <= LAST_SHIFT; shift += GROUP) {
		unsigned byte = get_byte(feed);

		value |= (uint64_t)(byte & LOW) << shift;
		if (byte & MORE)
			continue;
		if ((shift && !byte) || (shift == LAST_SHIFT && byte > 1))
			break;
		return value;
	}
	feed->bad = true;
	return 0;
}

uint64_t
get_max(struct feed *feed, uint64_t max)
{
	uint64_t value = get_uint(feed);

	if (value <= max)
		return value;
	feed->bad = true;
	return 0;
}

uint64_t
get_delta(struct feed *feed, uint64_t from)
{
	uint64_t value = get_uint(feed);

	return from + (value & 1 ? ~(value >> 1) : value >> 1);
}

char *
get_string(struct feed *feed)
{
	const uint8_t *end = NULL;
	char *s;

	if (!feed->bad && feed_left(feed))
		end = memchr(feed->at, '\0', feed_left(feed));
	if (!end) {
		feed->bad = true;
		return NULL;
	}
	s = mem_strndup((const char *)feed->at, (size_t)(end - feed->at));
	feed->at = end + 1;
	return s;
}

uint64_t
get_fixed(struct feed *feed, size_t nbytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < nbytes; i++)
		value |= (uint64_t)get_byte(feed) << 8 * i;
	return value;
}
