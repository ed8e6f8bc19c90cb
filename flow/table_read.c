/*
 * Reads a jump table: how many entries it has, and which instruction each
 * leads to.  Never looks for a table, nor follows how its index is computed.
 */
#include "flow/table_read.h"

#include "flow/bounds.h"
#include "util/mem.h"
#include "util/search.h"

enum {
	ENTRIES_MIN = 2,	/* of a table whose length no compare gives */
	ENTRIES_MAX = 1 << 16,
	FOREIGN_MAX = 8,	/* entries in doubt that other functions are
				   told of */
};

void
target_push(struct targets *targets, long insn)
{
	*vec_push(targets->insns, targets->n) = (uint32_t)insn;
}

/* The entry whose bytes are at p, extended. */
static uint64_t
entry_value(const struct values *v, const struct table *table, const uint8_t *p)
{
	bool big = v->in->arch->big_endian;
	uint64_t value = 0;
	unsigned shift = 64 - table->width * 8;

	for (unsigned i = table->width; i-- > 0;)
		value = value << 8 | p[big ? table->width - 1u - i : i];
	if (table->sign && shift)
		value = (uint64_t)((int64_t)(value << shift) >> shift);
	return value;
}

/* Where it leads. */
static uint64_t
entry_read(const struct values *v, const struct table *table, const uint8_t *p)
{
	return values_address(v, table->base + entry_value(v, table, p) *
						       table->scale);
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

/* How many entries there are before the next address that code mentions. */
static uint64_t
entries_marked(const struct marks *marks, const struct table *table)
{
	size_t lo = search_first(marks->n, i, marks->addrs[i] > table->addr);

	return lo == marks->n ? UINT64_MAX :
				(marks->addrs[lo] - table->addr) / table->width;
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

/* Where an entry of a table leads; from ENTRY_ABSURD on it may be none. */
enum entry {
	ENTRY_HERE,		/* to an instruction of the function */
	ENTRY_NEVER,		/* behind the function's end: never used */
	ENTRY_END,		/* there, and to another function's entry */
	ENTRY_LEAVES,		/* to another function's entry */
	ENTRY_ABSURD,		/* it is no entry: the table ended before it */
	ENTRY_OTHER,		/* it is the first of another function's */
	ENTRY_HOLE,		/* it is none, but the table may go on */
	ENTRY_DOUBT,		/* to the function, where no instruction of it
				   begins, unless decoding is out of step */
	ENTRY_FOREIGN,		/* to the middle of another function */
	ENTRY_UNKNOWN,		/* perhaps to code that is not known */
};

static enum cfg_place
target_place(const struct cfg_input *in, uint64_t target)
{
	return in->place ? in->place(in->ctx, target) : CFG_UNKNOWN;
}

/* Whether the byte at target is in an instruction that control reaches. */
static bool
target_proven(const struct cfg *cfg, uint64_t target)
{
	size_t i = cfg_insn_from(cfg, target + 1);

	return i && target < cfg->insns[i - 1].addr + cfg->insns[i - 1].len &&
	       cfg_proven(cfg, i - 1);
}

/* The kind of an entry that leads to no code that is known. */
static enum entry
entry_absurd(const struct values *v, const struct table *table,
	     const uint8_t *p)
{
	uint64_t value = entry_value(v, table, p), ones = UINT64_MAX;

	if (!table->sign)
		ones >>= 64 - table->width * 8;
	return value && value != ones ? ENTRY_ABSURD : ENTRY_HOLE;
}

static enum entry
entry_kind(const struct values *v, const struct table *table, const uint8_t *p,
	   long *insn)
{
	const struct cfg_input *in = v->in;
	uint64_t target = entry_read(v, table, p);
	size_t avail;

	*insn = cfg_insn(v->cfg, target);
	if (*insn >= 0)
		return ENTRY_HERE;
	if (target_never(in, target))
		return target_place(in, target) == CFG_ENTRY ? ENTRY_END :
							       ENTRY_NEVER;
	if (cfg_inside(in, target))
		return target_proven(v->cfg, target) ?
			       entry_absurd(v, table, p) :
			       ENTRY_DOUBT;
	if (!in->text(in->ctx, target, &avail))
		return entry_absurd(v, table, p);
	switch (target_place(in, target)) {
	case CFG_ENTRY:
		return ENTRY_LEAVES;
	case CFG_MIDDLE:
		return ENTRY_FOREIGN;
	case CFG_NONE:
		return entry_absurd(v, table, p);
	default:
		return ENTRY_UNKNOWN;
	}
}

/*
 * Whether entry i is the first of another table: it leads to a function that
 * mentions its address.
 */
static bool
entry_begins(const struct values *v, const struct table *table, uint64_t i,
	     const uint8_t *p)
{
	struct table other = *table;

	other.addr += i * table->width;
	other.base += table->base == table->addr ? i * table->width : 0;
	return v->in->mentions &&
	       v->in->mentions(v->in->ctx, entry_read(v, &other, p),
			       other.addr);
}

/* A table that is being read. */
struct reading {
	const struct values *v;
	const struct table *table;
	const struct bound *bound;
	uint64_t n;		/* entries to read at most */
	uint64_t sure;		/* those behind may be none, however credible:
				   the code mentions their address, or they are
				   behind a hole */
	struct targets *targets;
	uint64_t here;		/* entries that lead to the function */
};

/* What an entry says of the table. */
enum verdict {
	VERDICT_ON,		/* it goes on */
	VERDICT_END,		/* it ends before the entry */
	VERDICT_BAD,		/* it is not what it seemed */
};

/*
 * Take an entry that leads out of the function, or nowhere.  `exact`: a compare
 * gives the number of entries.  Else the table is believed to end where an
 * entry is absurd; what may lead to code elsewhere makes other targets unknown.
 */
static enum verdict
entry_take(struct reading *r, enum entry kind, uint64_t i, uint64_t target)
{
	bool exact = r->bound->exact && i < r->sure;
	bool all = r->bound->exact && r->bound->limit == r->n;
	struct targets *targets = r->targets;

	if (!exact && i < ENTRIES_MIN)
		return VERDICT_BAD;
	switch (kind) {
	case ENTRY_LEAVES:
		targets->leaves = true;
		/* Once in doubt, do not follow what may be other pointers. */
		return exact || !targets->unknown ? VERDICT_ON : VERDICT_END;
	case ENTRY_FOREIGN:
		if (exact && !all)
			return VERDICT_BAD;
		if (!all && targets->nouts >= FOREIGN_MAX)
			return VERDICT_END;
		targets->leaves = true;
		targets->unknown |= !all;
		*vec_push(targets->outs, targets->nouts) = target;
		return VERDICT_ON;
	case ENTRY_UNKNOWN:
		targets->unknown = true;
		return all ? VERDICT_ON : VERDICT_END;
	case ENTRY_DOUBT:
		targets->unknown |= !exact;
		return exact ? VERDICT_BAD : VERDICT_END;
	case ENTRY_HOLE:
		if (i < r->sure)
			r->sure = i;
		return exact		? VERDICT_BAD :
		       targets->unknown ? VERDICT_END :
					  VERDICT_ON;
	case ENTRY_OTHER:
		return VERDICT_END;
	default:
		return exact ? VERDICT_BAD : VERDICT_END;
	}
}

/* Add the targets of the table's entries, whose bytes are at p. */
static enum verdict
entries_read(struct reading *r, const uint8_t *p)
{
	enum verdict verdict = VERDICT_ON;

	for (uint64_t i = 0; i < r->n && verdict == VERDICT_ON;
	     i++, p += r->table->width) {
		long insn;
		enum entry kind = entry_kind(r->v, r->table, p, &insn);

		r->targets->read++;
		if (kind == ENTRY_HERE && i >= r->sure &&
		    !cfg_proven(r->v->cfg, (size_t)insn))
			kind = ENTRY_DOUBT;
		if (kind >= ENTRY_ABSURD && !r->bound->exact &&
		    entry_begins(r->v, r->table, i, p))
			kind = ENTRY_OTHER;
		switch (kind) {
		case ENTRY_HERE:
			target_push(r->targets, insn);
			r->here++;
			break;
		case ENTRY_END:
			r->targets->leaves = true;
			break;
		case ENTRY_NEVER:
			break;
		default:
			verdict = entry_take(r, kind, i,
					     entry_read(r->v, r->table, p));
		}
	}
	return verdict;
}

/*
 * Take what may be entries before the table's address, as the index may be
 * negative.  Where there are any, other targets are unknown.
 */
static void
entries_before(const struct reading *r)
{
	const struct values *v = r->v;
	uint64_t addr = r->table->addr;
	size_t avail;
	long insn;

	for (int i = 0; i < ENTRIES_MAX; i++) {
		bool code = target_proven(v->cfg, addr - 1);
		const uint8_t *p;

		addr -= r->table->width;
		r->targets->read++;
		p = v->in->data(v->in->ctx, addr, &avail);
		if (code || !p || avail < r->table->width)
			return;
		switch (entry_kind(v, r->table, p, &insn)) {
		case ENTRY_HERE:
			target_push(r->targets, insn);
			r->targets->unknown = true;
			break;
		case ENTRY_HOLE:
		case ENTRY_NEVER:
			break;
		case ENTRY_ABSURD:
			return;
		default:
			r->targets->unknown = true;
			return;
		}
	}
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
	struct bound bound = { .limit = BOUND_NONE };
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

enum table_goes
table_read(struct values *v, const struct marks *marks,
	   const struct table *table, struct targets *targets)
{
	struct bound bound = bound_find(v, &table->index);
	struct targets before = *targets;
	struct reading reading = {
		.v = v,
		.table = table,
		.bound = &bound,
		.targets = targets,
		.n = bound.above ? BOUND_NONE : bound.limit,
		.sure = entries_marked(marks, table),
	};
	uint64_t room = code_room(v, table) / table->width;
	enum verdict verdict;
	const uint8_t *p;
	size_t avail;

	p = v->in->data(v->in->ctx, table->addr, &avail);
	if (!p)
		return TABLE_NONE;
	/* The compare may belong to a switch of which this is a part. */
	if (bound.exact && bound.limit > room)
		return TABLE_BAD;
	if (avail / table->width < room)
		room = avail / table->width;
	if (room > ENTRIES_MAX)
		room = ENTRIES_MAX;
	if (reading.n > room)
		reading.n = room;
	verdict = entries_read(&reading, p);
	if (reading.here && verdict != VERDICT_BAD) {
		/* Do not take a table for what is read of it. */
		targets->unknown |= verdict == VERDICT_ON &&
				    reading.n < bound.limit &&
				    (bound.exact || reading.n == ENTRIES_MAX);
		if (bound.below)
			entries_before(&reading);
		return TABLE_HERE;
	}
	if (reading.here)
		return TABLE_BAD;
	if (verdict == VERDICT_ON && bound.exact && bound.limit == reading.n)
		return TABLE_AWAY;
	targets->leaves = before.leaves;
	targets->unknown = before.unknown;
	targets->nouts = before.nouts;
	return TABLE_NONE;
}
