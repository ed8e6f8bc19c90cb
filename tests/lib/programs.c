/*
 * Makes up random programs for a toy CPU.
 */
#include "tests/lib/programs.h"

static int
toy_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	if (size < 4 || code[0] == TOY_BAD || code[1] > size)
		return -1;
	*insn = (struct insn){ .addr = addr, .kind = code[0], .len = code[1] };
	switch (code[0]) {
	case TOY_COMPARE:
		insn->kind = INSN_PLAIN;
		break;
	case TOY_TABLE:
		insn->kind = INSN_JUMP_INDIRECT;
		break;
	case TOY_GUARD:
		insn->kind = INSN_BRANCH;
		/* Falls through. */
	case INSN_BRANCH:
	case INSN_JUMP:
	case INSN_CALL:
		insn->target = (uint64_t)(code[2] | code[3] << 8);
		break;
	}
	return 0;
}

static int
toy_effect(const uint8_t *code, size_t size, uint64_t addr,
	   struct effect *effect)
{
	static const struct place none = { .reg = REG_NONE, .index = REG_NONE };

	if (size < 4 || code[0] == TOY_BAD)
		return -1;
	*effect = (struct effect){ .dst = none, .src = none, .left = none };
	switch (code[0]) {
	case TOY_COMPARE:
		effect->flags = effect->compares = true;
		effect->left = (struct place){
			.kind = PLACE_REG,
			.width = 8,
			.reg = 0,
			.index = REG_NONE,
		};
		effect->right = code[2];
		break;
	case TOY_GUARD:
		effect->cond = COND_ABOVE;
		break;
	case TOY_TABLE:
		effect->src = (struct place){
			.kind = PLACE_MEM,
			.width = 8,
			.reg = REG_NONE,
			.index = 0,
			.scale = 8,
			.disp = code[2] | code[3] << 8,
		};
		break;
	case INSN_JUMP_INDIRECT:
	case INSN_CALL_INDIRECT:
		effect->src = (struct place){
			.kind = PLACE_REG,
			.width = 8,
			.reg = 1,
			.index = REG_NONE,
		};
		break;
	}
	return 0;
}

static uint64_t
toy_first(uint64_t addr)
{
	return addr;
}

static const struct arch program_arch = {
	.name = "toy",
	.decode = toy_decode,
	.effect = toy_effect,
	.first = toy_first,
	.reg_sp = 4,
	.reg_fp = 5,
};

int
program_insn(const struct program *p, uint64_t addr)
{
	return addr - CODE < CODE_SIZE ? p->at[addr - CODE] : -1;
}

static unsigned
func_size(const struct program *p, unsigned func)
{
	return p->first[func + 1] - p->first[func];
}

/*
 * The address to jump to for instruction i: for a jump by a table its compare,
 * so that it is always guarded.
 */
static uint64_t
target_at(const struct program *p, unsigned i)
{
	return p->insns[i - (p->insns[i].op == TOY_GUARD ? 1 :
			     p->insns[i].op == TOY_TABLE ? 2 :
							   0)]
		.addr;
}

/*
 * An instruction of the function of i, now and then its entry or the
 * instruction behind i.
 */
static uint64_t
random_target(const struct program *p, unsigned i)
{
	unsigned func = p->insns[i].func, n = func_size(p, func);

	if (!random_below(6))
		return p->insns[p->first[func]].addr;
	if (!random_below(8) && i + 1 < p->n)
		return target_at(p, i + 1);
	return target_at(p, p->first[func] + random_below(n));
}

uint64_t
random_entry(const struct program *p, unsigned nfuncs)
{
	return p->insns[p->first[random_below(nfuncs)]].addr;
}

static unsigned
random_op(void)
{
	static const uint8_t ops[] = {
		INSN_PLAIN,  INSN_PLAIN,   INSN_PLAIN,	INSN_PLAIN,
		INSN_BRANCH, INSN_BRANCH,  INSN_BRANCH, INSN_BRANCH,
		INSN_JUMP,   INSN_CALL,	   INSN_CALL,	INSN_CALL,
		INSN_RETURN, INSN_SYSCALL,
	};
	unsigned n = random_below(100);

	return n < 88 ? ops[random_below(sizeof(ops))] :
	       n < 91 ? INSN_CALL_INDIRECT :
	       n < 94 ? INSN_JUMP_INDIRECT :
	       n < 96 ? INSN_STOP :
			TOY_TABLE;
}

