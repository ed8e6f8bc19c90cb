/*
 * The VAX arch: its table, and decoding for flow graphs.  It neither emulates
 * nor relocates instructions.
 */
#include <elf.h>

#include "arch/vax/regs.h"
#include "arch/vax/vax.h"
#include "util/mem.h"

/*
 * Does this operand of JMP, JSB, CALLS or CALLG give a fixed address?  That of
 * CALLS and CALLG is an entry mask's.
 */
static bool
destination_known(const struct vax_operand *o)
{
	return o->index == REG_NONE &&
	       (o->mode == VAX_ABSOLUTE || o->mode == VAX_RELATIVE);
}

static void
destination_set(const struct vax_insn *vax, struct insn *insn)
{
	const struct vax_operand *last;

	if (!vax->n)
		return;
	last = &vax->operands[vax->n - 1];
	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_CALL:
		if (last->mode == VAX_BRANCH || destination_known(last))
			insn->target = last->value;
		else
			insn->kind = insn->kind == INSN_JUMP ?
					     INSN_JUMP_INDIRECT :
					     INSN_CALL_INDIRECT;
		break;
	}
}

/* Refuses a CASE of unknown length: nothing behind it could be decoded. */
static int
vax_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	struct vax_insn vax;
	uint32_t entries;

	if (vax_insn_read(code, size, addr, &vax))
		return -1;
	*insn = (struct insn){
		.addr = addr,
		.len = vax.len,
		.kind = vax.op->kind,
	};
	destination_set(&vax, insn);
	if (vax.op->kind != INSN_JUMP_INDIRECT)
		return 0;
	entries = vax_case_entries(&vax);
	if (!entries || (size - vax.len) / 2 < entries)
		return -1;
	insn->len += 2 * entries;
	return 0;
}

/*
 * The targets of a CASE: its table has offsets from the table's start; control
 * goes past the table if the selector is out of range.
 */
static int
vax_targets(const uint8_t *code, size_t size, uint64_t addr, uint64_t **targets,
	    size_t *n)
{
	struct vax_insn vax;
	const uint8_t *p;
	uint32_t entries;

	if (vax_insn_read(code, size, addr, &vax))
		return -1;
	entries = vax_case_entries(&vax);
	if (!entries || (size - vax.len) / 2 < entries)
		return -1;
	p = code + vax.len;
	for (uint32_t i = 0; i < entries; i++, p += 2)
		*vec_push(*targets, *n) =
			(uint32_t)(addr + vax.len +
				   (uint64_t)(int16_t)(p[0] | p[1] << 8));
	*vec_push(*targets, *n) = (uint32_t)(addr + vax.len + 2 * entries);
	return 0;
}

/* A function begins with its entry mask. */
static uint64_t
vax_first(uint64_t addr)
{
	return addr + 2;
}

/* MOVPSL reads the T bit; BISPSW and BICPSW may change it. */
bool
vax_step_shows(const uint8_t *code, size_t size)
{
	uint8_t len;
	const struct vax_op *op = vax_op_find(code, size, &len);

	return op && len == 1 &&
	       (code[0] == 0xdc || code[0] == 0xb8 || code[0] == 0xb9);
}

/*
 * The trap is LDPCTX, which is privileged and whose fault leaves the condition
 * codes alone (Bishop 1987).
 */
const struct arch arch_vax = {
	.name = "VAX",
	.machine = EM_VAX,
	.elf_class = ELFCLASS32,
	.trap = { 0x06 },
	.trap_len = 1,
	.trap_pc = 0,
	.syscall = { 0xbc },
	.syscall_len = 1,
	.reg_pc = VAX_PC,
	.reg_sp = VAX_SP,
	.reg_fp = VAX_FP,
	.decode = vax_decode,
	.targets = vax_targets,
	.print = vax_print,
	.first = vax_first,
	.step_shows = vax_step_shows,
};
