/*
 * Reading bytes that may be damaged: what is beyond the end reads as zero
 * and is remembered.  Private to symtab/.
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

/* Reads on from p; past the end all is zero, and `bad`. */
struct cursor {
	const uint8_t *p, *end;
	bool big_endian, bad;
};

/* At offset in bytes; bad at once if that is beyond their end. */
struct cursor cursor_at(const struct bytes *bytes, uint64_t offset,
			bool big_endian);

/* A number of up to 8 bytes. */
uint64_t cursor_take(struct cursor *c, size_t size);

/* LEB128 (DWARF 5, 7.6); bits beyond 64 are lost. */
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);

/* A string up to its NUL, in place; "" past the end. */
const char *cursor_string(struct cursor *c);

void cursor_skip(struct cursor *c, uint64_t size);

#endif