void
insn_add(struct program *p, uint64_t *addr, unsigned func, unsigned op)
{
	p->insns[p->n++] = (struct toy_insn){
		.addr = *addr,
		.op = (uint8_t)op,
		.func = (uint8_t)func,
		.len = (uint8_t)(4 + random_below(2)),
	};
	*addr += p->insns[p->n - 1].len;
}

/* Choose the instructions of a function.  operand_choose gives them targets. */
static void
func_layout(struct program *p, uint64_t *addr, unsigned func)
{
	unsigned n = 2 + random_below(14);

	p->first[func] = p->n;
	while (p->n - p->first[func] < n) {
		unsigned op = random_op();

		if (op == TOY_TABLE) {
			insn_add(p, addr, func, TOY_COMPARE);
			insn_add(p, addr, func, TOY_GUARD);
		}
		insn_add(p, addr, func, op);
	}
	/* Some run on into the next function. */
	if (random_below(8))
		insn_add(p, addr, func, INSN_RETURN);
	p->first[func + 1] = p->n;
}

/*
 * Choose an entry of a table.  The address just behind the function's end is no
 * entry: compilers use that for cases that cannot happen.
 */
static uint64_t
table_target(const struct program *p, unsigned i, unsigned nfuncs)
{
	unsigned end = p->first[p->insns[i].func + 1];
	uint64_t to = random_below(8) ? random_target(p, i) :
					random_entry(p, nfuncs);

	return end < p->n && to == p->insns[end].addr ? p->insns[0].addr : to;
}

static void
table_make(struct program *p, unsigned i, unsigned nfuncs)
{
	uint64_t at = TABLES + i * sizeof(p->tables[0]);
	unsigned n = 1 + random_below(TABLE_MAX);

	for (unsigned k = 0; k < n; k++)
		p->tables[i][k] = table_target(p, i, nfuncs);
	p->data[p->image.ndata++] = (struct data){
		at,
		n * sizeof(uint64_t),
		(uint8_t *)p->tables[i],
	};
	p->insns[i].operand = (uint16_t)at;
	p->insns[i - 2].operand = (uint16_t)(n - 1);
}

/* Choose an operand.  mixed: also targets in the middle of functions. */
static void
operand_choose(struct program *p, unsigned i, unsigned nfuncs, bool mixed)
{
	struct toy_insn *insn = &p->insns[i];
	bool away = !random_below(4), middle = mixed && !random_below(10);

	switch (insn->op) {
	case INSN_CALL:
		insn->operand =
			(uint16_t)(middle ? target_at(p, random_below(p->n)) :
				   away	  ? AWAY :
					    random_entry(p, nfuncs));
		break;
	case INSN_JUMP:
		insn->operand =
			(uint16_t)(middle ? target_at(p, random_below(p->n)) :
				   random_below(8) ? random_target(p, i) :
						     random_entry(p, nfuncs));
		break;
	case INSN_BRANCH:
	case TOY_GUARD:
		insn->operand =
			(uint16_t)(middle ? target_at(p, random_below(p->n)) :
				   random_below(20) ? random_target(p, i) :
						      random_entry(p, nfuncs));
		break;
	case TOY_TABLE:
		table_make(p, i, nfuncs);
		break;
	}
}

void
code_write(struct program *p)
{
	memset(p->text, TOY_BAD, sizeof(p->text));
	memset(p->at, 0xff, sizeof(p->at));
	for (unsigned i = 0; i < p->n; i++) {
		const struct toy_insn *insn = &p->insns[i];
		uint8_t *at = p->text + insn->addr - CODE;

		at[0] = insn->op;
		at[1] = insn->len;
		at[2] = (uint8_t)insn->operand;
		at[3] = (uint8_t)(insn->operand >> 8);
		p->at[insn->addr - CODE] = (int16_t)i;
	}
}

