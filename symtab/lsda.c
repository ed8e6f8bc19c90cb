/*
 * Reads language-specific data areas as gcc and clang make them for C++ and
 * other languages (.gcc_except_table): Itanium C++ ABI, Exception Handling
 * Tables.  Pure: bytes in, addresses out.
 */
#include "symtab/lsda.h"

#include <string.h>

#include "util/mem.h"

/* Linux Standard Base Core, 10.5.1. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
	PE_OMIT = 0xff,
};

static bool
leb_read(const struct lsda_section *s, uint64_t *offset, bool sign,
	 uint64_t *value)
{
	uint8_t byte;

	*value = 0;
	for (unsigned shift = 0; *offset < s->bytes.n; shift += 7) {
		byte = s->bytes.p[(*offset)++];
		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (sign && byte & 0x40 && shift + 7 < 64)
			*value |= UINT64_MAX << (shift + 7);
		return true;
	}
	return false;
}

static bool
fixed_read(const struct lsda_section *s, uint64_t *offset, unsigned size,
	   bool sign, uint64_t *value)
{
	unsigned shift = 64 - size * 8;

	if (*offset > s->bytes.n || s->bytes.n - *offset < size)
		return false;
	*value = 0;
	for (unsigned i = 0; i < size; i++)
		*value = *value << 8 |
			 s->bytes.p[*offset +
				    (s->big_endian ? i : size - 1 - i)];
	if (sign)
		*value = (uint64_t)((int64_t)(*value << shift) >> shift);
	*offset += size;
	return true;
}

static bool
plain_read(const struct lsda_section *s, uint64_t *offset, uint8_t encoding,
	   uint64_t *value)
{
	switch (encoding & 0x0f) {
	case PE_ABSPTR:
		return fixed_read(s, offset, s->narrow ? 4 : 8, false, value);
	case PE_UDATA8:
	case PE_SDATA8:
		return fixed_read(s, offset, 8, false, value);
	case PE_ULEB128:
		return leb_read(s, offset, false, value);
	case PE_SLEB128:
		return leb_read(s, offset, true, value);
	case PE_UDATA2:
		return fixed_read(s, offset, 2, false, value);
	case PE_SDATA2:
		return fixed_read(s, offset, 2, true, value);
	case PE_UDATA4:
		return fixed_read(s, offset, 4, false, value);
	case PE_SDATA4:
		return fixed_read(s, offset, 4, true, value);
	default:
		return false;
	}
}

bool
lsda_value(const struct lsda_section *section, uint64_t *offset,
	   uint8_t encoding, uint64_t *value)
{
	uint64_t addr = section->addr + *offset;

	if (encoding & 0xe0 || !plain_read(section, offset, encoding, value))
		return false;
	if (encoding & PE_PCREL && *value)
		*value += addr;
	if (section->narrow)
		*value = (uint32_t)*value;
	return true;
}

static bool
byte_read(const struct lsda_section *s, uint64_t *offset, uint8_t *byte)
{
	if (*offset >= s->bytes.n)
		return false;
	*byte = s->bytes.p[(*offset)++];
	return true;
}

/*
 * Read an area's header: *start, if it states another, and the encoding and
 * size of the table of call sites, to which *offset is moved.
 */
static bool
head_read(const struct lsda_section *s, uint64_t *offset, uint64_t *start,
	  uint8_t *encoding, uint64_t *size)
{
	uint64_t types;
	uint8_t byte;

	if (!byte_read(s, offset, &byte) ||
	    (byte != PE_OMIT && !lsda_value(s, offset, byte, start)))
		return false;
	if (!byte_read(s, offset, &byte) ||
	    (byte != PE_OMIT && !leb_read(s, offset, false, &types)))
		return false;
	return byte_read(s, offset, encoding) &&
	       leb_read(s, offset, false, size) &&
	       *size <= s->bytes.n - *offset;
}

bool
lsda_pads(const struct lsda_section *section, uint64_t lsda, uint64_t start,
	  uint64_t **pads, size_t *npads)
{
	uint64_t offset = lsda - section->addr, end, size, value, pad;
	uint8_t encoding;

	if (lsda < section->addr ||
	    !head_read(section, &offset, &start, &encoding, &size))
		return false;
	end = offset + size;
	while (offset < end) {
		/* The call's start, its length, its landing pad, its action. */
		/* NOLINTNEXTLINE(misc-redundant-expression): offset moves. */
		if (!plain_read(section, &offset, encoding, &value) ||
		    !plain_read(section, &offset, encoding, &value) ||
		    !plain_read(section, &offset, encoding, &pad) ||
		    !leb_read(section, &offset, false, &value))
			return false;
		if (pad && (!*npads || (*pads)[*npads - 1] != start + pad))
			*vec_push(*pads, *npads) = start + pad;
	}
	return true;
}
