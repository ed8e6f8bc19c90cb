/*
 * Encodes dispatches: an indirect jump that counts where it goes.  The code
 * looks up the jump's target in the fragment's map, adds to the counter with the
 * target's number, and goes to the target.  Builds no map.
 *
 * The code saves rax and rcx in scratch slots of the thread page, and changes
 * flags.  The first instruction reads the jump's operand and does
 * nothing else: if that faults, it is as if the jump had.
 */
#include <string.h>

#include "arch/x86_64/x86.h"

enum { MISS_LEN = 2 * GS_LEN };

/* As ModRM numbers them. */
enum { RAX, RCX };

/* The instructions of a dispatch, in their order. */
enum step {
	STEP_TOUCH,		/* cmp %rax, the operand */
	STEP_SAVE_RAX,
	STEP_SAVE_RCX,
	STEP_LOAD,		/* mov the operand, %rax */
	STEP_KEEP,		/* mov %rax, %gs:SCRATCH_TARGET */
	STEP_BASE,		/* sub the base, %rax */
	STEP_FACTOR,		/* imul the factor, %eax, %ecx */
	STEP_SHIFT,		/* shr 32 - bits, %ecx */
	STEP_HASH,		/* lea the hash, %rax */
	STEP_NUMBER,		/* movzwl (%rax, %rcx, 2), %ecx */
	STEP_TARGETS,		/* lea the targets, %rax */
	STEP_TARGET,		/* mov (%rax, %rcx, 8), %rax */
	STEP_COMPARE,		/* cmp %gs:SCRATCH_TARGET, %rax */
	STEP_MISS,		/* jne STEP_MISS_RAX */
	STEP_ADD,		/* add the operand, slots(, %rcx, 8) */
	STEP_RAX,
	STEP_RCX,
	STEP_JUMP,		/* jmp *%gs:SCRATCH_TARGET */
	STEP_MISS_RAX,
	STEP_MISS_RCX,
	STEPS
};

static unsigned
step_len(const struct fragment *fragment, enum step step)
{
	static const uint8_t lens[STEPS] = {
		[STEP_SAVE_RAX] = GS_LEN, [STEP_SAVE_RCX] = GS_LEN,
		[STEP_KEEP] = GS_LEN,	  [STEP_BASE] = 7,
		[STEP_FACTOR] = 6,	  [STEP_SHIFT] = 3,
		[STEP_HASH] = 7,	  [STEP_NUMBER] = 4,
		[STEP_TARGETS] = 7,	  [STEP_TARGET] = 4,
		[STEP_COMPARE] = GS_LEN,  [STEP_MISS] = 2,
		[STEP_RAX] = GS_LEN,	  [STEP_RCX] = GS_LEN,
		[STEP_JUMP] = GS_LEN - 1, [STEP_MISS_RAX] = GS_LEN,
		[STEP_MISS_RCX] = GS_LEN,
	};

	if (step == STEP_TOUCH || step == STEP_LOAD)
		return fragment->load;
	return step == STEP_ADD ? GS_LEN + x86_imm_size(fragment->operand) :
				  lens[step];
}

unsigned
x86_dispatch_size(const struct fragment *fragment)
{
	unsigned size = 0;

	for (enum step step = 0; step < STEPS; step++)
		size += step_len(fragment, step);
	return size;
}

enum fragment_inside
x86_dispatch_inside(const struct fragment *fragment, unsigned offset)
{
	unsigned at = 0;

	for (enum step step = 0; step < STEPS; step++) {
		if (at == offset)
			return step == STEP_TOUCH ? INSIDE_START :
			       step > STEP_ADD && step <= STEP_JUMP ?
						    INSIDE_COMMITTED :
						    INSIDE_SAVED;
		at += step_len(fragment, step);
	}
	return INSIDE_NOT;
}

/* Where ff /4 is behind the jump's prefixes, and REX, which is 0 if none. */
static size_t
jump_opcode(const uint8_t *code, size_t len, uint8_t *rex)
{
	size_t at = 0;

	/* Hints, and segments that do nothing in 64-bit code. */
	while (at < len &&
	       (code[at] == 0x3e || code[at] == 0x2e || code[at] == 0xf2))
		at++;
	*rex = 0;
	if (at < len && code[at] >> 4 == 4)
		*rex = code[at++];
	return at;
}

uint8_t
x86_dispatch_load(const uint8_t *code, size_t len)
{
	uint8_t rex;
	size_t at = jump_opcode(code, len, &rex);

	if (at + 2 > len || code[at] != 0xff || (code[at + 1] >> 3 & 7) != 4)
		return 0;
	return (uint8_t)(1 + len - at);
}

/*
 * Write an instruction at va with rax and the jump's operand, of load bytes.
 */
