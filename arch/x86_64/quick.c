/*
 * Decodes the instructions that most code is made of, some twenty times as fast
 * as Zydis does.  Leaves all others, and most combinations of prefixes, to
 * Zydis.
 */
#include <string.h>

#include "arch/x86_64/quick.h"
#include "arch/x86_64/x86.h"

/* The prefixes that choose an instruction: at most one of them. */
enum {
	PREFIX_NONE = 1 << 0,
	PREFIX_66 = 1 << 1,
	PREFIX_F3 = 1 << 2,
	PREFIX_F2 = 1 << 3,
	PREFIX_SEGMENT = 1 << 4,	/* cs, fs and gs choose nothing */
	PREFIX_ANY = PREFIX_NONE | PREFIX_66 | PREFIX_F3 | PREFIX_F2,
};

enum {
	LEN_MAX = 15,
	PREFIXES_MAX = 4,
	REX = 0x40,
	REX_W = 1 << 3,
	ESCAPE = 0x0f,
	SP = 4,			/* in ModRM.rm: a SIB byte follows */
	BP = 5,
};

/*
 * What follows each opcode (Intel SDM 2D, appendix A): the row is the opcode's
 * high four bits, and the place in the row its low four.  Each character stands
 * for one of the layouts.
 */
static const char one[] = "mmmmbz..mmmmbz.."
			  "mmmmbz..mmmmbz.."
			  "mmmmbz..mmmmbz.."
			  "mmmmbz..mmmmbz.."
			  "................"
			  "0000000000000000"
			  "...m....zMbB...."
			  "jjjjjjjjjjjjjjjj"
			  "BM.Bmmmmmmmm.l.."
			  "0000000000......"
			  "....ss..bzss...."
			  "bbbbbbbbvvvvvvvv"
			  "ggwk..cC.0..k..."
			  "hhhh............"
			  "........JJ.j...."
			  "......tT......ei";

/* The same behind ESCAPE. */
static const char two[] = ".....k.....k...."
			  "xx..mm.........m"
			  "........mmx.xxmm"
			  "................"
			  "mmmmmmmmmmmmmmmm"
			  ".x..mmmmxxx.xxxx"
			  "mmmmmmmmmmmmppmy"
			  "X...mmm.......yy"
			  "JJJJJJJJJJJJJJJJ"
			  "mmmmmmmmmmmmmmmm"
			  "...mBm.....mBm.m"
			  "mm.m..mm...mmmmm"
			  "mm....B.00000000"
			  "....m.p....m...m"
			  "...........m...m"
			  "..........mm..m.";

/* What a character of the tables says. */
struct layout {
	uint8_t prefixes;	/* those it may have; 0: left to Zydis */
	bool modrm;
	uint8_t imm;		/* bytes of it, or ... */
	bool sized;		/* 4, and with the prefix 66 alone 2 */
	uint8_t regs;		/* which values of ModRM.reg there may be */
};

static const struct layout layouts[128] = {
	['0'] = { PREFIX_NONE | PREFIX_66 },
	['k'] = { PREFIX_NONE },	/* transfers control, or traps */
	['s'] = { PREFIX_NONE | PREFIX_66 | PREFIX_F3 },	/* a string */
	['b'] = { PREFIX_NONE | PREFIX_66, .imm = 1 },
	['w'] = { PREFIX_NONE, .imm = 2 },
	['z'] = { PREFIX_NONE | PREFIX_66, .sized = true },
	['v'] = { PREFIX_NONE | PREFIX_66, .sized = true },	/* or 8 */
	['j'] = { PREFIX_NONE, .imm = 1 },
	['J'] = { PREFIX_NONE, .imm = 4 },
	['m'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0xff },
	['l'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0xff },  /* memory */
	['B'] = { PREFIX_NONE | PREFIX_66, true, .imm = 1, .regs = 0xff },
	['M'] = { PREFIX_NONE | PREFIX_66, true, .sized = true, .regs = 0xff },
	['c'] = { PREFIX_NONE | PREFIX_66, true, .imm = 1, .regs = 0x01 },
	['C'] = { PREFIX_NONE | PREFIX_66, true, .sized = true, .regs = 0x01 },
	['g'] = { PREFIX_NONE | PREFIX_66, true, .imm = 1, .regs = 0xbf },
	['h'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0xbf },
	/* test, if ModRM.reg is 0: it alone has a constant */
	['t'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0xfd },
	['T'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0xfd },
	['e'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0x03 },
	['i'] = { PREFIX_NONE | PREFIX_66, true, .regs = 0x57 },
	['p'] = { PREFIX_66, true, .regs = 0xff },
	['x'] = { PREFIX_ANY, true, .regs = 0xff },
	['X'] = { PREFIX_ANY, true, .imm = 1, .regs = 0xff },
	['y'] = { PREFIX_NONE | PREFIX_66 | PREFIX_F3, true, .regs = 0xff },
};

