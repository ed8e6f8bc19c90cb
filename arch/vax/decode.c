/*
 * Takes one VAX instruction apart: an opcode, then one specifier for each
 * operand, which tells its own length.  Never tells what the instruction does.
 */
#include "arch/vax/regs.h"
#include "arch/vax/vax.h"

/* The instruction's bytes; those before `at` are read. */
struct bytes {
	const uint8_t *code;
	size_t size, at;
	uint64_t addr;
};

/* Read n bytes, little-endian; the value has the low 8 of them at most. */
static int
bytes_take(struct bytes *b, size_t n, uint64_t *value)
{
	if (b->size - b->at < n)
		return -1;
	*value = 0;
	for (size_t i = n < 8 ? n : 8; i-- > 0;)
		*value = *value << 8 | b->code[b->at + i];
	b->at += n;
	return 0;
}

static int
bytes_signed(struct bytes *b, size_t n, uint64_t *value)
{
	unsigned shift = 64 - 8 * (unsigned)n;

	if (bytes_take(b, n, value))
		return -1;
	*value = (uint64_t)((int64_t)(*value << shift) >> shift);
	return 0;
}

/* Read an offset that counts from the byte behind it; give the address. */
static int
bytes_relative(struct bytes *b, size_t n, uint64_t *value)
{
	if (bytes_signed(b, n, value))
		return -1;
	*value = (uint32_t)(b->addr + b->at + *value);
	return 0;
}

static uint8_t
type_size(char type)
{
	switch (type) {
	case 'b':
		return 1;
	case 'w':
		return 2;
	case 'l':
	case 'f':
		return 4;
	case 'q':
	case 'd':
	case 'g':
		return 8;
	default:	/* o, h */
		return 16;
	}
}

/* Modes 8 and 9, which are immediate and absolute if the register is PC. */
static int
increment_read(struct bytes *b, struct vax_operand *o, bool deferred)
{
	if (o->reg != VAX_PC) {
		o->mode = deferred ? VAX_INCREMENT_DEFERRED : VAX_INCREMENT;
		return 0;
	}
	o->mode = deferred ? VAX_ABSOLUTE : VAX_IMMEDIATE;
	return bytes_take(b, deferred ? 4 : o->size, &o->value);
}

/* Modes 10 to 15: a byte, word or longword displacement, deferred or not. */
static int
displacement_read(struct bytes *b, struct vax_operand *o, unsigned mode)
{
	size_t n = (size_t)1 << (mode - 0xa) / 2;
	bool deferred = mode & 1;

	if (o->reg == VAX_PC) {
		o->mode = deferred ? VAX_RELATIVE_DEFERRED : VAX_RELATIVE;
		return bytes_relative(b, n, &o->value);
	}
	o->mode = deferred ? VAX_DISPLACEMENT_DEFERRED : VAX_DISPLACEMENT;
	return bytes_signed(b, n, &o->value);
}

/* Read a specifier that is not indexed and whose first byte is `byte`. */
static int
specifier_read(struct bytes *b, struct vax_operand *o, uint8_t byte)
{
	static const uint8_t modes[] = {
		[5] = VAX_REGISTER,
		[6] = VAX_DEFERRED,
		[7] = VAX_DECREMENT,
	};
	unsigned mode = byte >> 4;

	o->reg = byte & 15;
	o->at = (uint8_t)b->at;
	if (mode < 4) {
		o->mode = VAX_LITERAL;
		o->value = byte;
		return o->access == 'r' ? 0 : -1;
	}
	if (mode == 8 || mode == 9)
		return increment_read(b, o, mode == 9);
	if (mode > 9)
		return displacement_read(b, o, mode);
	o->mode = modes[mode];
	if (o->reg == VAX_PC || (mode == 5 && o->access == 'a'))
		return -1;
	return 0;
}

static int
indexed_read(struct bytes *b, struct vax_operand *o, uint8_t byte)
{
	uint64_t base;

	o->index = byte & 15;
	if (o->index == VAX_PC || bytes_take(b, 1, &base) || base < 0x60 ||
	    base == 0x8f)
		return -1;
	return specifier_read(b, o, (uint8_t)base);
}

static int
operand_read(struct bytes *b, struct vax_operand *o)
{
	uint64_t byte;

	o->index = REG_NONE;
	o->size = type_size(o->type);
	if (o->access == 'b') {
		o->mode = VAX_BRANCH;
		o->at = (uint8_t)b->at;
		return bytes_relative(b, o->size, &o->value);
	}
	if (bytes_take(b, 1, &byte))
		return -1;
	if (byte >> 4 == 4)
		return indexed_read(b, o, (uint8_t)byte);
	return specifier_read(b, o, (uint8_t)byte);
}

int
vax_insn_read(const uint8_t *code, size_t size, uint64_t addr,
	      struct vax_insn *insn)
{
	struct bytes b = { .code = code, .size = size, .addr = addr };
	uint8_t len;
	const struct vax_op *op = vax_op_find(code, size, &len);

	if (!op)
		return -1;
	*insn = (struct vax_insn){ .op = op };
	b.at = len;
	for (const char *p = op->operands; *p; p += 2) {
		struct vax_operand *o = &insn->operands[insn->n++];

		o->access = p[0];
		o->type = p[1];
		if (operand_read(&b, o))
			return -1;
	}
	insn->len = (uint8_t)b.at;
	return 0;
}

uint32_t
vax_case_entries(const struct vax_insn *insn)
{
	const struct vax_operand *limit = &insn->operands[2];

	if (insn->op->kind != INSN_JUMP_INDIRECT || insn->n != 3 ||
	    (limit->mode != VAX_LITERAL && limit->mode != VAX_IMMEDIATE) ||
	    limit->value >= VAX_BRANCHES_MAX)
		return 0;
	return (uint32_t)limit->value + 1;
}