static int
operand_put(const struct fragment *fragment, const struct fragment_at *at,
	    uint8_t opcode, uint64_t va, uint8_t *p)
{
	unsigned modrm;
	uint64_t from;
	uint8_t rex;
	size_t i = jump_opcode(at->code, fragment->len, &rex);

	p[0] = 0x48 | (rex & 3);
	memcpy(p + 1, at->code + i, fragment->len - i);
	p[1] = opcode;
	p[2] &= (uint8_t)~0x38;
	modrm = p[2];
	if ((modrm & 0xc7) != 5)
		return 0;
	/* The displacement is relative to the instruction's end. */
	from = at->original + fragment->len - fragment->load;
	return x86_rebase(p, 3, from, va);
}

static int
gs_put(uint8_t *p, unsigned n, const uint8_t *opcode, uint64_t disp)
{
	memcpy(p, opcode, n);
	memcpy(p + n, &disp, 4);
	return fits_int32(disp) ? 0 : -1;
}

/* Move rax or rcx (by ModRM's reg) to or from a scratch slot. */
static int
scratch_put(uint8_t *p, const struct fragment_at *at, uint8_t opcode,
	    unsigned reg, unsigned slot)
{
	return x86_gs_put(p, opcode, reg, at->page.scratch + 8 * slot);
}

/* Write an instruction with rax and memory at `to`, at va. */
static int
rip_put(uint8_t *p, uint8_t opcode, uint64_t va, uint64_t to)
{
	uint64_t rel = to - va - 7;

	memcpy(p, (uint8_t[]){ 0x48, opcode, 0x05 }, 3);
	memcpy(p + 3, &rel, 4);
	return fits_int32(rel) ? 0 : -1;
}

static int
add_put(const struct fragment *fragment, const struct fragment_at *at,
	uint8_t *p)
{
	unsigned imm = x86_imm_size(fragment->operand);

	memcpy(p + GS_LEN, &fragment->operand, imm);
	return gs_put(p, 5,
		      (uint8_t[]){ 0x65, 0x48, imm == 1 ? 0x83 : 0x81, 0x04,
				   0xcd },
		      at->slot);
}

static int
bytes_put(uint8_t *p, const uint8_t *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return 0;
}

static int
step_put(const struct fragment *fragment, const struct fragment_at *at,
	 enum step step, uint64_t va, uint8_t *p)
{
	enum { STORE = 0x89, LOAD = 0x8b, COMPARE = 0x3b, LEA = 0x8d };
	const struct dispatch_map *map = at->map;

	switch (step) {
	case STEP_TOUCH:
		return operand_put(fragment, at, 0x39, va, p);
	case STEP_SAVE_RAX:
		return scratch_put(p, at, STORE, RAX, SCRATCH_REG);
	case STEP_SAVE_RCX:
		return scratch_put(p, at, STORE, RCX, SCRATCH_OTHER);
	case STEP_LOAD:
		return operand_put(fragment, at, LOAD, va, p);
	case STEP_KEEP:
		return scratch_put(p, at, STORE, RAX, SCRATCH_TARGET);
	case STEP_BASE:
		return rip_put(p, 0x2b, va, at->map_va);
	case STEP_FACTOR:
		memcpy(p + 2, &map->factor, 4);
		return bytes_put(p, (uint8_t[]){ 0x69, 0xc8 }, 2);
	case STEP_SHIFT:
		p[2] = (uint8_t)(32 - map->bits);
		return bytes_put(p, (uint8_t[]){ 0xc1, 0xe9 }, 2);
	case STEP_HASH:
		return rip_put(p, LEA, va,
			       at->map_va + UINT64_C(8) * map->ntargets);
	case STEP_NUMBER:
		return bytes_put(p, (uint8_t[]){ 0x0f, 0xb7, 0x0c, 0x48 }, 4);
	case STEP_TARGETS:
		return rip_put(p, LEA, va, at->map_va);
	case STEP_TARGET:
		return bytes_put(p, (uint8_t[]){ 0x48, 0x8b, 0x04, 0xc8 }, 4);
	case STEP_COMPARE:
		return scratch_put(p, at, COMPARE, RAX, SCRATCH_TARGET);
	case STEP_MISS:
		p[0] = 0x75;
		p[1] = (uint8_t)(x86_dispatch_size(fragment) - MISS_LEN -
				 (va + 2 - at->va));
		return 0;
	case STEP_ADD:
		return add_put(fragment, at, p);
	case STEP_RAX:
	case STEP_MISS_RAX:
		return scratch_put(p, at, LOAD, RAX, SCRATCH_REG);
	case STEP_RCX:
	case STEP_MISS_RCX:
		return scratch_put(p, at, LOAD, RCX, SCRATCH_OTHER);
	case STEP_JUMP:
		return gs_put(p, 4, (uint8_t[]){ 0x65, 0xff, 0x24, 0x25 },
			      at->page.scratch + 8 * SCRATCH_TARGET);
	case STEPS:
		break;
	}
	return -1;
}

int
x86_dispatch_write(const struct fragment *fragment,
		   const struct fragment_at *at, uint8_t *bytes)
{
	unsigned offset = 0;

	for (enum step step = 0; step < STEPS; step++) {
		if (step_put(fragment, at, step, at->va + offset,
			     bytes + offset))
			return -1;
		offset += step_len(fragment, step);
	}
	return 0;
}
