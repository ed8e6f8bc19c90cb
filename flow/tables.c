/*
 * Resolves a function's indirect jumps, and says what is known of each.  Never
 * follows a value or reads a table itself: target_find.c and table_read.c do.
 */
#include "flow/tables.h"

#include <stdlib.h>
#include <string.h>

#include "flow/ocaml.h"
#include "flow/table_find.h"
#include "flow/table_use.h"
#include "flow/target_find.h"
#include "util/addrs.h"
#include "util/mem.h"
#include "util/sort.h"

enum {
	BUDGET = 200 * 1000,	/* instructions to pass for one jump */
	ENTRIES_MAX = 1 << 20,	/* of all jumps of the function */
};

struct tables {
	const struct cfg *cfg;
	const struct cfg_input *in;
	struct values values;
	struct jump *jumps;
	size_t njumps;
	struct marks marks;
	bool taken;		/* the code takes addresses of its own labels */
	bool asked, answer;	/* code_taken's result; asked: it is valid */
	uint64_t read;		/* entries of tables, in this round */
};

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Collect the constant addresses in instructions; set `frame` and `taken`. */
static void
marks_find(struct tables *t)
{
	const struct cfg *cfg = t->cfg;

	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		const struct effect *e;
		uint64_t addr;

		if (cfg->insns[i].kind != INSN_PLAIN ||
		    values_addressless(&t->values, i))
			continue;
		e = values_effect(&t->values, i);
		addr = values_address(&t->values, (uint64_t)e->src.disp);
		/* The frame pointer is set from the stack pointer. */
		if (((e->op == EFFECT_COPY && e->src.kind == PLACE_REG) ||
		     (e->op == EFFECT_SUM && e->sp)) &&
		    e->src.reg == t->in->arch->reg_sp &&
		    e->dst.kind == PLACE_REG &&
		    e->dst.reg == t->in->arch->reg_fp)
			t->values.frame = true;
		if (e->src.kind != PLACE_MEM || e->src.reg != REG_NONE)
			continue;
		*vec_push(t->marks.addrs, t->marks.n) = addr;
		if (e->op == EFFECT_SUM && cfg_inside(t->in, addr) &&
		    addr != t->in->lo[0] && !ocaml_handles(t->in, addr))
			t->taken = true;
	}
	addrs_sort(t->marks.addrs, t->marks.n);
}

static bool
refs_taken(const struct tables *t)
{
	for (size_t i = 0; i < t->in->nrefs; i++) {
		long insn = cfg_insn(t->cfg, t->in->refs[i]);
		bool known = !cfg_inside(t->in, t->in->refs[i]) ||
			     t->in->refs[i] == t->in->lo[0] ||
			     ocaml_returns(t->cfg, t->in, t->in->refs[i]);

		for (size_t k = 0; k < t->njumps && !known; k++)
			known = t->jumps[k].ntargets &&
				bsearch(&(uint32_t){ (uint32_t)insn },
					t->jumps[k].targets,
					t->jumps[k].ntargets,
					sizeof(*t->jumps[k].targets),
					by_number);
		if (!known)
			return true;
	}
	return false;
}

/*
 * Whether an address in the function's code, other than its entry, is taken
 * for anything but a table that is known.
 */
static bool
code_taken(struct tables *t)
{
	if (!t->asked)
		t->answer = t->taken || refs_taken(t);
	t->asked = true;
	return t->answer;
}

struct tables *
tables_open(const struct cfg *cfg, const struct cfg_input *in)
{
	struct tables *t;
	struct jump *jumps = NULL;
	size_t n = 0;

	if (!in->arch->targets && (!in->data || !in->arch->effect))
		return NULL;
	for (uint32_t i = 0; i < cfg->ninsns; i++)
		if (cfg->insns[i].kind == INSN_JUMP_INDIRECT)
			*vec_push(jumps, n) = (struct jump){ .insn = i };
	if (!n)
		return NULL;
	t = mem_alloc(sizeof(*t));
	*t = (struct tables){
		.cfg = cfg,
		.in = in,
		.jumps = jumps,
		.njumps = n,
	};
	values_open(&t->values, cfg, in);
	if (in->data && in->arch->effect)
		marks_find(t);
	return t;
}

