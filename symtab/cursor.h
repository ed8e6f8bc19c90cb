/*
 * Cursors over bytes that may be damaged: bytes past the end read as zero and
 * set a flag, which the caller checks.  Private to symtab/.
 */
#ifndef SYMTAB_CURSOR_H
#define SYMTAB_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *p;
	size_t n;
};

/* The next byte to read; `bad` once a read went past the end. */
struct cursor {
	const uint8_t *p, *end;
	bool big_endian, bad;
};

/* A cursor at offset in bytes; bad at once if that is not inside them. */
struct cursor cursor_at(const struct bytes *bytes, uint64_t offset,
			bool big_endian);

/* Read a number of size bytes, 8 at most. */
uint64_t cursor_take(struct cursor *c, size_t size);

/* Read a LEB128 number (DWARF 5, 7.6); bits beyond 64 are lost. */
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);

/* Read a string, which stays in place; "" if its NUL is past the end. */
const char *cursor_string(struct cursor *c);

void cursor_skip(struct cursor *c, uint64_t size);

#endif