/* What each byte is as a prefix; 0: it is none. */
static const uint8_t prefix_of[256] = {
	[0x66] = PREFIX_66,	 [0xf3] = PREFIX_F3,
	[0xf2] = PREFIX_F2,	 [0x2e] = PREFIX_SEGMENT,
	[0x64] = PREFIX_SEGMENT, [0x65] = PREFIX_SEGMENT,
};

/* Read up to the opcode; the bytes read, or 0: left to Zydis. */
static unsigned
opcode_read(const uint8_t *code, struct quick *parts)
{
	unsigned at = 0;

	*parts = (struct quick){ .prefix = PREFIX_NONE };
	for (; at < PREFIXES_MAX && prefix_of[code[at]]; at++) {
		uint8_t prefix = prefix_of[code[at]];

		if (prefix == PREFIX_SEGMENT)
			continue;
		if (parts->prefix != PREFIX_NONE && parts->prefix != prefix)
			return 0;
		parts->prefix = prefix;
	}
	parts->prefixes = at;
	if ((code[at] & 0xf0) == REX)
		parts->rex = code[at++];
	parts->escaped = code[at] == ESCAPE;
	at += parts->escaped;
	parts->opcode = code[at++];
	return at;
}

/* Read the address, from ModRM at code[at] on; returns where it ends. */
static unsigned
address_read(const uint8_t *code, unsigned at, struct quick *parts)
{
	uint8_t mod = code[at] >> 6, base = code[at] & 7;

	parts->modrm = code[at++];
	if (mod == 3)
		return at;
	parts->relative = mod == 0 && base == BP;
	if (base == SP)
		base = code[at++] & 7;
	if (mod == 0)
		parts->disp_len = base == BP ? 4 : 0;
	else
		parts->disp_len = mod == 1 ? 1 : 4;
	parts->based = mod != 0 || base != BP;
	parts->disp = (uint8_t)at;
	return at + parts->disp_len;
}

uint8_t
quick_width(const struct quick *parts)
{
	if (parts->rex & REX_W)
		return 8;
	return parts->prefix == PREFIX_66 ? 2 : 4;
}

uint64_t
quick_constant(const uint8_t *code, const struct quick *parts)
{
	const uint8_t *at = code + parts->len - parts->imm_len;
	uint64_t wide;
	int32_t imm;

	if (parts->imm_len == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&imm, at, sizeof(imm));
	return (uint64_t)imm;
}

static unsigned
imm_len(const struct layout *layout, char kind, const struct quick *parts)
{
	bool sized = layout->sized;

	if (kind == 'v' && parts->rex & REX_W)
		return 8;
	if (kind == 't' || kind == 'T') {
		if (parts->modrm & 0x38)
			return 0;
		if (kind == 't')
			return 1;
		sized = true;
	}
	if (!sized)
		return layout->imm;
	return quick_width(parts) == 2 ? 2 : 4;
}

/* Kinds of instructions by their opcodes; others are plain. */
static const uint8_t kinds_one[256] = {
	[0x70 ... 0x7f] = INSN_BRANCH,
	[0xc2 ... 0xc3] = INSN_RETURN,
	[0xcc] = INSN_TRAP,
	[0xe8] = INSN_CALL,
	[0xe9] = INSN_JUMP,
	[0xeb] = INSN_JUMP,
};
static const uint8_t kinds_two[256] = {
	[0x05] = INSN_SYSCALL,
	[0x0b] = INSN_STOP,
	[0x80 ... 0x8f] = INSN_BRANCH,
};