static void
jump_clear(struct jump *jump)
{
	free(jump->targets);
	free(jump->outs);
	*jump = (struct jump){ .insn = jump->insn };
}

void
tables_close(struct tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->njumps; i++)
		jump_clear(&t->jumps[i]);
	free(t->jumps);
	free(t->marks.addrs);
	values_close(&t->values);
	free(t);
}

const struct jump *
tables_jumps(const struct tables *t, size_t *n)
{
	*n = t ? t->njumps : 0;
	return t ? t->jumps : NULL;
}

static size_t
targets_sort(uint32_t *targets, size_t n)
{
	size_t kept = 0;

	if (n)
		sort(targets, n, sizeof(*targets), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || targets[i] != targets[kept - 1])
			targets[kept++] = targets[i];
	return kept;
}

/*
 * Set what is known of the jump; true if that is news.  The jump takes
 * ownership of the arrays in `found`.
 */
static bool
jump_set(struct tables *t, struct jump *jump, uint8_t flow,
	 struct targets *found)
{
	bool leads = flow == FLOW_TABLE || flow == FLOW_TABLE_LEAVES, same;
	bool known = leads || flow == FLOW_LEAVES;
	struct jump is = {
		.insn = jump->insn,
		.flow = flow,
		.targets = found->insns,
		.ntargets = leads ? targets_sort(found->insns, found->n) : 0,
		.unknown = known && found->unknown,
		.outs = found->outs,
		.nouts = known ? found->nouts : 0,
	};

	t->read += found->read;
	same = jump->ntargets == is.ntargets &&
	       (!is.ntargets || !memcmp(jump->targets, is.targets,
					is.ntargets * sizeof(*is.targets)));
	t->asked &= same;
	same = same && jump->flow == flow && jump->unknown == is.unknown &&
	       jump->nouts == is.nouts;
	jump_clear(jump);
	*jump = is;
	return !same;
}

/*
 * Resolve a jump that has its table behind it, as the arch says.  0, or -1 if
 * the jump has no such table.
 */
static int
jump_own(struct tables *t, struct jump *jump, bool *news)
{
	uint64_t addr = t->cfg->insns[jump->insn].addr, *addrs = NULL;
	uint8_t flow = FLOW_TABLE;
	const uint8_t *code;
	struct targets found = { 0 };
	size_t avail, naddrs = 0;

	code = t->in->arch->targets ? t->in->text(t->in->ctx, addr, &avail) :
				      NULL;
	if (!code ||
	    t->in->arch->targets(code, avail, addr, &addrs, &naddrs) < 0)
		return -1;
	for (size_t i = 0; i < naddrs && flow != FLOW_PLAIN; i++) {
		long insn = cfg_insn(t->cfg, addrs[i]);

		if (insn >= 0) {
			target_push(&found, insn);
		} else if (cfg_inside(t->in, addrs[i])) {
			flow = FLOW_PLAIN;
		} else {
			flow = FLOW_TABLE_LEAVES;
			target_away(t->in, &found, addrs[i]);
		}
	}
	found.read = naddrs;
	free(addrs);
	*news = jump_set(t, jump, flow, &found);
	return 0;
}

static bool
jump_look(struct tables *t, struct jump *jump)
{
	struct targets found = { 0 };
	uint8_t flow = FLOW_PLAIN;
	bool news;

	/* One table may be that of all jumps. */
	if (t->read > ENTRIES_MAX)
		return jump_set(t, jump, FLOW_PLAIN, &found);
	if (!jump_own(t, jump, &news))
		return news;
	if (!t->in->data || !t->in->arch->effect)
		return false;
	if (values_effect(&t->values, jump->insn)->src.kind == PLACE_NONE)
		return false;
	t->values.budget = BUDGET;
	targets_find(&t->values, &t->marks, jump->insn, &found);
	if (!found.failed && !found.pointer && found.n)
		flow = found.leaves || found.unknown ? FLOW_TABLE_LEAVES :
						       FLOW_TABLE;
	else if (!found.failed && !found.n &&
		 (found.pointer ? !code_taken(t) : found.leaves))
		flow = FLOW_LEAVES;
	return jump_set(t, jump, flow, &found);
}

