/*
 * Finds and applies the rules of the unwind tables (DWARF 5, 6.4).  libdw reads
 * the tables; this file evaluates the rules.  Most rules are simple and are
 * applied without libdw once found.
 */
#include "monitor/unwind/stack_rules.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { EXPR_DEPTH = 32 };

enum rule_kind { RULE_UNDEFINED, RULE_SAME, RULE_AT_CFA, RULE_EXPR };

static Dwarf_Frame *
row_get(Dwfl_Module *module, uint64_t va, Dwarf_Addr *bias)
{
	Dwarf_Frame *row;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, bias);

	if (cfi && !dwarf_cfi_addrframe(cfi, va - *bias, &row))
		return row;
	cfi = dwfl_module_dwarf_cfi(module, bias);
	if (cfi && !dwarf_cfi_addrframe(cfi, va - *bias, &row))
		return row;
	return NULL;
}

/* A row's expression for a register or the cfa, as libdw gives it. */
struct expr {
	Dwarf_Op *ops;
	size_t n;
	Dwarf_Op room[3];	/* what ops may point to */
	int64_t offset;		/* RULE_AT_CFA: from the cfa */
};

/*
 * How a register of the caller is found.  A register that functions preserve is
 * unchanged if the table says nothing of it.  A table that says it is
 * undefined looks the same here, but then nobody needs the register.
 */
static enum rule_kind
register_rule(const struct abi *abi, Dwarf_Frame *row, unsigned reg,
	      struct expr *expr)
{
	if (dwarf_frame_register(row, (int)reg, expr->room, &expr->ops,
				 &expr->n))
		return RULE_UNDEFINED;
	if (!expr->n)
		return abi->preserved & UINT32_C(1) << abi->dwarf[reg] ||
				       expr->ops != expr->room ?
			       RULE_SAME :
			       RULE_UNDEFINED;
	if (expr->ops[0].atom != DW_OP_call_frame_cfa)
		return RULE_EXPR;
	expr->offset = 0;
	if (expr->n == 2 && expr->ops[1].atom == DW_OP_plus_uconst)
		expr->offset = (int64_t)expr->ops[1].number;
	else if (expr->n != 1)
		return RULE_EXPR;
	return RULE_AT_CFA;
}

/* Whether this is the stack pointer's usual rule: it is the cfa. */
static bool
is_cfa(const struct expr *expr)
{
	return expr->n == 2 && expr->ops[0].atom == DW_OP_call_frame_cfa &&
	       expr->ops[1].atom == DW_OP_stack_value;
}

static bool
rule_simplify(const struct abi *abi, Dwarf_Frame *row, struct rule *rule)
{
	struct expr expr = { 0 };
	const Dwarf_Op *ops;

	if (dwarf_frame_cfa(row, &expr.ops, &expr.n) || expr.n != 1)
		return false;
	ops = expr.ops;
	if (ops->atom == DW_OP_bregx) {
		rule->cfa_reg = (uint8_t)ops->number;
		rule->cfa_offset = (int64_t)ops->number2;
	} else if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		rule->cfa_reg = (uint8_t)(ops->atom - DW_OP_breg0);
		rule->cfa_offset = (int64_t)ops->number;
	} else {
		return false;
	}
	for (unsigned reg = 0; reg < abi->ndwarf; reg++) {
		enum rule_kind kind = register_rule(abi, row, reg, &expr);

		if (kind == RULE_EXPR && !is_cfa(&expr))
			return false;
		if (kind != RULE_AT_CFA)
			continue;
		if (rule->nsaved == RULE_SAVED ||
		    expr.offset != (int32_t)expr.offset)
			return false;
		rule->saved_reg[rule->nsaved] = (uint8_t)reg;
		rule->saved_at[rule->nsaved++] = (int32_t)expr.offset;
	}
	return true;
}

/*
 * Whether the caller's stack pointer comes from elsewhere than the frame: it is
 * that of a signal's context, or of no caller at all.
 */
static bool
row_switches(Dwarf_Frame *row, unsigned sp)
{
	struct expr expr = { 0 };

	return !dwarf_frame_register(row, (int)sp, expr.room, &expr.ops,
				     &expr.n) &&
	       expr.n && !is_cfa(&expr);
}

/*
 * The row for *va; if the code there is about to switch stacks, that of the
 * code before it which is not, and *va is changed to there.  Also sets what the
 * row says of itself: rule->lo, rule->signal and *ra.
 */
