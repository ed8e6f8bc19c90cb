/*
 * Functions of which nothing but calls is wanted: counted at the entry, less
 * the function's own jumps to it, where they are made.  Nothing is derived,
 * so it does not matter how control leaves them.
 */
#include "plan/build.h"

static bool
insn_jumps(const struct insn *insn)
{
	return insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH;
}

/*
 * Whether control may go from one instruction to the function's first, other
 * than by a call, or it takes a graph to tell.
 */
static bool
insn_jumps_back(const struct image *image, const struct insn *insn,
		uint64_t entry)
{
	if (insn->kind == INSN_JUMP_INDIRECT ||
	    insn->addr + insn->len == entry)
		return true;
	/* Or to a part of the function without a name. */
	return insn_jumps(insn) &&
	       (insn->target == entry ||
		(image->nparts && !image_func(image, insn->target)));
}

/* The same of all of a function; also whether it may go into others. */
static bool
func_jumps_back(const struct build *build, uint32_t index)
{
	const struct image *image = build->image;
	const struct body *body = &build->plan->bodies[index];
	uint64_t entry = image->arch->first(image->funcs[body->func].addr);
	bool back = false;

	for (size_t i = 0; i < body->nranges; i++) {
		uint64_t addr = body->entry && !i ? entry : body->ranges[i].lo;

		while (addr < body->ranges[i].hi) {
			size_t avail;
			const uint8_t *text = image_text(image, addr, &avail);
			struct insn insn;

			if (!text || image->arch->decode(text, avail, addr,
							 &insn) < 0)
				break;
			back |= insn_jumps_back(image, &insn, entry) ||
				insn_may_intrude(build, index, &insn);
			addr += insn.len;
		}
	}
	return back;
}

/* How an edge is counted at its end; false if it cannot be. */
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
 * Count the jumps to its own entry of a function that has a graph.  false if
 * it cannot be counted how often control comes that way.
 */
static bool
jumps_place(struct build *build, uint32_t index)
{
	struct body *body = &build->plan->bodies[index];
	const struct cfg *cfg = body->cfg;
	long entry = cfg_block(cfg, build->plan->sites[body->site].addr);
	uint32_t from = UINT32_MAX;
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
		build_site(build, term.addr, index);
		body_gauge(build->plan, body, &term);
	}
	return true;
}

/* Its jumps into others: it is not looked at again if more of it is reached. */
static void
jumps_note(struct build *build, uint32_t index)
{
	const struct cfg *cfg = build->plan->bodies[index].cfg;

	for (size_t i = 0; i < cfg->ninsns; i++)
		if ((insn_jumps(&cfg->insns[i]) ||
		     cfg->insns[i].kind == INSN_CALL) && cfg_proven(cfg, i))
			intrusion_note(build, index, cfg->insns[i].target);
}

bool
body_calls_alone(const struct body *body)
{
	return body->func != FUNC_NONE && (!body->nranges ||
		!(body->units & ~(1U << UNIT_FUNC)));
}

/* The arc that counts an edge exactly, wherever control may end; or none. */
static uint32_t
way_arc(const struct body *body, uint32_t e)
{
	const struct flow *flow = body->flow;
	const struct flow_edge *edge = &flow->edges[e];
	const struct block *block;

	if (edge->by != BY_LAST && edge->by != BY_TAKEN && edge->by != BY_FALL)
		return ARC_NONE;
	if (flow->out[edge->from + 1] - flow->out[edge->from] != 1)
		return e;
	block = &body->cfg->blocks[edge->from - FLOW_BLOCK];
	for (uint32_t i = 0; i < block->count; i++)
		if (insn_comes_back(&body->cfg->insns[block->first + i]))
			return ARC_NONE;
	return arc_of_block(flow, edge->from);
}

bool
calls_want_ways(const struct body *body, bool *wanted)
{
	const struct flow *flow = body->flow;
	uint32_t v;

	if (!flow->nedges || flow->edges[0].from != FLOW_ROOT)
		return false;
	v = flow->edges[0].to;
	if (wanted)
		wanted[arc_of_block(flow, v)] = true;
	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++) {
		uint32_t e = flow->ins[i], arc = e ? way_arc(body, e) : e;

		if (arc == ARC_NONE)
			return false;
		if (wanted)
			wanted[arc] = true;
	}
	return true;
}

void
calls_place(struct build *build, uint32_t index)
{
	struct body *body = &build->plan->bodies[index];
	const struct image *image = build->image;
	const struct func *func = &image->funcs[body->func];

	body_forget(body);
	if (build->plan->wish.no_traps) {
		body->state = BODY_FAULTY;
		body->why = "it would take a breakpoint (--no-traps)";
		return;
	}
	if (body->site == SITE_NONE)
		body->site = build_site(build, image->arch->first(func->addr),
					index);
	if (!body->nranges || !func_jumps_back(build, index))
		return;
	body_graph(build, body);
	jumps_note(build, index);
	if (build->plan->wish.method != PLACE_ONCE &&
	    !jumps_place(build, index)) {
		body->state = BODY_FAULTY;
		body->why = body->cfg->reentered ?
			"what may be data would lead to its beginning" :
			"it runs into its beginning behind a call";
	}
	body_forget(body);
}
