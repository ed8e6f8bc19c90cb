/*
 * Reads a jump table: how many entries it has, and which instruction each
 * leads to.  Never looks for a table, nor follows how its index is computed.
 */
#include "flow/table_read.h"

#include "flow/bounds.h"
#include "util/mem.h"
#include "util/search.h"

enum {
	ENTRIES_MIN = 2,	/* if no compare gives their number */
	ENTRIES_MAX = 1 << 16,
};

void
target_push(struct targets *targets, long insn)
{
	*vec_push(targets->insns, targets->n) = (uint32_t)insn;
}

static uint64_t
entry_read(const struct values *v, const struct table *table,
	   const uint8_t *p)
{
	bool big = v->in->arch->big_endian;
	uint64_t value = 0;
	unsigned shift = 64 - table->width * 8;

	for (unsigned i = table->width; i-- > 0;)
		value = value << 8 | p[big ? table->width - 1u - i : i];
	if (table->sign && shift)
		value = (uint64_t)((int64_t)(value << shift) >> shift);
	return values_address(v, table->base + value * table->scale);
}

/* Bytes to the next instruction, if the table is in the function's code. */
static uint64_t
code_room(const struct values *v, const struct table *table)
{
	size_t i = cfg_insn_from(v->cfg, table->addr);

	if (!cfg_inside(v->in, table->addr) || i == v->cfg->ninsns)
		return UINT64_MAX;
	return v->cfg->insns[i].addr - table->addr;
}

/* How many entries fit before the next instruction, mark or end of section. */
static uint64_t
table_room(const struct values *v, const struct marks *marks,
	   const struct table *table, size_t avail)
{
	uint64_t room = code_room(v, table);
	size_t lo;

	if (avail < room)
		room = avail;

	lo = search_first(marks->n, i, marks->addrs[i] > table->addr);
	if (lo < marks->n && marks->addrs[lo] - table->addr < room)
		room = marks->addrs[lo] - table->addr;
	return room / table->width;
}

/* clang: an entry for an impossible value leads behind the function's end. */
static bool
target_never(const struct cfg_input *in, uint64_t target)
{
	for (size_t i = 0; i < in->n; i++)
		if (target == in->hi[i])
			return !cfg_inside(in, target);
	return false;
}

/* Where an entry of a table leads. */
enum entry {
	ENTRY_HERE,		/* to an instruction of the function */
	ENTRY_NEVER,		/* behind the function's end: never used */
	ENTRY_END,		/* there, and to another function's entry */
	ENTRY_LEAVES,		/* to another function's entry */
	ENTRY_ABSURD,		/* it is no entry: the table ended before it */
	ENTRY_FOREIGN,		/* to the middle of another function, or data */
	ENTRY_UNKNOWN,		/* perhaps to code that is not known */
};

static enum cfg_place
target_place(const struct cfg_input *in, uint64_t target)
{
	return in->place ? in->place(in->ctx, target) : CFG_UNKNOWN;
}

static enum entry
entry_kind(const struct values *v, uint64_t target, long *insn)
{
	const struct cfg_input *in = v->in;
	size_t avail;

	*insn = cfg_insn(v->cfg, target);
	if (*insn >= 0)
		return ENTRY_HERE;
	if (target_never(in, target))
		return target_place(in, target) == CFG_ENTRY ? ENTRY_END :
							       ENTRY_NEVER;
	if (cfg_inside(in, target) || !in->text(in->ctx, target, &avail))
		return ENTRY_ABSURD;
	switch (target_place(in, target)) {
	case CFG_ENTRY:
		return ENTRY_LEAVES;
	case CFG_FOREIGN:
		return ENTRY_FOREIGN;
	default:
		return ENTRY_UNKNOWN;
	}
}

/*
 * Add the targets of the table's first n entries; *here of them are in the
 * function.  Returns how many entries are credible, n if the table simply ends
 * earlier.  Entries that lead to the middle of another function or to unknown
 * code are credible only if a compare gives exactly n entries.
 */
static uint64_t
entries_read(const struct values *v, const struct table *table,
	     const uint8_t *p, uint64_t n, const struct bound *bound,
	     struct targets *targets, uint64_t *here)
{
	bool exact = bound->exact, all = exact && bound->limit == n;
	long insn;

	*here = 0;
	for (uint64_t i = 0; i < n; i++, p += table->width) {
		uint64_t target = entry_read(v, table, p);

		switch (entry_kind(v, target, &insn)) {
		case ENTRY_HERE:
			target_push(targets, insn);
			++*here;
			break;
		case ENTRY_NEVER:
			break;
		case ENTRY_END:
			targets->leaves = true;
			break;
		case ENTRY_LEAVES:
			if (!exact && i < ENTRIES_MIN)
				return i;
			targets->leaves = true;
			if (!exact)
				return n;
			break;
		case ENTRY_FOREIGN:
			if (all) {
				targets->leaves = true;
				*vec_push(targets->outs, targets->nouts) =
					target;
				break;
			}
			/* Falls through. */
		case ENTRY_ABSURD:
			return exact || i < ENTRIES_MIN ? i : n;
		case ENTRY_UNKNOWN:
			if (!all)
				return i;
			targets->unknown = true;
			break;
		}
	}
	return n;
}

/* The nearest target of a branch behind the table's address; at most `end`. */
static uint64_t
branched_to(const struct cfg *cfg, uint64_t table, uint64_t end)
{
	for (size_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) &&
		    insn->target > table && insn->target < end)
			end = insn->target;
	}
	return end;
}

uint64_t
table_extent(struct values *v, const struct table *table, const uint8_t *p,
	     uint64_t avail)
{
	struct bound bound = { BOUND_NONE, false };
	uint64_t n = avail / table->width, first;

	first = branched_to(v->cfg, table->addr, table->addr + avail);
	/* Unknown code may bypass any compare but the table's own. */
	if (table->index.place.kind != PLACE_NONE)
		bound = bound_find(v, &table->index);
	if (bound.exact && bound.limit < n)
		n = bound.limit;
	for (uint64_t i = 0; i < n; i++, p += table->width) {
		uint64_t end = table->addr + (i + 1) * table->width;
		uint64_t target = entry_read(v, table, p);

		if (end > first || !cfg_inside(v->in, target) ||
		    (target >= table->addr && target < end))
			return bound.exact ? 0 : i * table->width;
		if (target >= end && target < first)
			first = target;
	}
	return n * table->width;
}

int
table_read(struct values *v, const struct marks *marks,
	   const struct table *table, struct targets *targets)
{
	struct bound bound = bound_find(v, &table->index);
	uint64_t room, n, here;
	const uint8_t *p;
	size_t avail;

	p = v->in->data(v->in->ctx, table->addr, &avail);
	if (!p)
		return 0;
	/* The compare may belong to a switch of which this is a part. */
	room = table_room(v, marks, table, avail);
	if (bound.exact && bound.limit > code_room(v, table) / table->width)
		return -1;
	n = bound.limit < room ? bound.limit : room;
	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (entries_read(v, table, p, n, &bound, targets, &here) == n && here)
		return 1;
	return here ? -1 : 0;
}