static Dwarf_Frame *
row_staying(Dwfl_Module *module, unsigned sp, uint64_t *va, struct rule *rule,
	    int *ra)
{
	Dwarf_Addr bias = 0, lo, hi;
	Dwarf_Frame *row = row_get(module, *va, &bias), *before;

	while (row) {
		*ra = dwarf_frame_info(row, &lo, &hi, &rule->signal);
		rule->lo = lo + bias;
		if (rule->signal || !row_switches(row, sp))
			break;
		before = row_get(module, rule->lo - 1, &bias);
		if (!before)
			break;
		*va = rule->lo - 1;
		free(row);
		row = before;
	}
	return row;
}

bool
rule_find(const struct abi *abi, Dwfl_Module *module, uint64_t va, unsigned sp,
	  struct rule *rule)
{
	Dwarf_Frame *row;
	struct expr expr = { 0 };
	int ra = -1;

	*rule = (struct rule){ .row = va };
	row = row_staying(module, sp, &rule->row, rule, &ra);
	if (!row)
		return false;
	rule->va = va;
	rule->outermost = ra >= 0 &&
			  !dwarf_frame_register(row, ra, expr.room, &expr.ops,
						&expr.n) &&
			  !expr.n && expr.ops == expr.room;
	rule->simple = rule_simplify(abi, row, rule);
	free(row);
	return true;
}

bool
rule_enters(const struct dwarf_abi *dwarf, const struct rule *rule, uint64_t va)
{
	return rule->lo == va && rule->simple && rule->cfa_reg == dwarf->sp &&
	       rule->nsaved == 1 && rule->saved_reg[0] == dwarf->pc &&
	       rule->cfa_offset + rule->saved_at[0] == 0;
}

/* ---- expressions */

struct machine {
	const struct registers *regs;
	const struct word_reader *reader;
	uint64_t cfa;
	uint64_t stack[EXPR_DEPTH];
	size_t n;
};

static int
binary(unsigned atom, uint64_t a, uint64_t b, uint64_t *result)
{
	switch (atom) {
	case DW_OP_plus:
		*result = a + b;
		break;
	case DW_OP_minus:
		*result = a - b;
		break;
	case DW_OP_mul:
		*result = a * b;
		break;
	case DW_OP_and:
		*result = a & b;
		break;
	case DW_OP_or:
		*result = a | b;
		break;
	case DW_OP_shl:
		*result = b < 64 ? a << b : 0;
		break;
	case DW_OP_shr:
		*result = b < 64 ? a >> b : 0;
		break;
	case DW_OP_eq:
		*result = a == b;
		break;
	case DW_OP_ne:
		*result = a != b;
		break;
	case DW_OP_ge:
		*result = (int64_t)a >= (int64_t)b;
		break;
	case DW_OP_gt:
		*result = (int64_t)a > (int64_t)b;
		break;
	case DW_OP_le:
		*result = (int64_t)a <= (int64_t)b;
		break;
	case DW_OP_lt:
		*result = (int64_t)a < (int64_t)b;
		break;
	default:
		return -1;
	}
	return 0;
}

static int
register_get(const struct registers *regs, uint64_t reg, uint64_t *value)
{
	if (reg >= DWARF_REGS || !(regs->known & UINT32_C(1) << reg))
		return -1;
	*value = regs->value[reg];
	return 0;
}

/*
 * The value that an operation pushes: 0, or -1 if it is not known.  1 if the
 * operation pushes none.
 */
static int
push_value(const struct machine *m, const Dwarf_Op *op, uint64_t *value)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		*value = atom - DW_OP_lit0;
		return 0;
	}
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		if (register_get(m->regs, atom - DW_OP_breg0, value))
			return -1;
		*value += op->number;
		return 0;
	}
	switch (atom) {
	case DW_OP_bregx:
		if (register_get(m->regs, op->number, value))
			return -1;
		*value += op->number2;
		return 0;
	case DW_OP_call_frame_cfa:
		*value = m->cfa;
		return 0;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		*value = op->number;
		return 0;
	case DW_OP_dup:
		*value = m->n ? m->stack[m->n - 1] : 0;
		return m->n ? 0 : -1;
	default:
		return 1;
	}
}

