/*
 * The graphs of function plans: makes them from the function's code, its lines
 * and the mid-entries known so far.  Places no counters.
 */
#include "probe/build.h"

#include <stdlib.h>
#include <string.h>

#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

struct cfg *
fplan_cfg_with(struct build *build, const struct func_plan *fplan,
	       struct graph_input starts)
{
	starts.ranges = fplan->ranges;
	starts.n = fplan->nranges;
	starts.entry = fplan->entry;
	starts.calls_end = build->plan->options.leaks;
	return graph_make(build->graphs, &starts);
}

struct cfg *
fplan_cfg(struct build *build, const struct func_plan *fplan, bool rows)
{
	struct unit_code code = fplan_code(fplan);
	uint64_t *leaders = NULL;
	struct cfg *cfg;
	size_t n = 0;

	if (rows)
		unit_lines_leaders(build->table, &code, &leaders, &n);
	addrs_sort(leaders, n);
	cfg = fplan_cfg_with(build, fplan,
			     (struct graph_input){
				     .leaders = leaders,
				     .nleaders = n,
				     .external = build->mid_entered,
				     .nexternal = build->nmid_entered,
			     });
	free(leaders);
	return cfg;
}

/* The blocks that end in a call that may not come back. */
static uint32_t *
leaks_find(const struct cfg *cfg, size_t *n)
{
	uint32_t *leaky = NULL;

	for (uint32_t b = 0; b + 1 < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *last =
			&cfg->insns[block->first + block->count - 1];

		/* Without a next block it leads to EXIT anyway. */
		if (insn_comes_back(last) &&
		    last[1].addr == last->addr + last->len)
			*vec_push(leaky, *n) = b;
	}
	return leaky;
}

void
fplan_flow_build(struct build *build, struct func_plan *fplan)
{
	uint32_t *leaky = NULL;
	size_t nleaky = 0;

	if (build->plan->options.leaks)
		leaky = leaks_find(fplan->cfg, &nleaky);
	fplan->flow = flow_build(fplan->cfg, leaky, nleaky);
	free(leaky);
}

/*
 * Line rows begin blocks only if some jumps are not resolved: so blocks depend
 * on whether there are line rows as rarely as possible.
 */
static void
fplan_flow(struct build *build, struct func_plan *fplan)
{
	bool nameless = fplan->func == FUNC_NONE;

	fplan_clear(fplan);
	fplan->cfg = fplan_cfg(build, fplan, nameless);
	if (fplan->cfg->unresolved && !nameless && build->image->nrows) {
		cfg_free(fplan->cfg);
		fplan->cfg = fplan_cfg(build, fplan, true);
	}
	fplan_flow_build(build, fplan);
}

void
fplan_graph(struct build *build, struct func_plan *fplan)
{
	do
		fplan_flow(build, fplan);
	while (calls_inside(build, fplan));
	if (!mid_entries_known(build, fplan))
		fplan->mid_entered = true;
}

void
fplan_graph_beginning(struct build *build, struct func_plan *fplan,
		      uint64_t end)
{
	struct range range = { fplan->ranges[0].lo, end };

	fplan_clear(fplan);
	fplan->cfg = graph_make(build->graphs, &(struct graph_input){
						       .ranges = &range,
						       .n = 1,
						       .entry = true,
						       .apart = true,
					       });
	fplan->flow = flow_build(fplan->cfg, NULL, 0);
	fplan->partial = true;
}

static void
part_add(struct build *build, const struct part *part)
{
	size_t at = search_first(build->nparts, i,
				 build->parts[i].range.lo >= part->range.lo);

	(void)vec_push(build->parts, build->nparts);
	memmove(build->parts + at + 1, build->parts + at,
		(build->nparts - 1 - at) * sizeof(*build->parts));
	build->parts[at] = *part;
}

void
fplan_parts(struct build *build, uint32_t index)
{
	const struct func_plan *fplan = &build->plan->fplans[index];
	const struct cfg *cfg = fplan->cfg;
	struct part part = { .fplan = FPLAN_NONE };

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint64_t addr = cfg->insns[i].addr;
		uint64_t end = addr + cfg->insns[i].len;
		bool own = range_has(fplan->ranges, fplan->nranges, addr) ||
			   plan_func(build->plan, addr) != FPLAN_NONE;

		if (!own && part.fplan == index && part.range.hi == addr) {
			part.range.hi = end;
			continue;
		}
		if (part.fplan == index)
			part_add(build, &part);
		part = (struct part){
			.range = { addr, end },
			.fplan = own ? FPLAN_NONE : index,
		};
	}
	if (part.fplan == index)
		part_add(build, &part);
}

bool
plan_graph(struct plan *plan, uint32_t fplan)
{
	struct func_plan *b = &plan->fplans[fplan];

	if (b->partial)
		return false;
	if (!b->cfg && b->nranges && !b->guest && b->state != FPLAN_FAULTY)
		fplan_graph(plan->build, b);
	return b->cfg != NULL;
}