/* Make rows of a function: some at the same address, some not statements. */
static void
rows_make(struct program *p, unsigned func)
{
	uint64_t end = p->ranges[func].hi;

	for (unsigned i = p->first[func]; i < p->first[func + 1]; i++)
		while (p->image.nrows < 2 * INSNS_MAX - 1 &&
		       (i == p->first[func] ?
				!p->image.nrows ||
					p->rows[p->image.nrows - 1].addr !=
						p->insns[i].addr :
				!random_below(3)))
			p->rows[p->image.nrows++] = (struct row){
				.addr = p->insns[i].addr,
				.end = end,
				.line = random_below(LINES + 1),
				.is_stmt = i == p->first[func] ||
					   random_below(4),
			};
	for (size_t i = 0; i + 1 < p->image.nrows; i++)
		if (p->rows[i].end > p->rows[i + 1].addr)
			p->rows[i].end = p->rows[i + 1].addr;
}

/* Make inlined copies of two functions, ascending; some within others. */
static void
copies_make(struct program *p)
{
	unsigned i = 0, n = 0;

	while (n < COPIES && (i += random_below(12)) < p->n) {
		unsigned func = p->insns[i].func, left = p->first[func + 1] - i;
		unsigned lo = i - random_below(i - p->first[func] + 1);
		unsigned last = i + random_below(left < 6 ? left : 6);

		p->copy_ranges[n] = (struct range){
			p->insns[lo].addr,
			p->insns[last].addr + p->insns[last].len,
		};
		p->copies[n] = (struct inlined){
			.addr = p->insns[i].addr,
			.name = n & 1 ? "x" : "y",
			.line = 1 + (n & 1),
			.ranges = &p->copy_ranges[n],
			.nranges = 1,
		};
		n++;
	}
	p->image.ninlines = n;
}

/* Make landing pads, and code addresses that data refers to. */
static void
doors_make(struct program *p, unsigned nfuncs)
{
	for (unsigned func = 0; func < nfuncs; func++) {
		unsigned n = func_size(p, func);

		if (n > 2 && !random_below(3))
			p->pads[p->image.npads++] = target_at(
				p, p->first[func] + 1 + random_below(n - 1));
		if (!random_below(3))
			p->refs[p->image.nrefs++] = target_at(
				p, p->first[func] + random_below(n));
	}
}

void
program_funcs(struct program *p, unsigned nfuncs)
{
	static const char *const names[FUNCS_MAX] = {
		"a", "b", "c", "d", "e", "f",
	};

	for (unsigned i = 0; i < nfuncs; i++) {
		const struct toy_insn *last = &p->insns[p->first[i + 1] - 1];

		p->ranges[i] = (struct range){
			p->insns[p->first[i]].addr,
			last->addr + last->len,
		};
		p->funcs[i] = (struct func){
			.addr = p->ranges[i].lo,
			.name = names[i],
			.size = p->ranges[i].hi - p->ranges[i].lo,
			.ranges = &p->ranges[i],
			.nranges = 1,
			.file = FILE_NONE,
		};
		p->spans[i] = (struct func_range){ p->ranges[i].lo,
						   p->ranges[i].hi, i };
		rows_make(p, i);
	}
	p->image.nfuncs = p->priv.nranges = nfuncs;
}

void
program_begin(struct program *p)
{
	static const char *files[] = { "/x.c" };

	memset(p, 0, sizeof(*p));
	p->segment = (struct segment){
		.addr = CODE,
		.filesz = CODE_SIZE,
		.memsz = CODE_SIZE,
		.flags = 5,
		.bytes = p->text,
	};
	p->image = (struct image){
		.arch = &program_arch,
		.has_dwarf = true,
		.segments = &p->segment,
		.nsegments = 1,
		.funcs = p->funcs,
		.rows = p->rows,
		.inlines = p->copies,
		.data = p->data,
		.refs = p->refs,
		.pads = p->pads,
		.files = (char **)files,
		.nfiles = 1,
		.priv = &p->priv,
	};
	p->priv.ranges = p->spans;
}

void
program_make(struct program *p, bool mixed)
{
	unsigned nfuncs = 1 + random_below(FUNCS_MAX);
	uint64_t addr = CODE;

	program_begin(p);
	for (unsigned i = 0; i < nfuncs; i++) {
		func_layout(p, &addr, i);
		addr += random_below(2) * random_below(9);
	}
	for (unsigned i = 0; i < p->n; i++)
		operand_choose(p, i, nfuncs, mixed);
	code_write(p);
	program_funcs(p, nfuncs);
	copies_make(p);
	doors_make(p, nfuncs);
}
