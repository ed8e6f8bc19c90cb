/*
 * Counts functions of which only calls are wanted: the arrivals at the entry,
 * less the function's own jumps there, which are counted at the jumps.  Derives
 * nothing, so how control leaves the function does not matter.
 */
#include "probe/build.h"

static bool
insn_jumps(const struct insn *insn)
{
	return insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH;
}

/*
 * Whether control may go from the instruction to the function's entry other
 * than by a call, or a graph is needed to tell.
 */
static bool
insn_jumps_back(const struct image *image, const struct insn *insn,
		uint64_t entry)
{
	if (insn->kind == INSN_JUMP_INDIRECT || insn->addr + insn->len == entry)
		return true;
	/* A part of the function without a name may jump back. */
	return insn_jumps(insn) &&
	       (insn->target == entry ||
		(image->nparts && !image_func(image, insn->target)));
}

/*
 * Whether any of the function's code may go to its entry, or to the middle of
 * another function.
 */
static bool
func_jumps_back(const struct build *build, uint32_t index)
{
	const struct image *image = build->image;
	const struct func_plan *fplan = &build->plan->fplans[index];
	uint64_t entry = image->arch->first(image->funcs[fplan->func].addr);
	bool back = false;

	for (size_t i = 0; i < fplan->nranges; i++) {
		uint64_t addr = fplan->entry && !i ? entry :
						     fplan->ranges[i].lo;

		while (addr < fplan->ranges[i].hi) {
			size_t avail;
			const uint8_t *text = image_text(image, addr, &avail);
			struct insn insn;

			if (!text ||
			    image->arch->decode(text, avail, addr, &insn) < 0)
				break;
			back |= insn_jumps_back(image, &insn, entry) ||
				insn_may_enter_middle(build, index, &insn);
			addr += insn.len;
		}
	}
	return back;
}

/* How an edge is counted at its source's end; false if it cannot be. */
static bool
edge_term(const struct cfg *cfg, const struct edge *edge, struct term *term)
{
	const struct block *from = &cfg->blocks[edge->from];
	const struct insn *last = &cfg->insns[from->first + from->count - 1];

	*term = (struct term){ .addr = last->addr, .kind = TERM_HITS };
	switch (last->kind) {
	case INSN_PLAIN:
	case INSN_JUMP:
		return true;
	case INSN_BRANCH:
		term->kind = edge->kind == EDGE_TAKEN ? TERM_TAKEN : TERM_FALL;
		return true;
	case INSN_JUMP_INDIRECT:
		term->kind = TERM_TARGET;
		term->to = cfg->insns[cfg->blocks[edge->to].first].addr;
		return true;
	default:
		return false;
	}
}

/*
 * Place counters for a function's jumps to its own entry; it has a graph.
 * False if one of them cannot be counted.
 */
static bool
jumps_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	const struct cfg *cfg = fplan->cfg;
	long entry = cfg_block(cfg, build->plan->sites[fplan->site].addr);
	uint32_t from = UINT32_MAX, site;
	struct term term;

	if (entry == BLOCK_NONE)
		return true;
	if (cfg->reentered)
		return false;
	for (uint32_t i = cfg->in[entry]; i < cfg->in[entry + 1]; i++) {
		const struct edge *edge = &cfg->edges[i];

		if ((edge->kind == EDGE_TABLE && edge->from == from) ||
		    cfg->blocks[edge->from].proof != PROOF_FLOW)
			continue;
		from = edge->from;
		if (!edge_term(cfg, edge, &term))
			return false;
		/* It may have been idle since a relocation was withdrawn. */
		site = build_site(build, term.addr, index);
		build->plan->sites[site].idle = false;
		fplan_counter_ref(build->plan, fplan, &term);
	}
	return true;
}

/*
 * Note all the function's jumps into others, even those that nothing reaches
 * yet, because this function is not looked at again.
 */
static void
jumps_note(struct build *build, uint32_t index)
{
	const struct cfg *cfg = build->plan->fplans[index].cfg;

	for (size_t i = 0; i < cfg->ninsns; i++)
		if ((insn_jumps(&cfg->insns[i]) ||
		     cfg->insns[i].kind == INSN_CALL) &&
		    cfg_proven(cfg, i))
			mid_entry_note(build, index, cfg->insns[i].target);
}

void
calls_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	const struct image *image = build->image;
	const struct func *func = &image->funcs[fplan->func];

	fplan_clear(fplan);
	if (build->plan->options.no_traps) {
		fplan->state = FPLAN_FAULTY;
		fplan->why = "counting its calls needs a breakpoint "
			     "(--no-traps)";
		return;
	}
	if (fplan->site == SITE_NONE)
		fplan->site = build_site(build, image->arch->first(func->addr),
					 index);
	if (!fplan->nranges || !func_jumps_back(build, index))
		return;
	fplan_graph(build, fplan);
	jumps_note(build, index);
	if (build->plan->options.method != PLACE_ONCE &&
	    !jumps_place(build, index)) {
		fplan->state = FPLAN_FAULTY;
		fplan->why =
			fplan->cfg->reentered ?
				"bytes that may be data lead to its entry" :
				"control runs from a call into its entry";
	}
	fplan_clear(fplan);
}