bool
tables_look(struct tables *t)
{
	bool news = false;

	t->read = 0;
	t->asked = false;
	for (size_t i = 0; i < t->njumps; i++)
		news |= jump_look(t, &t->jumps[i]);
	return news;
}

struct table_use *
tables_uses(struct tables *t, size_t *n)
{
	struct table_use *uses = NULL, use;
	uint64_t entries = 0;
	size_t ntables = 0;

	*n = 0;
	for (size_t i = 0; i < t->njumps; i++)
		ntables += t->jumps[i].flow == FLOW_TABLE;
	for (size_t i = 0; i < t->njumps && ntables > 1; i++) {
		const struct jump *jump = &t->jumps[i];

		if (jump->flow != FLOW_TABLE || !jump->ntargets ||
		    !t->in->data || !t->in->arch->effect ||
		    entries > ENTRIES_MAX)
			continue;
		t->values.budget = BUDGET;
		if (table_use_find(&t->values, jump->insn, jump->targets,
				   jump->ntargets, &use))
			continue;
		entries += use.n;
		*vec_push(uses, *n) = use;
	}
	return uses;
}

/*
 * Set the width, sign and index of the table whose entry is the value at the
 * use; false if that does not come from memory.
 */
static bool
behind_find(struct values *v, struct use use, struct table *table)
{
	struct table found = { .width = 0 };
	const struct effect *e;

	do {
		if (values_back(v, &use) != BACK_MADE)
			return false;
		e = values_effect(v, use.insn);
		if (e->op != EFFECT_COPY)
			return false;
		if (e->src.width < use.place.width)
			table->sign = e->sign;
		use.place = e->src;
	} while (use.place.kind != PLACE_MEM || values_on_stack(v, &use.place));
	table->width = use.place.width;
	/* Trust the index only if the address found is the known one. */
	if (table_find(v, &use, &found) == CONSTANT_FOUND &&
	    found.addr == table->addr)
		table->index = found.index;
	return table->width && table->width <= 4;
}

bool
tables_behind(const struct cfg_input *in, const struct insn *jump)
{
	const uint8_t *code;
	struct effect e;
	size_t avail;

	if (jump->kind != INSN_JUMP_INDIRECT || !in->arch->effect)
		return false;
	code = in->text(in->ctx, jump->addr, &avail);
	return code && !in->arch->effect(code, avail, jump->addr, &e) &&
	       e.op == EFFECT_SUM && e.src.reg == REG_NONE &&
	       e.src.index != REG_NONE && e.src.scale == 1 &&
	       (uint64_t)e.src.disp == jump->addr + jump->len;
}

uint64_t
tables_extent(const struct cfg *cfg, const struct cfg_input *in,
	      const uint8_t *p, size_t avail)
{
	uint32_t last = (uint32_t)cfg->ninsns - 1;
	uint64_t end = cfg->insns[last].addr + cfg->insns[last].len;
	struct use use = { .block = (uint32_t)cfg->nblocks - 1, .insn = last };
	struct table table = { .addr = end, .base = end, .scale = 1 };
	struct values v;
	uint64_t extent = 0;

	values_open(&v, cfg, in);
	v.budget = BUDGET;
	use = use_index(&values_effect(&v, last)->src, &use);
	table.sign = values_effect(&v, last)->src.index_sign;
	if (behind_find(&v, use, &table))
		extent = table_extent(&v, &table, p, avail);
	values_close(&v);
	return extent;
}

void
tables_clear(struct tables *t)
{
	for (size_t i = 0; i < t->njumps; i++)
		jump_clear(&t->jumps[i]);
}
