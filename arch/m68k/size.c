/*
 * Reads the length and the effective addresses of a 68000 instruction from its
 * words, after the M68000 Family Programmer's Reference Manual (M68000PM/AD,
 * sections 2 and 8).  Does not use capstone, which gets some lengths wrong.
 * Never tells whether a CPU has the instruction.
 */
#include "arch/m68k/m68k.h"

enum { OP = 2, LONG = 4 };	/* bytes of an operation word, of a long */

struct m68k_code
m68k_code_of(const uint8_t *code, size_t size, uint64_t addr, bool full)
{
	return (struct m68k_code){ code, size, addr, full };
}

uint16_t
m68k_word(const struct m68k_code *code, size_t offset)
{
	if (offset + 2 > code->size)
		return 0;
	return (uint16_t)(code->p[offset] << 8 | code->p[offset + 1]);
}

int64_t
m68k_signed(const struct m68k_code *code, size_t offset, size_t size)
{
	uint64_t value = m68k_word(code, offset);

	if (size == LONG)
		return (int32_t)(value << 16 | m68k_word(code, offset + 2));
	return size == 1 ? (int8_t)value : (int16_t)value;
}

/* Bytes of a full extension word's base and outer displacement: 2.2. */
static size_t
base_size(uint16_t ext)
{
	static const uint8_t sizes[] = { 0, 0, 2, 4 };

	return sizes[ext >> 4 & 3];
}

static size_t
outer_size(uint16_t ext)
{
	static const uint8_t sizes[] = { 0, 0, 2, 4 };

	return sizes[ext & 3];
}

static bool
is_full(const struct m68k_code *code, uint16_t ext)
{
	return code->full && ext & 0x100;
}

size_t
m68k_ea_size(const struct m68k_code *code, enum ea_mode mode, size_t offset,
	     size_t size)
{
	uint16_t ext;

	switch (mode) {
	case EA_DISP:
	case EA_ABS_WORD:
	case EA_PC_DISP:
		return 2;
	case EA_ABS_LONG:
		return 4;
	case EA_INDEX:
	case EA_PC_INDEX:
		ext = m68k_word(code, offset);
		return is_full(code, ext) ?
			       2 + base_size(ext) + outer_size(ext) :
			       2;
	case EA_IMM:
		return size < 2 ? 2 : size;
	default:
		return 0;
	}
}

/* Add an index register, its low word or all of it, times a scale. */
static void
place_index(const struct m68k_code *code, uint16_t ext, struct place *place)
{
	place->index = (uint8_t)(ext >> 12);
	place->scale = code->full ? (uint8_t)(1 << (ext >> 9 & 3)) : 1;
	place->index_width = ext & 0x800 ? 0 : 2;
	place->index_sign = !(ext & 0x800);
}

static struct place
place_full(const struct m68k_code *code, struct place place, size_t offset)
{
	uint16_t ext = m68k_word(code, offset);

	place.disp = 0;
	if (ext & 0x80) {
		/* The caller adds the pc, which is suppressed. */
		if (place.reg == REG_NONE)
			place.disp = -(int64_t)(code->addr + offset);
		place.reg = REG_NONE;
	}
	if (!(ext & 0x40))
		place_index(code, ext, &place);
	if (base_size(ext))
		place.disp += m68k_signed(code, offset + 2, base_size(ext));
	if (ext & 7)
		place.kind = PLACE_NONE;
	return place;
}

static struct place
place_indexed(const struct m68k_code *code, struct place place, size_t offset)
{
	uint16_t ext = m68k_word(code, offset);

	if (is_full(code, ext))
		return place_full(code, place, offset);
	place_index(code, ext, &place);
	place.disp = (int8_t)ext;
	return place;
}

/* Add to an absolute address, which has 32 bits. */
static struct place
place_absolute(struct place place, uint64_t more)
{
	place.disp = (int64_t)(uint32_t)((uint64_t)place.disp + more);
	return place;
}

