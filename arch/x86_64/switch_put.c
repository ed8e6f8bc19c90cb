/*
 * Writes single instructions of filters.  Knows no layout.
 */
#include "arch/x86_64/switch_put.h"

#include <string.h>

#include "util/fail.h"

const uint8_t x86_saved_regs[SWITCH_REGS] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

void
x86_bytes_put(struct switch_filter *filter, const void *bytes, size_t n)
{
	must(filter->len + n <= sizeof(filter->bytes));
	memcpy(filter->bytes + filter->len, bytes, n);
	filter->len += n;
}

void
x86_word_put(struct switch_filter *filter, uint32_t word)
{
	x86_bytes_put(filter, &word, sizeof(word));
}

void
x86_scratch_put(struct making *m, enum scratch_way way, unsigned reg,
		unsigned word)
{
	PUT(m->filter, 0x65, 0x48 | (reg >> 3) << 2, way, 0x04 | (reg & 7) << 3,
	    0x25);
	x86_word_put(m->filter, m->in->scratch + 8 * word);
}

bool
x86_code_moves(const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction zinsn;
	size_t at;

	for (at = 0; at < len; at += zinsn.length)
		if (x86_decode(code + at, len - at, &zinsn, NULL) ||
		    zinsn.attributes & (ZYDIS_ATTRIB_IS_RELATIVE |
					ZYDIS_ATTRIB_HAS_SEGMENT_GS))
			return false;
	return at == len;
}
