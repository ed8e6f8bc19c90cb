/*
 * Makes up x86-64 instructions, and registers for them.
 */
#include "tests/lib/insns.h"

/* Values at the edges of what carries and overflows come often. */
static uint64_t
random_value(void)
{
	static const uint64_t edges[] = {
		0,
		1,
		2,
		0x7f,
		0x80,
		0xff,
		0x7fff,
		0x8000,
		0xffff,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x7fffffffffffffff,
		0x8000000000000000,
		UINT64_MAX,
		0x0f,
		0x10,
	};

	if (random_below(2))
		return random_u64();
	return edges[random_below(sizeof(edges) / sizeof(*edges))];
}

enum x86_reg
encoded_reg(int n)
{
	static const uint8_t regs[16] = {
		X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP,
		X86_RSI, X86_RDI, X86_R8,  X86_R9,  X86_R10, X86_R11,
		X86_R12, X86_R13, X86_R14, X86_R15,
	};

	return regs[n];
}

static void
put(struct made *made, uint64_t value, unsigned bytes)
{
	memcpy(made->code + made->len, &value, bytes);
	made->len += bytes;
}

/* Modrm fields of a memory operand; disp is filled in by put_modrm. */
struct operand {
	uint8_t mod, rm;	/* rm 0-15 */
	uint8_t index, scale, base;	/* of the SIB byte, 0-15, if rm is 4 */
	bool sib, rip;
};

static void
memory_choose(struct made *made, struct operand *op)
{
	do {
		op->mod = (uint8_t)random_below(3);
		op->rm = (uint8_t)random_below(16);
		op->sib = (op->rm & 7) == 4;
		op->rip = op->mod == 0 && (op->rm & 7) == 5;
		op->index = (uint8_t)random_below(16);
		op->base = (uint8_t)random_below(16);
		op->scale = (uint8_t)random_below(4);
		/* rsp keeps pointing to the stack; see modrm_disp. */
		if (made->shape->flags & STACK && op->sib && op->base == 4) {
			op->mod = 1;
			op->index = 4;
		}
		made->index = op->sib && op->index != 4 ? op->index : -1;
		made->base = op->sib ? op->base : op->rm;
		if (op->rip || (op->sib && op->mod == 0 && (op->base & 7) == 5))
			made->base = -1;
		made->scale = 1 << op->scale;
		/* The target gives the value of a jump's register. */
	} while (made->base >= 0 && made->base == made->index);
	if (op->sib)	/* rex.b extends the base, not rm */
		op->rm = 4 | (op->base & 8);
}

static void
disp_choose(struct made *made, const struct operand *op, unsigned imm)
{
	made->ea = NATIVE_SCRATCH + 64 + random_below(128);
	if (op->mod == 1)
		made->disp = (int8_t)random_u64();
	else if (op->mod == 2 || op->rip || made->base < 0)
		made->disp = (int32_t)random_u64();
	else
		made->disp = 0;
	if (made->base < 0) {
		made->index_value = random_below(1 << 20);
		made->disp = (int64_t)made->ea;
		if (made->index >= 0)
			made->disp -= (int64_t)made->index_value * made->scale;
		if (op->rip)
			made->disp -= (int64_t)(made->va + made->len + 4 + imm);
	} else if (made->shape->flags & STACK && made->base == 4) {
		made->disp = (int64_t)random_below(64) - 32;
		made->ea = made->rsp + (uint64_t)made->disp;
	}
}

static void
put_modrm(struct made *made, const struct operand *op, unsigned reg,
	  unsigned imm)
{
	put(made, (uint8_t)(op->mod << 6 | (reg & 7) << 3 | (op->rm & 7)), 1);
	if (op->mod == 3)
		return;
	if (op->sib)
		put(made,
		    (uint8_t)(op->scale << 6 | (op->index & 7) << 3 |
			      (op->base & 7)),
		    1);
	disp_choose(made, op, imm);
	if (op->mod == 1)
		put(made, (uint64_t)made->disp, 1);
	else if (op->mod == 2 || made->base < 0)
		put(made, (uint64_t)made->disp, 4);
}

static unsigned
imm_size(const struct made *made)
{
	switch (made->shape->imm) {
	case IMM_Z:
		return made->size == 8 ? 4 : made->size;
	case IMM_V:
		return made->size;
	default:
		return made->shape->imm;
	}
}

static void
put_opcode(struct made *made, unsigned rex, unsigned reg)
{
	const struct shape *shape = made->shape;

	if (made->size == 2)
		put(made, 0x66, 1);
	if (made->size == 8 && !(shape->flags & FIXED_SIZE))
		rex |= 8;
	if (rex || !random_below(4))	/* an empty REX changes ah to spl */
		put(made, 0x40 | rex, 1);
	if (shape->map)
		put(made, shape->map, 1);
	put(made,
	    shape->opcode - (made->size == 1) +
		    (shape->form == OPREG ? reg & 7 : 0),
	    1);
}