struct place
m68k_ea_place(const struct m68k_code *code, uint16_t op, size_t offset,
	      uint8_t width)
{
	struct place place = {
		.kind = PLACE_MEM,
		.width = width,
		.reg = (uint8_t)(M68K_A0 + (op & 7)),
		.index = REG_NONE,
	};

	switch (m68k_mode(op)) {
	case EA_DATA:
		place.reg = op & 7;
		/* fallthrough */
	case EA_ADDR:
		place.kind = PLACE_REG;
		return place;
	case EA_INDIRECT:
	case EA_POST:
		return place;
	case EA_PRE:
		place.disp = -(int64_t)width;
		return place;
	case EA_DISP:
		place.disp = m68k_signed(code, offset, 2);
		return place;
	case EA_INDEX:
		return place_indexed(code, place, offset);
	default:
		break;
	}
	place.reg = REG_NONE;
	switch (m68k_mode(op)) {
	case EA_ABS_WORD:
		place.disp = m68k_signed(code, offset, 2);
		return place_absolute(place, 0);
	case EA_ABS_LONG:
		place.disp = m68k_signed(code, offset, LONG);
		return place_absolute(place, 0);
	case EA_PC_DISP:
		place.disp = m68k_signed(code, offset, 2);
		return place_absolute(place, code->addr + offset);
	case EA_PC_INDEX:
		place = place_indexed(code, place, offset);
		return place_absolute(place, code->addr + offset);
	default:
		place.kind = PLACE_NONE;
		return place;
	}
}

/*
 * The length of an instruction of `fixed` bytes and an effective address; size
 * is that of an immediate operand, 0 if none is allowed.  0 if it is invalid.
 */
static size_t
with_ea(const struct m68k_code *code, size_t fixed, size_t size)
{
	enum ea_mode mode = m68k_mode(m68k_word(code, 0));

	if (mode == EA_NONE || (mode == EA_IMM && !size))
		return 0;
	return fixed + m68k_ea_size(code, mode, fixed, size);
}

/* Bytes of the usual size field: 0 byte, 1 word, 2 long. */
static size_t
size_of(unsigned bits)
{
	return (size_t)1 << (bits & 3);
}

/* Immediate operands, operations on bits, movep, cas, chk2, callm. */
static size_t
size_0(const struct m68k_code *code, uint16_t op)
{
	enum { BIT = 4, MOVES = 7 };
	size_t size = size_of(op >> 6);

	if (op & 0x100)
		return (op & 0x38) == 8 ? 4 : with_ea(code, OP, 1);
	if ((op & 0x3f) == 0x3c &&
	    (op >> 9 == 0 || op >> 9 == 1 || op >> 9 == 5))
		return 4;	/* to ccr, sr */
	if ((op & 0xfdff) == 0x0cfc)
		return 6;	/* cas2 */
	if ((op & 0xfff0) == 0x06c0)
		return 2;	/* rtm */
	if (op >> 9 == BIT)
		return with_ea(code, 4, 0);
	if (size > LONG || op >> 9 == MOVES)
		return with_ea(code, 4, 0);
	return with_ea(code, OP + (size < 2 ? 2 : size), 0);
}

static size_t
size_move(const struct m68k_code *code, uint16_t op)
{
	static const uint8_t sizes[] = { 0, 1, 4, 2 };
	size_t n = with_ea(code, OP, sizes[op >> 12]);
	uint16_t dst = (uint16_t)((op >> 3 & 0x38) | (op >> 9 & 7));
	enum ea_mode mode = m68k_mode(dst);

	if (!n || mode == EA_NONE || mode >= EA_PC_DISP)
		return 0;
	return n + m68k_ea_size(code, mode, n, 0);
}

/* The length of those of 4xxx that have no effective address; else 0. */
static size_t
size_4_fixed(uint16_t op)
{
	switch (op) {
	case 0x4afc:			/* illegal */
		return 2;
	case 0x4e72:			/* stop */
	case 0x4e74:			/* rtd */
	case 0x4e7a:			/* movec */
	case 0x4e7b:
		return 4;
	}
	switch (op & 0xfff8) {
	case 0x4808:			/* link.l */
		return 6;
	case 0x4e50:			/* link.w */
		return 4;
	case 0x4840:			/* swap */
	case 0x4848:			/* bkpt */
	case 0x4880:			/* ext, extb */
	case 0x48c0:
	case 0x49c0:
		return 2;
	}
	return (op & 0xffc0) == 0x4e40 ? 2 : 0;
}

