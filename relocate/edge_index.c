/*
 * Indirect jumps whose edges are counted by the index with which their tables
 * are read: finds them, and gives each entry of a table a slot.  Emits no code.
 */
#include <stdlib.h>

#include "relocate/dispatch.h"
#include "relocate/flags.h"
#include "util/mem.h"
#include "util/search.h"

/*
 * A table may have ENTRIES_PER_TARGET entries for each of the jump's targets,
 * and ENTRIES_MORE more, as each costs every thread 8 bytes.
 */
enum { ENTRIES_PER_TARGET = 2, ENTRIES_MORE = 64 };

/* How the block's last instruction uses its table, or NULL. */
static const struct table_use *
use_of(const struct shape *shape, uint32_t block)
{
	const struct cfg *cfg = shape->cfg;
	const struct block *b = &cfg->blocks[block];
	uint32_t jump = b->first + b->count - 1;
	size_t lo = search_first(cfg->nuses, i, cfg->uses[i].jump >= jump);

	return lo < cfg->nuses && cfg->uses[lo].jump == jump ? &cfg->uses[lo] :
							       NULL;
}

static const uint8_t *
insn_code(const struct shape *shape, uint32_t insn)
{
	size_t avail;

	return shape->in->text(shape->in->ctx, shape->cfg->insns[insn].addr,
			       &avail);
}

/*
 * Whether the edge can be counted before the load.  Behind that the task is
 * stepped to the jump's target, so nothing in between may fault.  The load is
 * not the first of its segment, so that who comes to that finds its probe
 * there.
 */
static bool
use_serves(const struct shape *shape, uint32_t block,
	   const struct table_use *use)
{
	const struct emitter *emit = &shape->arch->emit;
	const struct insn *insns = shape->cfg->insns;

	if (!emit->index_touch ||
	    use->load == shape->cfg->blocks[block].first ||
	    insns[use->load - 1].kind != INSN_PLAIN ||
	    !emit->index_touch(insn_code(shape, use->load),
			       insns[use->load].len) ||
	    flags_before(shape->in, shape->motions, shape->live, block,
			 use->load))
		return false;
	for (uint32_t i = use->load + 1; i < use->jump; i++)
		if (insns[i].kind != INSN_PLAIN ||
		    !emit->computes(insn_code(shape, i), insns[i].len))
			return false;
	return true;
}

/*
 * Set the probe of each block that the jump leads to in probes[], or take them
 * back; how many there are.
 */
static uint32_t
probes_set(const struct shape *shape, uint32_t block, uint32_t *probes,
	   bool back)
{
	const struct flow *flow = shape->flow;
	uint32_t v = FLOW_BLOCK + block, n = 0;

	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (flow->edges[e].by != BY_TABLE ||
		    shape->probes[e] == PROBE_NONE)
			continue;
		probes[flow->edges[e].to - FLOW_BLOCK] =
			back ? PROBE_NONE : shape->probes[e];
		n++;
	}
	return n;
}

/* How many of the table's entries, from the first on, lead to such a block. */
static uint32_t
entries_count(const struct shape *shape, const struct table_use *use,
	      const uint32_t *probes)
{
	const struct cfg *cfg = shape->cfg;
	uint32_t n = 0;

	while (n < use->n &&
	       probes[cfg_block_of(cfg, use->entries[n])] != PROBE_NONE)
		n++;
	return n;
}

/* Give each entry a copy of its edge's probe, with a slot of its own. */
static void
entries_add(const struct shape *shape, struct relocated *relocated,
	    const struct table_use *use, const uint32_t *probes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t of = probes[cfg_block_of(shape->cfg, use->entries[i])];
		struct probe probe = relocated->probes[of];

		probe.slot = shape->in->slot + relocated->nextras;
		*vec_push(relocated->extras, relocated->nextras) = of;
		*vec_push(relocated->probes, relocated->nprobes) = probe;
	}
}

void
indexes_make(struct shape *shape, struct relocated *relocated)
{
	uint32_t *probes = mem_numbers(shape->cfg->nblocks, PROBE_NONE);

	for (uint32_t b = 0; b < shape->cfg->nblocks; b++) {
		const struct table_use *use = NULL;
		uint32_t targets, n;

		if (shape->table_arc[b] != ARC_NONE && shape_runs(shape, b))
			use = use_of(shape, b);
		if (!use || !use_serves(shape, b, use))
			continue;
		targets = probes_set(shape, b, probes, false);
		n = entries_count(shape, use, probes);
		if (n && n <= ENTRIES_PER_TARGET * targets + ENTRIES_MORE) {
			shape->indexes[b] = relocated->nindexes;
			*vec_push(relocated->indexes,
				  relocated->nindexes) = (struct edge_index){
				.load = shape->cfg->insns[use->load].addr,
				.table = use->table,
				.index = use->index,
				.target = use->target,
				.entries = n,
				.probe = relocated->nprobes,
			};
			entries_add(shape, relocated, use, probes, n);
		}
		probes_set(shape, b, probes, true);
	}
	free(probes);
}
