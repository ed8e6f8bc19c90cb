/*
 * Encodes the fragments of a relocated function: instructions at another
 * address, operations of probes, and jumps between them.  Refuses targets
 * that are out of reach.  Never writes a process's memory.
 *
 * Encodings: Intel SDM volume 2.  No fragment but FRAGMENT_CALL adds an access
 * to the stack.
 */
#include <string.h>

#include "arch/x86_64/x86.h"
#include "util/fail.h"

enum {
	JUMP_SHORT = 2,
	JUMP_LONG = 5,
	LOCKED_LEN = 8,		/* lock op disp32(%rip), likewise */
	LEA_LEN = 3,		/* without the displacement */
	PUSH_LEN = 6,		/* push disp32(%rip) */
};

static bool
fits_int8(uint64_t v)
{
	return (int64_t)v == (int8_t)v;
}

/* The length of a branch that is no jcc and has one form only. */
static unsigned
odd_len(const struct fragment *fragment)
{
	if (fragment->cond & COND_XBEGIN)
		return 6;
	return fragment->cond & COND_SHORT ? 3 : 2;
}

static bool
is_jcc(const struct fragment *fragment)
{
	return !(fragment->cond & (COND_COUNT | COND_XBEGIN));
}

static unsigned
branch_size(const struct fragment *fragment)
{
	unsigned jump = fragment->wide ? JUMP_LONG : JUMP_SHORT;

	if (is_jcc(fragment))
		return fragment->wide ? 6 : 2;
	if (fragment->kind == FRAGMENT_BRANCH_NOT)
		return odd_len(fragment) + jump;
	if (fragment->cond & COND_XBEGIN || !fragment->wide)
		return odd_len(fragment);
	return odd_len(fragment) + JUMP_SHORT + JUMP_LONG;
}

static unsigned
call_size(const struct fragment *fragment)
{
	return PUSH_LEN + (fragment->direct ? JUMP_LONG : fragment->len) + 8;
}

/* Is it 1 or -1, which inc and dec add?  These leave the carry flag alone. */
static bool
is_unit(int32_t operand)
{
	return operand == 1 || operand == -1;
}

uint32_t
x86_probe_flags(enum probe_op op, int32_t operand)
{
	if (probe_records(op))
		return 0;
	return is_unit(operand) ? X86_INC_FLAGS : X86_FLAGS;
}

static unsigned
probe_size(const struct fragment *fragment)
{
	unsigned imm = is_unit(fragment->operand) ?
			       0 :
			       x86_imm_size(fragment->operand);

	if (probe_records(fragment->op))
		return x86_record_size(fragment->op);
	switch ((enum probe_form)fragment->form) {
	case PROBE_THREAD:
		return GS_LEN + imm;
	case PROBE_THREAD_KEEP:
		return 4 * GS_LEN + LEA_LEN + x86_imm_size(fragment->operand);
	case PROBE_LOCKED:
		break;
	}
	return LOCKED_LEN + imm;
}

unsigned
x86_fragment_size(const struct fragment *fragment)
{
	switch ((enum fragment_kind)fragment->kind) {
	case FRAGMENT_NOTHING:
		return 0;
	case FRAGMENT_INSN:
		return fragment->len;
	case FRAGMENT_PROBE:
		return probe_size(fragment);
	case FRAGMENT_GO:
		return fragment->wide ? JUMP_LONG : JUMP_SHORT;
	case FRAGMENT_BRANCH:
	case FRAGMENT_BRANCH_NOT:
		return branch_size(fragment);
	case FRAGMENT_CALL:
		return call_size(fragment);
	case FRAGMENT_DISPATCH:
		return x86_dispatch_size(fragment);
	case FRAGMENT_INDEX:
		return x86_index_size(fragment);
	case FRAGMENT_ALIGN:
		break;
	}
	return fragment->size;
}

bool
x86_fragment_reaches(const struct fragment *fragment, int64_t distance)
{
	return fragment->kind == FRAGMENT_INDEX ||
	       (fragment->kind == FRAGMENT_BRANCH &&
		fragment->cond & COND_XBEGIN) ||
	       fits_int8((uint64_t)distance - x86_fragment_size(fragment));
}

/* Write a displacement of `size` bytes, which ends at va, to `to`. */
static int
rel_put(uint8_t *p, unsigned size, uint64_t va, uint64_t to)
{
	uint64_t rel = to - va;

	if (size == 1 ? !fits_int8(rel) : !fits_int32(rel))
		return -1;
	memcpy(p, &rel, size);
	return 0;
}

