/*
 * Reads a jump table: how many entries it has, and which instruction each
 * leads to.  Never looks for a table, nor at how its index is made.
 */
#include "flow/table_read.h"

#include "flow/bounds.h"
#include "util/mem.h"

enum {
	ENTRIES_MIN = 2,	/* where nothing says how many */
	ENTRIES_MAX = 1 << 16,
};

void
target_push(struct targets *targets, long insn)
{
	*vec_push(targets->insns, targets->n) = (uint32_t)insn;
}

static uint64_t
entry_read(const struct table *table, const uint8_t *p)
{
	uint64_t value = 0;
	unsigned shift = 64 - table->width * 8;

	for (unsigned i = table->width; i-- > 0;)
		value = value << 8 | p[i];
	if (table->sign && shift)
		value = (uint64_t)((int64_t)(value << shift) >> shift);
	return table->base + value;
}

/* How many entries there is room for before the next thing known. */
static uint64_t
table_room(const struct marks *marks, const struct table *table, size_t avail)
{
	uint64_t room = avail;
	size_t lo = 0, hi = marks->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (marks->addrs[mid] <= table->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < marks->n && marks->addrs[lo] - table->addr < room)
		room = marks->addrs[lo] - table->addr;
	return room / table->width;
}

/* clang: an entry of what cannot happen goes behind the function's end. */
static bool
target_never(const struct cfg_input *in, uint64_t target)
{
	for (size_t i = 0; i < in->n; i++)
		if (target == in->hi[i])
			return !cfg_inside(in, target);
	return false;
}

/* What an entry of a table may be. */
enum entry {
	ENTRY_HERE,		/* an instruction of the function */
	ENTRY_NEVER,
	ENTRY_LEAVES,		/* another function */
	ENTRY_ABSURD,		/* no entry: the table has ended before */
	ENTRY_UNKNOWN,		/* may be of code that is not known */
};

static enum entry
entry_kind(const struct values *v, uint64_t target, long *insn)
{
	const struct cfg_input *in = v->in;
	size_t avail;

	*insn = cfg_insn(v->cfg, target);
	if (*insn >= 0)
		return ENTRY_HERE;
	if (target_never(in, target))
		return ENTRY_NEVER;
	if (cfg_inside(in, target) || !in->text(in->ctx, target, &avail))
		return ENTRY_ABSURD;
	switch (in->place ? in->place(in->ctx, target) : CFG_UNKNOWN) {
	case CFG_ENTRY:
		return ENTRY_LEAVES;
	case CFG_FOREIGN:
		return ENTRY_ABSURD;
	default:
		return ENTRY_UNKNOWN;
	}
}

/* How many of n entries are some; *here of them are in the function. */
static uint64_t
entries_read(const struct values *v, const struct table *table,
	     const uint8_t *p, uint64_t n, bool exact,
	     struct targets *targets, uint64_t *here)
{
	long insn;

	*here = 0;
	for (uint64_t i = 0; i < n; i++, p += table->width) {
		switch (entry_kind(v, entry_read(table, p), &insn)) {
		case ENTRY_HERE:
			target_push(targets, insn);
			++*here;
			break;
		case ENTRY_NEVER:
			break;
		case ENTRY_LEAVES:
			if (!exact)
				return i < ENTRIES_MIN ? i : n;
			targets->leaves = true;
			break;
		case ENTRY_ABSURD:
			return exact || i < ENTRIES_MIN ? i : n;
		case ENTRY_UNKNOWN:
			return i;
		}
	}
	return n;
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
	/* A compare may be of a switch that this one is a part of. */
	room = table_room(marks, table, avail);
	n = bound.limit < room ? bound.limit : room;
	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (entries_read(v, table, p, n, bound.exact, targets, &here) == n &&
	    here)
		return 1;
	return here ? -1 : 0;
}