static int
machine_step(struct machine *m, const Dwarf_Op *op)
{
	uint64_t value = 0;
	int other = push_value(m, op, &value);

	if (other < 0 || m->n == EXPR_DEPTH)
		return -1;
	if (!other) {
		m->stack[m->n++] = value;
		return 0;
	}
	if (!m->n)
		return -1;
	if (op->atom == DW_OP_deref)
		return m->reader->read(m->reader->ctx, m->stack[m->n - 1],
				       &m->stack[m->n - 1]);
	if (op->atom == DW_OP_plus_uconst) {
		m->stack[m->n - 1] += op->number;
		return 0;
	}
	if (m->n < 2)
		return -1;
	m->n--;
	return binary(op->atom, m->stack[m->n - 1], m->stack[m->n],
		      &m->stack[m->n - 1]);
}

/*
 * Evaluate a rule's expression; with `address`, it gives the address where the
 * value is saved.  Returns 0 or -1.
 */
static int
expr_value(const struct registers *regs, const struct word_reader *reader,
	   uint64_t cfa, const struct expr *expr, bool address, uint64_t *value)
{
	struct machine m = { .regs = regs, .reader = reader, .cfa = cfa };
	const Dwarf_Op *ops = expr->ops;
	size_t nops = expr->n;

	if (nops == 1 && ops->atom == DW_OP_regx)
		return register_get(regs, ops->number, value);
	if (nops == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		return register_get(regs, ops->atom - DW_OP_reg0, value);
	/* The result is where the register is saved, or its value. */
	if (ops[nops - 1].atom == DW_OP_stack_value) {
		address = false;
		nops--;
	}
	for (size_t i = 0; i < nops; i++)
		if (machine_step(&m, &ops[i]))
			return -1;
	if (!m.n)
		return -1;
	*value = m.stack[m.n - 1];
	return address ? reader->read(reader->ctx, *value, value) : 0;
}

/* ---- applying */

static void
register_put(struct registers *regs, unsigned reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= UINT32_C(1) << reg;
}

/* The registers that functions preserve: a call loses the others. */
static uint32_t
registers_preserved(const struct abi *abi)
{
	uint32_t preserved = 0;

	for (unsigned i = 0; i < abi->ndwarf; i++)
		if (abi->preserved & UINT32_C(1) << abi->dwarf[i])
			preserved |= UINT32_C(1) << i;
	return preserved;
}

static int
simple_apply(const struct abi *abi, const struct rule *rule, unsigned sp,
	     const struct word_reader *reader, struct registers *regs)
{
	uint64_t cfa, value;

	if (register_get(regs, rule->cfa_reg, &cfa))
		return -1;
	cfa += (uint64_t)rule->cfa_offset;
	regs->known &= registers_preserved(abi);
	register_put(regs, sp, cfa);
	for (unsigned i = 0; i < rule->nsaved; i++) {
		if (reader->read(reader->ctx,
				 cfa + (uint64_t)(int64_t)rule->saved_at[i],
				 &value))
			return -1;
		register_put(regs, rule->saved_reg[i], value);
	}
	return 0;
}

static int
row_apply(const struct abi *abi, Dwarf_Frame *row, unsigned sp,
	  const struct word_reader *reader, struct registers *regs)
{
	struct registers old = *regs;
	struct expr expr = { 0 };
	uint64_t cfa, value;

	if (dwarf_frame_cfa(row, &expr.ops, &expr.n) || !expr.n ||
	    expr_value(&old, reader, 0, &expr, false, &cfa))
		return -1;
	regs->known = 0;
	for (unsigned reg = 0; reg < abi->ndwarf; reg++) {
		enum rule_kind kind = register_rule(abi, row, reg, &expr);

		if (kind == RULE_SAME && !register_get(&old, reg, &value))
			register_put(regs, reg, value);
		if ((kind == RULE_AT_CFA || kind == RULE_EXPR) &&
		    !expr_value(&old, reader, cfa, &expr, true, &value))
			register_put(regs, reg, value);
	}
	if (!(regs->known & UINT32_C(1) << sp))
		register_put(regs, sp, cfa);
	return 0;
}

int
rule_apply(const struct dwarf_abi *dwarf, Dwfl_Module *module,
	   const struct rule *rule, const struct word_reader *reader,
	   struct registers *regs)
{
	Dwarf_Frame *row;
	Dwarf_Addr bias;
	int err;

	if (rule->simple) {
		err = simple_apply(dwarf->abi, rule, dwarf->sp, reader, regs);
	} else {
		row = row_get(module, rule->row, &bias);
		err = row ? row_apply(dwarf->abi, row, dwarf->sp, reader,
				      regs) :
			    -1;
		free(row);
	}
	return err || !(regs->known & UINT32_C(1) << dwarf->pc) ? -1 : 0;
}