static void
made_modrm(struct made *made)
{
	const struct shape *shape = made->shape;
	struct operand op = { .mod = 3, .rm = (uint8_t)random_below(16) };
	unsigned reg = shape->form == MODRM ? random_below(16) : shape->digit;
	unsigned rex;

	made->memory = shape->flags & ONLY_MEM ||
		       (!(shape->flags & NO_MEM) && random_below(2));
	if (made->memory)
		memory_choose(made, &op);
	else if (shape->flags & GOES) {
		if (op.rm == 4)		/* call *%rsp would write to code */
			op.rm = 5;
		made->target_reg = op.rm;
	}
	if (made->memory && made->base >= 0 && !random_below(8)) {
		made->segment = random_below(2) ? 0x64 : 0x65;
		/* With a segment rsp would have to point elsewhere. */
		if (shape->flags & STACK && made->base == 4)
			made->segment = 0;
		else
			put(made, made->segment, 1);
	}
	rex = op.rm >> 3 | (op.sib ? op.index >> 3 : 0) << 1 |
	      (shape->form == MODRM ? reg >> 3 : 0) << 2;
	put_opcode(made, rex, 0);
	put_modrm(made, &op, reg, imm_size(made));
}

/* Choose a target clear of the instruction and the landing behind it. */
static void
made_rel(struct made *made)
{
	unsigned size = made->shape->imm;
	int64_t rel;

	put_opcode(made, 0, 0);
	do {
		rel = size == 1 ? (int8_t)random_u64() :
				  (int64_t)random_below(2048) - 1024;
	} while (rel > -32 && rel < NATIVE_LANDING);
	put(made, (uint64_t)rel, size);
	made->target = made->va + made->len + (uint64_t)rel;
}

void
make_insn(struct made *made, const struct shape *shape, uint64_t va)
{
	unsigned reg = random_below(16);

	*made = (struct made){
		.va = va,
		.shape = shape,
		.base = -1,
		.index = -1,
		.target_reg = -1,
		.target = NATIVE_CODE + NATIVE_CODE_SIZE - 64,
		.rsp = NATIVE_SCRATCH + 64 + random_below(128),
	};
	do
		made->size = 1 << random_below(4);
	while (!(shape->sizes & made->size));
	switch (shape->form) {
	case MODRM:
	case DIGIT:
		made_modrm(made);
		break;
	case REL:
		made_rel(made);
		return;
	case OPREG:
		put_opcode(made, reg >> 3, reg);
		break;
	case FIXED:
		put_opcode(made, 0, 0);
		break;
	}
	put(made, random_value(), imm_size(made));
}

void
make_state(const struct made *made, struct regs *regs)
{
	const uint64_t arithmetic = X86_CF | X86_PF | X86_AF | X86_ZF | X86_SF |
				    X86_OF;
	uint64_t *r = regs->r, base;

	for (int i = 0; i < 16; i++)
		r[encoded_reg(i)] = random_value();
	/*
	 * On some virtual machines (PVM) an interrupt while the stack pointer is
	 * not canonical ends the process.
	 */
	r[X86_RSP] &= INT64_MAX >> 16;
	r[X86_EFLAGS] = 0x202 | (random_u64() & arithmetic);
	for (int i = 0; i < NATIVE_SCRATCH_SIZE; i += 8) {
		uint64_t value = random_value();

		memcpy(native_scratch + i, &value, 8);
	}
	if (made->shape->flags & LOOPS)
		r[X86_RCX] = random_below(3);
	if (made->shape->flags & STACK)
		r[X86_RSP] = made->rsp;
	if (made->shape->opcode == 0xc9)	/* leave */
		r[X86_RBP] = made->rsp;
	if (made->index >= 0 && made->base < 0)
		r[encoded_reg(made->index)] = made->index_value;
	if (made->base >= 0) {
		base = made->ea - (uint64_t)made->disp;
		if (made->index >= 0)
			base -= r[encoded_reg(made->index)] *
				(unsigned)made->scale;
		if (made->segment == 0x64)
			base -= r[X86_FS_BASE];
		if (made->segment == 0x65)
			base -= r[X86_GS_BASE];
		r[encoded_reg(made->base)] = base;
	}
	if (!(made->shape->flags & GOES))
		return;
	if (made->target_reg >= 0)
		r[encoded_reg(made->target_reg)] = made->target;
	else		/* jmp *mem, call *mem, ret */
		memcpy(native_scratch - NATIVE_SCRATCH +
			       (made->memory ? made->ea : made->rsp),
		       &made->target, 8);
}
