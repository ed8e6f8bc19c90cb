/*
 * Takes numbers and strings out of bytes that may be damaged; never reads
 * past their end.
 */
#include "symtab/cursor.h"

#include <string.h>

struct cursor
cursor_at(const struct bytes *bytes, uint64_t offset, bool big_endian)
{
	struct cursor c = { .big_endian = big_endian };

	if (offset >= bytes->n) {
		c.bad = true;
		return c;
	}
	c.p = bytes->p + offset;
	c.end = bytes->p + bytes->n;
	return c;
}

uint64_t
cursor_take(struct cursor *c, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->p) < size) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value = value << 8 | c->p[c->big_endian ? i : size - 1 - i];
	c->p += size;
	return value;
}

static uint64_t
take_leb(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor_take(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

uint64_t
cursor_uleb(struct cursor *c)
{
	return take_leb(c, false);
}

int64_t
cursor_sleb(struct cursor *c)
{
	return (int64_t)take_leb(c, true);
}

const char *
cursor_string(struct cursor *c)
{
	const char *s = (const char *)c->p;
	const uint8_t *nul = c->p == c->end ?
				     NULL :
				     memchr(c->p, 0, (size_t)(c->end - c->p));

	if (!nul) {
		c->bad = true;
		c->p = c->end;
		return "";
	}
	c->p = nul + 1;
	return s;
}

void
cursor_skip(struct cursor *c, uint64_t size)
{
	if ((uint64_t)(c->end - c->p) < size) {
		c->bad = true;
		size = (uint64_t)(c->end - c->p);
	}
	c->p += size;
}
