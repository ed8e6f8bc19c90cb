/*
 * Tells whether an x86-64 instruction does the same in a relocated function,
 * and which flags it reads and writes.  Never writes code.  Decoding in full
 * takes long, so the result for an opcode is kept.
 */
#include <string.h>

#include "arch/x86_64/quick.h"
#include "arch/x86_64/x86.h"

/* Does it shift by a constant other than 0, which would keep the flags? */
static bool
shift_certain(const ZydisDecodedInstruction *zinsn)
{
	switch (zinsn->opcode) {
	case 0xc0:
	case 0xc1:
		return zinsn->raw.imm[0].value.u & 0x1f;
	case 0xd0:
	case 0xd1:
		return true;
	default:
		return false;
	}
}

/* Does it always write the flags that Zydis says it modifies? */
static bool
flags_certain(const ZydisDecodedInstruction *zinsn)
{
	const ZydisInstructionAttributes repeats = ZYDIS_ATTRIB_HAS_REP |
						   ZYDIS_ATTRIB_HAS_REPE |
						   ZYDIS_ATTRIB_HAS_REPNE;

	switch (zinsn->mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return shift_certain(zinsn);
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return false;
	default:
		return !(zinsn->attributes & repeats);
	}
}

/*
 * The flags that become undefined, but that every CPU writes: AF by AND, OR,
 * XOR and TEST.
 */
static uint32_t
flags_undefined_written(const ZydisDecodedInstruction *zinsn)
{
	switch (zinsn->mnemonic) {
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
		return ZYDIS_CPUFLAG_AF;
	default:
		return 0;
	}
}

/*
 * Enter the flags read and written.  Any other flag that becomes undefined does
 * not count as written: the CPU may leave it alone.
 */
static void
motion_flags(const ZydisDecodedInstruction *zinsn, enum insn_kind kind,
	     struct motion *motion)
{
	const ZydisAccessedFlags *flags = zinsn->cpu_flags;

	/* The kernel saves all flags, and syscall copies them to r11. */
	if (kind == INSN_SYSCALL || kind == INSN_TRAP) {
		motion->reads = X86_FLAGS;
		return;
	}
	if (!flags)
		return;
	motion->reads = flags->tested & X86_FLAGS;
	if (flags_certain(zinsn))
		motion->writes = (((flags->modified | flags->set_0 |
				    flags->set_1) &
				   ~flags->undefined) |
				  flags_undefined_written(zinsn)) &
				 X86_FLAGS;
}