static uint8_t
kind_of(const struct quick *parts)
{
	if (parts->escaped)
		return kinds_two[parts->opcode];
	if (parts->opcode == 0xff && (parts->modrm & 0x38) == 0x10)
		return INSN_CALL_INDIRECT;
	if (parts->opcode == 0xff && (parts->modrm & 0x38) == 0x20)
		return INSN_JUMP_INDIRECT;
	return kinds_one[parts->opcode];
}

/* Where the jump of `len` bytes with an operand of imm bytes leads. */
static uint64_t
target_of(const uint8_t *code, unsigned len, unsigned imm, uint64_t addr)
{
	int32_t wide;

	if (imm == 1)
		return addr + len + (uint64_t)(int8_t)code[len - 1];
	memcpy(&wide, code + len - sizeof(wide), sizeof(wide));
	return addr + len + (uint64_t)wide;
}

bool
x86_parts(const uint8_t *code, size_t size, struct quick *parts)
{
	const struct layout *layout;
	unsigned len;
	char shape;

	if (size < LEN_MAX || !(len = opcode_read(code, parts)))
		return false;
	shape = parts->escaped ? two[parts->opcode] : one[parts->opcode];
	layout = &layouts[(uint8_t)shape];
	if (!(layout->prefixes & parts->prefix))
		return false;
	parts->has_modrm = layout->modrm;
	if (layout->modrm) {
		if (!(layout->regs >> (code[len] >> 3 & 7) & 1) ||
		    (shape == 'l' && code[len] >> 6 == 3))
			return false;
		len = address_read(code, len, parts);
	}
	parts->imm_len = (uint8_t)imm_len(layout, shape, parts);
	parts->direct = shape == 'j' || shape == 'J';
	parts->kind = kind_of(parts);
	parts->len = (uint8_t)(len + parts->imm_len);
	return parts->len <= LEN_MAX &&
	       (parts->kind == INSN_PLAIN || !parts->prefixes);
}

/* May the instruction's value be the address of code: lea, or a constant? */
static bool
mentions(const struct quick *parts)
{
	if (parts->kind != INSN_PLAIN || parts->escaped)
		return false;
	return parts->imm_len >= 4 ||
	       (parts->opcode == 0x8d && (parts->relative || !parts->based));
}

bool
x86_quick(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	struct quick parts;

	if (!x86_parts(code, size, &parts))
		return false;
	*insn = (struct insn){
		.addr = addr,
		.len = parts.len,
		.kind = parts.kind,
		.target = parts.direct ? target_of(code, parts.len,
						   parts.imm_len, addr) :
					 0,
		.mentions = mentions(&parts),
	};
	return true;
}

/* May it copy rsp to rbp?  r13 has the bits of rbp in ModRM. */
static bool
sets_frame(const struct quick *parts)
{
	uint8_t reg = parts->modrm >> 3 & 7, rm = parts->modrm & 7;

	if (parts->escaped)	/* movzx, movsx */
		return (parts->opcode & 0xf6) == 0xb6 && reg == BP;
	switch (parts->opcode) {
	case 0x88:		/* mov to rm */
	case 0x89:
		return parts->modrm >> 6 == 3 && rm == BP;
	case 0x63:		/* movsxd */
	case 0x8a:		/* mov */
	case 0x8b:
	case 0x8d:		/* lea */
		return reg == BP;
	default:
		return false;
	}
}

bool
x86_addressless(const uint8_t *code, size_t size)
{
	struct quick parts;

	if (!x86_parts(code, size, &parts) || parts.kind != INSN_PLAIN)
		return false;
	/* They move a constant. */
	if (!parts.escaped &&
	    (parts.opcode >> 4 == 0xb || parts.opcode >> 1 == 0xc6 >> 1))
		return false;
	if (!parts.has_modrm)
		return true;
	if (sets_frame(&parts))
		return false;
	return parts.modrm >> 6 == 3 || (parts.based && !parts.relative);
}