int
x86_jump_write(uint64_t from, uint64_t to, unsigned len, uint8_t *bytes)
{
	bytes[0] = len == JUMP_LONG ? 0xe9 : 0xeb;
	return rel_put(bytes + 1, len - 1, from + len, to);
}

int
x86_call_write(uint64_t from, uint64_t to, uint8_t *bytes)
{
	bytes[0] = 0xe8;
	return rel_put(bytes + 1, 4, from + JUMP_LONG, to);
}

/* Write a branch that is no jcc, at va, to `to`. */
static int
odd_put(const struct fragment *fragment, uint64_t va, uint64_t to, uint8_t *p)
{
	unsigned len = odd_len(fragment);

	if (fragment->cond & COND_XBEGIN) {
		memcpy(p, (uint8_t[]){ 0xc7, 0xf8 }, 2);
		return rel_put(p + 2, 4, va + len, to);
	}
	if (fragment->cond & COND_SHORT)
		*p++ = 0x67;
	p[0] = (uint8_t)(0xe0 | (fragment->cond & 0xf));
	return rel_put(p + 1, 1, va + len, to);
}

static int
branch_write(const struct fragment *fragment, const struct fragment_at *at,
	     uint8_t *p)
{
	bool inverted = fragment->kind == FRAGMENT_BRANCH_NOT;
	uint8_t cond = fragment->cond ^ inverted;
	unsigned len = odd_len(fragment), size = fragment->size;
	uint64_t end = at->va + size;

	if (is_jcc(fragment) && !fragment->wide) {
		p[0] = 0x70 | cond;
		return rel_put(p + 1, 1, end, at->to);
	}
	if (is_jcc(fragment)) {
		p[0] = 0x0f;
		p[1] = 0x80 | cond;
		return rel_put(p + 2, 4, end, at->to);
	}
	if (size == len)
		return odd_put(fragment, at->va, at->to, p);
	if (inverted) {
		must(odd_put(fragment, at->va, end, p) == 0);
		return x86_jump_write(at->va + len, at->to, size - len,
				      p + len);
	}
	must(odd_put(fragment, at->va, at->va + len + JUMP_SHORT, p) == 0);
	must(x86_jump_write(at->va + len, end, JUMP_SHORT, p + len) == 0);
	return x86_jump_write(end - JUMP_LONG, at->to, JUMP_LONG,
			      p + len + JUMP_SHORT);
}

/* The opcode, and ModRM's reg, that add a number to memory. */
struct adding {
	uint8_t opcode, reg;
};

static struct adding
adding_of(int32_t operand)
{
	if (is_unit(operand))		/* inc, dec */
		return (struct adding){ 0xff, operand < 0 };
	return (struct adding){ x86_imm_size(operand) == 1 ? 0x83 : 0x81, 0 };
}

static int
keep_write(const struct fragment *fragment, const struct fragment_at *at,
	   uint8_t *p)
{
	enum { LOAD = 0x8b, STORE = 0x89, RAX = 0 };
	unsigned disp = x86_imm_size(fragment->operand);

	if (x86_gs_put(p, STORE, RAX, at->page.scratch) ||
	    x86_gs_put(p + GS_LEN, LOAD, RAX, at->slot))
		return -1;
	p += 2 * GS_LEN;		/* lea operand(%rax), %rax */
	memcpy(p, (uint8_t[]){ 0x48, 0x8d, disp == 1 ? 0x40 : 0x80 }, LEA_LEN);
	memcpy(p + LEA_LEN, &fragment->operand, disp);
	p += LEA_LEN + disp;
	if (x86_gs_put(p, STORE, RAX, at->slot) ||
	    x86_gs_put(p + GS_LEN, LOAD, RAX, at->page.scratch))
		return -1;
	return 0;
}

static int
probe_write(const struct fragment *fragment, const struct fragment_at *at,
	    uint8_t *p)
{
	struct adding adding = adding_of(fragment->operand);
	unsigned size = probe_size(fragment);

	if (probe_records(fragment->op))
		return x86_record_write(fragment, at, p);
	if (fragment->form == PROBE_THREAD_KEEP)
		return keep_write(fragment, at, p);
	if (fragment->form == PROBE_THREAD) {
		memcpy(p + GS_LEN, &fragment->operand, size - GS_LEN);
		return x86_gs_put(p, adding.opcode, adding.reg, at->slot);
	}
	memcpy(p + LOCKED_LEN, &fragment->operand, size - LOCKED_LEN);
	memcpy(p,
	       (uint8_t[]){ 0xf0, 0x48, adding.opcode,
			    (uint8_t)(0x05 | adding.reg << 3) },
	       4);
	return rel_put(p + 4, 4, at->va + size, at->slot);
}

