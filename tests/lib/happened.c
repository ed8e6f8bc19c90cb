/*
 * Computes from the truth what a plan may tell.
 */
#include "tests/lib/happened.h"

#include "program/lines.h"

enum { NOWHERE = -1 };

uint64_t
happened_block(const struct trial *t, const struct func_plan *fplan,
	       uint32_t vert)
{
	unsigned base = t->program.first[fplan->func];

	return t->truth.begun[base + vert_first(fplan->cfg, vert)];
}

uint64_t
happened_edge(const struct trial *t, const struct func_plan *fplan, uint32_t e)
{
	const struct flow_edge *edge = &fplan->flow->edges[e];
	unsigned base = t->program.first[fplan->func], last, first;

	if (edge->from == FLOW_ROOT) {
		first = base + vert_first(fplan->cfg, edge->to);
		return t->truth.arrivals[first];
	}
	last = base + vert_last(fplan->cfg, edge->from);
	if (edge->to >= FLOW_BLOCK)
		return t->truth
			.moves[last][base + vert_first(fplan->cfg, edge->to)];
	if (edge->by == BY_TAKEN || edge->by == BY_FALL)
		return t->truth.leaves[last][edge->by == BY_TAKEN];
	return t->truth.leaves[last][0] + t->truth.leaves[last][1];
}

bool
fplan_came(const struct trial *t, const struct func_plan *fplan,
	   const struct counter_set *counter_set)
{
	for (size_t i = 0; i < counter_set->nabnormals; i++)
		if (counter_set->abnormals[i].came &&
		    plan_func(t->m.plan,
			      counter_set->abnormals[i].addr -
				      counter_set->abnormals[i].during) ==
			    (uint32_t)(fplan - t->m.plan->fplans))
			return true;
	return false;
}

uint64_t
happened_from(const struct trial *t, unsigned func, unsigned to,
	      const bool *inside)
{
	const unsigned *first = t->program.first;
	uint64_t n = t->truth.arrivals[to];

	for (unsigned i = first[func]; i < first[func + 1]; i++)
		if (!inside[i])
			n += t->truth.moves[i][to];
	return n;
}

/* ---- lines, by their definition */

void
lines_own(struct trial *t)
{
	const struct program *p = &t->program;
	size_t row = 0;

	for (unsigned i = 0; i < p->n; i++) {
		const struct cfg *cfg = t->m.plan->fplans[p->insns[i].func].cfg;
		bool idle = row < p->image.nrows &&
			    p->rows[row].addr == p->insns[i].addr;
		uint32_t line = 0, last = 0;

		t->points[i] = 0;
		if (i && p->insns[i].func == p->insns[i - 1].func &&
		    t->owner[i - 1] != REGION_NONE)
			line = t->owner[i - 1];
		for (; row < p->image.nrows &&
		       p->rows[row].addr == p->insns[i].addr;
		     row++) {
			last = p->rows[row].line;
			if (p->rows[row].is_stmt) {
				line = last;
				t->points[i] |= UINT64_C(1) << line;
				idle = false;
			}
		}
		if (idle && last != line && cfg &&
		    line_row_apart(cfg, p->insns[i].addr))
			line = 0;
		t->points[i] &= ~(UINT64_C(1) | UINT64_C(1) << line);
		t->owner[i] = line ? line : REGION_NONE;
	}
}

/* The line that has all unresolved indirect jumps, or NOWHERE. */
static int64_t
lines_jumper(const struct trial *t, const struct func_plan *fplan)
{
	const uint32_t *owner = t->owner + t->program.first[fplan->func];
	int64_t jumper = NOWHERE;

	for (size_t i = 0; i < fplan->cfg->ninsns; i++) {
		if (fplan->cfg->insns[i].kind != INSN_JUMP_INDIRECT ||
		    fplan->cfg->insns[i].flow != FLOW_PLAIN)
			continue;
		if (jumper != NOWHERE && jumper != owner[i])
			return NOWHERE;
		jumper = owner[i];
	}
	return jumper;
}

/*
 * How often control went round loops within the line.  If that is not well
 * defined, adds to *most by how much it may be more.
 */
static uint64_t
happened_loops(const struct trial *t, const struct func_plan *fplan,
	       uint32_t line, uint64_t *most)
{
	unsigned base = t->program.first[fplan->func];
	unsigned n = (unsigned)fplan->cfg->ninsns;
	uint64_t sum = 0, any = 0;
	struct region region;

	region_make(&region, fplan->cfg, fplan->flow, t->owner + base, line);
	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++) {
			uint64_t moves = t->truth.moves[base + from][base + to];

			if (region.next[from] >> to & 1)
				any += moves;
			if (region.back[from] >> to & 1)
				sum += moves;
		}
	if (!region_is_acyclic(&region, region.back)) {
		*most += any - sum;
	}
	return sum;
}

uint64_t
happened_line(const struct trial *t, const struct func_plan *fplan,
	      uint32_t line, uint64_t *most)
{
	const struct program *p = &t->program;
	int64_t jumper = lines_jumper(t, fplan);
	bool inside[INSNS_MAX];
	uint64_t n = 0;

	for (unsigned i = 0; i < p->n; i++)
		inside[i] = t->owner[i] == line;
	for (unsigned i = p->first[fplan->func]; i < p->first[fplan->func + 1];
	     i++) {
		long block = cfg_block(fplan->cfg, p->insns[i].addr);
		bool own = t->owner[i] == line;

		if (!own && !(t->points[i] >> line & 1))
			continue;
		n += happened_from(t, fplan->func, i, inside);
		if (own && jumper == line && block >= 0 &&
		    !fplan->cfg->blocks[block].external)
			n -= t->truth.jumped[i];
	}
	return n + happened_loops(t, fplan, line, most);
}