static size_t
size_4(const struct m68k_code *code, uint16_t op)
{
	size_t n = size_4_fixed(op);

	if (n)
		return n;
	if (op & 0x100)			/* chk, lea */
		return with_ea(code, OP, op & 0x80 ? 2 : 4);
	switch (op & 0xffc0) {
	case 0x4c00:			/* mul.l, div.l */
	case 0x4c40:
		return with_ea(code, 4, LONG);
	case 0x4880:			/* movem */
	case 0x48c0:
	case 0x4c80:
	case 0x4cc0:
		return with_ea(code, 4, 0);
	case 0x44c0:			/* to ccr, sr */
	case 0x46c0:
		return with_ea(code, OP, 2);
	}
	return with_ea(code, OP,
		       (op & 0xff00) == 0x4a00 ? size_of(op >> 6) : 0);
}

static size_t
size_5(const struct m68k_code *code, uint16_t op)
{
	if ((op & 0xf8) == 0xc8)	/* DBcc */
		return 4;
	switch (op & 0xff) {
	case 0xfa:			/* TRAPcc */
		return 4;
	case 0xfb:
		return 6;
	case 0xfc:
		return 2;
	}
	return with_ea(code, OP, 0);
}

static size_t
size_6(const struct m68k_code *code, uint16_t op)
{
	switch (op & 0xff) {
	case 0:
		return 4;
	case 0xff:
		return code->full ? 6 : 2;
	default:
		return 2;
	}
}

/* or, sub, cmp, and, add: a register and an effective address. */
static size_t
size_dyadic(const struct m68k_code *code, uint16_t op)
{
	unsigned group = op >> 12;
	bool word = group == 8 || group == 0xc;	/* mul, div */

	if ((op & 0xc0) == 0xc0)
		return with_ea(code, OP, word || !(op & 0x100) ? 2 : 4);
	/* pack, unpk */
	if ((op & 0xf1f0) == 0x8140 || (op & 0xf1f0) == 0x8180)
		return 4;
	/* abcd, sbcd, addx, subx, cmpm, exg */
	if (op & 0x100 && (op & 0x30) == 0)
		return 2;
	return with_ea(code, OP, size_of(op >> 6));
}

static size_t
size_shift(const struct m68k_code *code, uint16_t op)
{
	if ((op & 0xc0) != 0xc0)
		return 2;
	return with_ea(code, op & 0x800 ? 4 : OP, 0);
}

/* The coprocessor's general instruction, by its command word. */
static size_t
size_float(const struct m68k_code *code)
{
	static const uint8_t sizes[] = { 4, 4, 12, 12, 2, 8, 1, 0 };
	uint16_t command = m68k_word(code, 2);
	unsigned format = command >> 10 & 7, n;

	switch (command >> 13) {
	case 0:
		return 4;
	case 2:
		return format == 7 ? 4 : with_ea(code, 4, sizes[format]);
	case 4:			/* control registers: format's bits */
		n = (format & 1) + (format >> 1 & 1) + (format >> 2 & 1);
		return with_ea(code, 4, 4 * n);
	case 1:
		return 0;
	default:
		return with_ea(code, 4, 0);
	}
}

static size_t
size_f(const struct m68k_code *code, uint16_t op)
{
	if ((op & 0xffe0) == 0xf600)	/* move16 */
		return 6;
	if ((op & 0xfff8) == 0xf620)
		return 4;
	if ((op & 0xff00) == 0xf400 || (op & 0xff00) == 0xf500)
		return 2;	/* cinv, cpush, pflush, ptest of the 68040 */
	if (op >> 9 != 0x79)
		return 0;	/* the 68851's: only for the kernel */
	switch (op >> 6 & 7) {
	case 0:
		return size_float(code);
	case 1:
		switch (op & 0x3f) {
		case 0x3a:		/* ftrapcc */
			return 6;
		case 0x3b:
			return 8;
		case 0x3c:
			return 4;
		}
		return (op & 0x38) == 8 ? 6 : with_ea(code, 4, 0);
	case 2:
		return 4;		/* fbcc */
	case 3:
		return 6;
	case 4:				/* fsave, frestore */
	case 5:
		return with_ea(code, OP, 0);
	default:
		return 0;
	}
}

size_t
m68k_size(const struct m68k_code *code)
{
	uint16_t op = m68k_word(code, 0);

	switch (op >> 12) {
	case 0:
		return size_0(code, op);
	case 1:
	case 2:
	case 3:
		return size_move(code, op);
	case 4:
		return size_4(code, op);
	case 5:
		return size_5(code, op);
	case 6:
		return size_6(code, op);
	case 7:
		return 2;
	case 0xa:
		return 0;
	case 0xe:
		return size_shift(code, op);
	case 0xf:
		return size_f(code, op);
	default:
		return size_dyadic(code, op);
	}
}