static int
motion_branch(const ZydisDecodedInstruction *zinsn, struct motion *motion)
{
	/* CPUs differ in where a branch with a 0x66 prefix goes. */
	if (zinsn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return -1;
	motion->cond = zinsn->opcode & 0xf;
	switch (zinsn->mnemonic) {
	case ZYDIS_MNEMONIC_XBEGIN:
		motion->cond = COND_XBEGIN;
		break;
	case ZYDIS_MNEMONIC_JCXZ:
		return -1;
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		motion->cond |= COND_COUNT;
		if (zinsn->address_width != 64)
			motion->cond |= COND_SHORT;
		break;
	default:
		break;
	}
	return 0;
}

/* Enter an address among the operands, relative to the pc or absolute. */
static int
motion_refers(const ZydisDecodedInstruction *zinsn, uint64_t addr,
	      struct motion *motion)
{
	uint64_t disp = (uint64_t)zinsn->raw.disp.value;

	if (zinsn->attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		if (zinsn->raw.disp.size != 32 || zinsn->address_width != 64)
			return -1;
		motion->disp = zinsn->raw.disp.offset;
		motion->refers = addr + zinsn->length + disp;
		/* mov r, r/m */
		if (zinsn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		    zinsn->opcode == 0x8b)
			motion->loads = zinsn->operand_width / 8;
	} else if (zinsn->raw.imm[0].size >= 32) {
		motion->refers = zinsn->raw.imm[0].value.u;
	} else if (zinsn->raw.disp.size == 32) {
		motion->refers = disp;
	}
	return 0;
}

/* Is a call's operand relative to rsp, or in it?  REX.B makes that r12. */
static bool
call_by_stack(const ZydisDecodedInstruction *zinsn)
{
	return zinsn->raw.modrm.rm == 4 && !zinsn->raw.rex.B &&
	       (zinsn->raw.modrm.mod == 3 || zinsn->raw.sib.base == 4);
}

int
x86_motion_full(const uint8_t *code, size_t size, uint64_t addr,
		struct motion *motion)
{
	ZydisDecodedInstruction zinsn;
	enum insn_kind kind;

	if (x86_decode(code, size, &zinsn, NULL))
		return -1;
	*motion = (struct motion){ 0 };
	kind = x86_kind(&zinsn);
	motion_flags(&zinsn, kind, motion);
	motion->lands = zinsn.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
	motion->idle = zinsn.mnemonic == ZYDIS_MNEMONIC_NOP || motion->lands;
	switch (kind) {
	case INSN_BRANCH:
		return motion_branch(&zinsn, motion);
	case INSN_JUMP:
		return zinsn.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE ? -1 : 0;
	case INSN_CALL:
		return 0;
	case INSN_JUMP_INDIRECT:
		motion->loaded = zinsn.raw.modrm.mod != 3;
		return motion_refers(&zinsn, addr, motion);
	case INSN_CALL_INDIRECT:
		motion->stack = call_by_stack(&zinsn);
		/* fallthrough */
	default:
		return motion_refers(&zinsn, addr, motion);
	}
}

/* ---- what is known of an opcode */

enum { KEY_BITS = 13, KEYS = 4 << KEY_BITS };

/* Whether the motion depends on more than motion_key and an address. */
static bool
motion_varies(const uint8_t *code, const struct quick *parts)
{
	bool shift = !parts->escaped && parts->opcode >> 1 == 0xc0 >> 1;
	bool nop = !parts->escaped && parts->opcode == 0x90;

	/* A shift by 0 keeps the flags; what it shifts by is its last byte. */
	return (nop && parts->rex) ||
	       (shift && !(code[parts->len - 1] & 0x1f)) ||
	       (parts->kind == INSN_CALL_INDIRECT && (parts->modrm & 7) == 4);
}

/*
 * The part of an instruction that decides its whole motion but for the address
 * it refers to: the prefix that chooses it and the opcode, with ModRM.reg, and
 * whether there is an operand in memory.  -1 if the motion depends on more.
 */
static int
motion_key(const uint8_t *code, const struct quick *parts)
{
	int key = __builtin_ctz(parts->prefix) << KEY_BITS |
		  (parts->escaped << 8 | parts->opcode) << 4;

	if (motion_varies(code, parts))
		return -1;
	if (!parts->has_modrm)
		return key;
	return key | (parts->modrm >> 3 & 7) << 1 | (parts->modrm >> 6 == 3);
}

/* Enter the address that the instruction refers to, as motion_refers does. */
static void
motion_address(const uint8_t *code, uint64_t addr, const struct quick *parts,
	       struct motion *motion)
{
	bool load = !parts->escaped && parts->opcode == 0x8b;
	int32_t disp = 0;

	if (parts->disp_len == sizeof(disp))
		memcpy(&disp, code + parts->disp, sizeof(disp));
	motion->disp = 0;
	motion->loads = 0;
	motion->refers = (uint64_t)disp;
	if (parts->relative) {
		motion->disp = parts->disp;
		motion->refers += addr + parts->len;
		if (load)
			motion->loads = quick_width(parts);
	} else if (parts->imm_len >= 4 && !parts->direct) {
		motion->refers = quick_constant(code, parts);
	}
}

int
x86_motion(const uint8_t *code, size_t size, uint64_t addr,
	   struct motion *motion)
{
	static struct motion motions[KEYS];
	static bool known[KEYS];
	struct quick parts;
	int key = -1;

	if (x86_parts(code, size, &parts))
		key = motion_key(code, &parts);
	if (key >= 0 && known[key]) {
		*motion = motions[key];
		motion_address(code, addr, &parts, motion);
		return 0;
	}
	if (x86_motion_full(code, size, addr, motion))
		return -1;
	if (key >= 0) {
		motions[key] = *motion;
		known[key] = true;
	}
	return 0;
}