/*
 * Push the original return address, which is stored behind the jump, and jump.
 * Like a call this leaves the flags alone.
 */
static int
call_write(const struct fragment *fragment, const struct fragment_at *at,
	   uint8_t *p)
{
	uint64_t back = at->original + fragment->len;
	unsigned jump = fragment->direct ? JUMP_LONG : fragment->len;
	uint64_t va = at->va + PUSH_LEN;
	uint32_t disp = jump;
	unsigned modrm;

	memcpy(p, (uint8_t[]){ 0xff, 0x35 }, 2);
	memcpy(p + 2, &disp, 4);
	p += PUSH_LEN;
	memcpy(p + jump, &back, 8);
	if (fragment->direct)
		return x86_jump_write(va, at->to, JUMP_LONG, p);
	memcpy(p, at->code, jump);
	for (modrm = 0; p[modrm] != 0xff; modrm++)
		;
	p[modrm + 1] ^= 6 << 3;		/* /2, call, to /4, jmp */
	return fragment->disp ?
		       x86_rebase(p, fragment->disp, at->original, va) :
		       0;
}

static void
align_write(unsigned size, uint8_t *p)
{
	static const uint8_t nops[][9] = {
		{ 0x90 },
		{ 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0x00 },
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	};

	while (size) {
		unsigned n = size < 9 ? size : 9;

		memcpy(p, nops[n - 1], n);
		p += n;
		size -= n;
	}
}

int
x86_fragment_write(const struct fragment *fragment,
		   const struct fragment_at *at, uint8_t *bytes)
{
	switch ((enum fragment_kind)fragment->kind) {
	case FRAGMENT_NOTHING:
		return 0;
	case FRAGMENT_INSN:
		memcpy(bytes, at->code, fragment->len);
		return fragment->disp ? x86_rebase(bytes, fragment->disp,
						   at->original, at->va) :
					0;
	case FRAGMENT_PROBE:
		return probe_write(fragment, at, bytes);
	case FRAGMENT_GO:
		return x86_jump_write(at->va, at->to, fragment->size, bytes);
	case FRAGMENT_BRANCH:
	case FRAGMENT_BRANCH_NOT:
		return branch_write(fragment, at, bytes);
	case FRAGMENT_CALL:
		return call_write(fragment, at, bytes);
	case FRAGMENT_DISPATCH:
		return x86_dispatch_write(fragment, at, bytes);
	case FRAGMENT_INDEX:
		return x86_index_write(fragment, at, bytes);
	case FRAGMENT_ALIGN:
		align_write(fragment->size, bytes);
		return 0;
	}
	return -1;
}

/* keep_write's instructions; the third, a store, commits. */
static enum fragment_inside
keep_inside(const struct fragment *fragment, unsigned offset)
{
	unsigned lea = LEA_LEN + x86_imm_size(fragment->operand);

	if (fragment->form != PROBE_THREAD_KEEP)
		return INSIDE_NOT;
	if (offset == GS_LEN || offset == 2 * GS_LEN ||
	    offset == 2 * GS_LEN + lea)
		return INSIDE_SAVED;
	return offset == 3 * GS_LEN + lea ? INSIDE_COMMITTED : INSIDE_NOT;
}

enum fragment_inside
x86_fragment_inside(const struct fragment *fragment, unsigned offset)
{
	unsigned len = odd_len(fragment);

	if (!offset)
		return INSIDE_START;
	switch ((enum fragment_kind)fragment->kind) {
	case FRAGMENT_PROBE:
		return probe_records(fragment->op) ?
			       x86_record_inside(fragment->op, offset) :
			       keep_inside(fragment, offset);
	case FRAGMENT_BRANCH:
	case FRAGMENT_BRANCH_NOT:
		return !is_jcc(fragment) && fragment->size > len &&
				       (offset == len ||
					(fragment->kind == FRAGMENT_BRANCH &&
					 offset == len + JUMP_SHORT)) ?
			       INSIDE_BETWEEN :
			       INSIDE_NOT;
	case FRAGMENT_CALL:
		return offset == PUSH_LEN ? INSIDE_BETWEEN : INSIDE_NOT;
	case FRAGMENT_DISPATCH:
		return x86_dispatch_inside(fragment, offset);
	case FRAGMENT_INDEX:
		return x86_index_inside(fragment, offset);
	case FRAGMENT_ALIGN:
		return INSIDE_BETWEEN;
	default:
		return INSIDE_NOT;
	}
}
