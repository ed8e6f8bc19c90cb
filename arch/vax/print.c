/*
 * Disassembles one VAX instruction in the style of GNU objdump.  Never decodes
 * anything itself.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "arch/vax/vax.h"

/* The text written so far; `full` if something did not fit. */
struct text {
	char *buf;
	size_t size, len;
	bool full;
};

static void __attribute__((format(printf, 2, 3)))
text_add(struct text *text, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text->buf + text->len, text->size - text->len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= text->size - text->len)
		text->full = true;
	else
		text->len += (size_t)n;
}

static const char *const regs[] = {
	"r0", "r1", "r2",  "r3",  "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "r11", "ap", "fp", "sp", "pc",
};

static bool
type_floats(char type)
{
	return type == 'f' || type == 'd' || type == 'g' || type == 'h';
}

static void
immediate_print(struct text *text, const struct vax_operand *o,
		const uint8_t *code)
{
	const uint8_t *p = code + o->at;

	text_add(text, "$0x");
	/* A sign without an exponent is a reserved operand. */
	if ((o->type == 'f' || o->type == 'd') && p[1] == 0x80 && p[0] < 0x80) {
		text_add(text, "[invalid %c-float]", o->type);
		return;
	}
	for (int i = o->size; i-- > 0;)
		text_add(text, "%02x", p[i]);
	if (type_floats(o->type))
		text_add(text, " [%c-float]", o->type);
}

static void
operand_print(struct text *text, const struct vax_operand *o,
	      const uint8_t *code)
{
	const char *reg = regs[o->reg];

	switch (o->mode) {
	case VAX_LITERAL:
		text_add(text, "$0x%x", (unsigned)o->value);
		if (type_floats(o->type))
			text_add(text, " [%c-float]", o->type);
		break;
	case VAX_REGISTER:
		text_add(text, "%s", reg);
		break;
	case VAX_DEFERRED:
		text_add(text, "(%s)", reg);
		break;
	case VAX_DECREMENT:
		text_add(text, "-(%s)", reg);
		break;
	case VAX_INCREMENT:
		text_add(text, "(%s)+", reg);
		break;
	case VAX_INCREMENT_DEFERRED:
		text_add(text, "@(%s)+", reg);
		break;
	case VAX_DISPLACEMENT:
	case VAX_DISPLACEMENT_DEFERRED:
		text_add(text, "%s0x%" PRIx32 "(%s)",
			 o->mode == VAX_DISPLACEMENT ? "" : "*",
			 (uint32_t)o->value, reg);
		break;
	case VAX_IMMEDIATE:
		immediate_print(text, o, code);
		break;
	case VAX_ABSOLUTE:
	case VAX_RELATIVE_DEFERRED:
		text_add(text, "*0x%" PRIx64, o->value);
		break;
	default:	/* VAX_RELATIVE, VAX_BRANCH */
		text_add(text, "0x%" PRIx64, o->value);
		break;
	}
	if (o->index != REG_NONE)
		text_add(text, "[%s]", regs[o->index]);
}

int
vax_print(const uint8_t *code, size_t size, uint64_t addr, char *buf,
	  size_t buflen)
{
	struct text text = { .buf = buf, .size = buflen };
	struct vax_insn insn;

	if (vax_insn_read(code, size, addr, &insn))
		return -1;
	text_add(&text, "%s", insn.op->name);
	for (unsigned i = 0; i < insn.n; i++) {
		text_add(&text, i ? "," : " ");
		operand_print(&text, &insn.operands[i], code);
	}
	return text.full ? -1 : 0;
}
