/*
 * Chooses counters with a spanning forest of the split flow graph: an arc that
 * joins two trees needs no counter, an arc that closes a cycle does.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/placement.h"
#include "flow/sets.h"
#include "util/mem.h"
#include "util/sort.h"

/* A site that may be planted: counts arcs that all touch one node, `centre`. */
struct candidate {
	double cost;
	uint32_t order;		/* among those of the same cost */
	uint32_t centre;
	uint32_t arcs[3];
	uint8_t narcs;
	bool last;		/* planted only if nothing else will do */
	bool given;		/* planted anyway */
	bool wanted;		/* any of its arcs is */
	bool planted;
};

struct work {
	const struct flow *flow;
	const struct weights *weights;
	const struct placement_input *input;
	bool *wanted;		/* per arc; a wanted edge's carrier block is
				   wanted, too */
	bool *hidden;		/* per arc: no candidate has it */
	struct candidate
		*candidates; /* `last` ones first, then dearest first */
	uint32_t ncandidates;
	bool *forest;		/* per arc: joined two trees */
	uint32_t *sets;		/* of nodes: the trees */
	uint32_t *paths;	/* of nodes: joined by unwanted arcs */
};

static double
arc_cost(const struct work *work, uint32_t arc)
{
	const struct flow *flow = work->flow;

	if (work->input->cost)
		return work->input->cost(work->input->ctx, flow, work->weights,
					 arc);
	if (work->input->traps && arc < flow->nedges)
		return work->weights->verts[flow->edges[arc].from];
	return weight_of_arc(flow, work->weights, arc);
}

static void
candidate_take(struct work *work, struct candidate *candidate, uint32_t arc)
{
	uint32_t nblocks = work->flow->nverts - FLOW_BLOCK;
	double cost = arc_cost(work, arc);

	if (!candidate->narcs)
		candidate->order = arc < work->flow->nedges ?
					   nblocks + arc :
					   arc - work->flow->nedges;
	candidate->wanted |= work->wanted[arc];
	if (!candidate->narcs || cost > candidate->cost)
		candidate->cost = cost;
	candidate->arcs[candidate->narcs++] = arc;
	work->hidden[arc] = false;
}

static struct candidate *
candidate_add(struct work *work, uint32_t vert)
{
	struct candidate *candidate = &work->candidates[work->ncandidates++];

	*candidate = (struct candidate){ .centre = node_behind(vert) };
	return candidate;
}

/* The block that is counted in the edge's place, or ARC_NONE. */
static uint32_t
carrier_of(const struct work *work, uint32_t edge)
{
	return work->input->ends && work->wanted[edge] &&
			       work->flow->edges[edge].by == BY_LAST ?
		       ARC_NONE :
		       edge_carrier(work->flow, edge);
}

/*
 * Whether the edge can have a counter at the end of its source, and no block
 * has the same count.
 */
static bool
edge_countable(const struct work *work, uint32_t edge)
{
	enum flow_by by = work->flow->edges[edge].by;

	if (work->input->method == PLACE_VERTEX || by == BY_NOTHING ||
	    by == BY_LEAK || (by == BY_TABLE && !work->input->tables))
		return false;
	return carrier_of(work, edge) == ARC_NONE;
}

/*
 * Add the candidates of one block: at its end, for edges that no block counts,
 * and at its beginning.  With traps, a block of one instruction has one for
 * both.
 */
static void
candidates_of_block(struct work *work, uint32_t v)
{
	const struct flow *flow = work->flow;
	bool traps = work->input->traps;
	struct candidate *candidate = NULL;

	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (!edge_countable(work, e))
			continue;
		if (!candidate || !traps || candidate->narcs == 2 ||
		    candidate->last)
			candidate = candidate_add(work, v);
		candidate->last = flow->edges[e].by == BY_TABLE;
		candidate_take(work, candidate, e);
	}
	if (!candidate || !traps || !flow->one[v] || candidate->last)
		candidate = candidate_add(work, v);
	candidate_take(work, candidate, arc_of_block(flow, v));
}

/*
 * Among candidates of the same cost, unwanted ones come first and then blocks,
 * so these are left without a counter rather than others: a branch tells more.
 */
static int
candidate_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->last != y->last)
		return y->last - x->last;
	if (x->cost != y->cost)
		return (x->cost < y->cost) - (x->cost > y->cost);
	if (x->wanted != y->wanted)
		return x->wanted - y->wanted;
	return (x->order > y->order) - (x->order < y->order);
}

static void
candidates_make(struct work *work)
{
	const struct flow *flow = work->flow;

	for (uint32_t arc = 0; arc < flow_arcs(flow); arc++)
		work->hidden[arc] = true;
	work->candidates = mem_alloc((flow_arcs(flow) + 1) *
				     sizeof(*work->candidates));
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		if (flow->in[v] != flow->in[v + 1])
			candidates_of_block(work, v);
}

static void
candidates_sort(struct work *work)
{
	sort(work->candidates, work->ncandidates, sizeof(*work->candidates),
	     candidate_compare);
}

/*
 * Fill work->wanted from the input.  If EXIT -> ROOT is wanted, so are all
 * edges from ROOT; if an edge is wanted, so is its carrier block.
 */
static void
wanted_make(struct work *work)
{
	const struct flow *flow = work->flow;
	uint32_t n = flow_arcs(flow), carrier;

	for (uint32_t arc = 0; arc < n; arc++)
		work->wanted[arc] = !work->input->wanted ||
				    work->input->wanted[arc];
	for (uint32_t e = 0; e < flow->nedges; e++) {
		if (flow->edges[e].from == FLOW_ROOT)
			work->wanted[e] |= work->wanted[flow->back];
		if (!work->wanted[e])
			continue;
		carrier = carrier_of(work, e);
		if (carrier != ARC_NONE)
			work->wanted[carrier] = true;
		if (work->input->method == PLACE_VERTEX)
			work->wanted[e] = false;
	}
}

static bool
arc_join(struct work *work, uint32_t arc)
{
	work->forest[arc] = set_join(work->sets, arc_tail(work->flow, arc),
				     arc_head(work->flow, arc));
	return work->forest[arc];
}

/* Whether all arcs of it (or all wanted ones) would join separate trees. */
static bool
candidate_joins(struct work *work, const struct candidate *candidate,
		bool only_wanted)
{
	uint32_t seen[4], n = 0, node;

	seen[n++] = set_find(work->sets, candidate->centre);
	for (unsigned i = 0; i < candidate->narcs; i++) {
		if (only_wanted && !work->wanted[candidate->arcs[i]])
			continue;
		node = arc_tail(work->flow, candidate->arcs[i]);
		if (node == candidate->centre)
			node = arc_head(work->flow, candidate->arcs[i]);
		node = set_find(work->sets, node);
		for (uint32_t k = 0; k < n; k++)
			if (seen[k] == node)
				return false;
		seen[n++] = node;
	}
	return true;
}

/*
 * Leave as many candidates as possible unplanted, dearest first, and plant the
 * others.  contract: unwanted arcs are never counted and may be on cycles.
 * Returns false if a wanted count cannot be derived.
 */
static bool
candidates_choose(struct work *work, bool contract)
{
	uint32_t n = flow_arcs(work->flow);
	bool all = true;

	sets_reset(work->sets, flow_nodes(work->flow));
	memset(work->forest, false, n * sizeof(*work->forest));
	for (uint32_t arc = 0; contract && arc < n; arc++)
		if (!work->wanted[arc])
			arc_join(work, arc);
	for (uint32_t arc = 0; arc < n; arc++)
		if (work->hidden[arc] && (!contract || work->wanted[arc]) &&
		    arc != work->flow->back && !arc_join(work, arc))
			all = all && !work->wanted[arc];
	for (uint32_t i = 0; i < work->ncandidates; i++) {
		struct candidate *candidate = &work->candidates[i];

		candidate->planted = candidate->given ||
				     !candidate_joins(work, candidate,
						      contract);
		for (unsigned k = 0;
		     k < candidate->narcs && !candidate->planted; k++)
			if (!contract || work->wanted[candidate->arcs[k]])
				arc_join(work, candidate->arcs[k]);
	}
	return all;
}

/*
 * Drop candidates from which no wanted count is derived.  A counter is used only
 * for the arcs on its cycle with the forest; an arc of a planted candidate that
 * closes no cycle may as well be in the forest.
 */
static void
candidates_drop(struct work *work)
{
	const struct flow *flow = work->flow;
	uint32_t n = flow_arcs(flow);

	for (uint32_t i = 0; i < work->ncandidates; i++)
		for (unsigned k = 0; k < work->candidates[i].narcs; k++)
			if (work->candidates[i].planted)
				arc_join(work, work->candidates[i].arcs[k]);
	sets_reset(work->paths, flow_nodes(flow));
	for (uint32_t arc = 0; arc < n; arc++)
		if (work->forest[arc] && !work->wanted[arc])
			set_join(work->paths, arc_tail(flow, arc),
				 arc_head(flow, arc));
	for (uint32_t i = 0; i < work->ncandidates; i++) {
		struct candidate *candidate = &work->candidates[i];
		bool needed = false;

		for (unsigned k = 0; k < candidate->narcs; k++) {
			uint32_t arc = candidate->arcs[k];

			if (work->forest[arc])
				continue;
			needed |= work->wanted[arc] ||
				  set_find(work->paths, arc_tail(flow, arc)) !=
					  set_find(work->paths,
						   arc_head(flow, arc));
		}
		candidate->planted = candidate->given ||
				     (candidate->planted && needed);
	}
}

/*
 * Plant the candidates from which the wanted arcs without a candidate (and
 * without a carrier block) can be derived.
 */
static void
candidates_derive(struct work *work)
{
	const struct flow *flow = work->flow;
	bool *wanted = work->wanted, any = false;

	work->wanted = mem_alloc(flow_arcs(flow) * sizeof(*work->wanted));
	for (uint32_t e = 0; e < flow->nedges; e++) {
		work->wanted[e] = wanted[e] && work->hidden[e] &&
				  carrier_of(work, e) == ARC_NONE;
		any |= work->wanted[e];
	}
	if (any) {
		candidates_sort(work);
		candidates_choose(work, false);
		candidates_drop(work);
	}
	free(work->wanted);
	work->wanted = wanted;
}

/* Plant these candidates, all candidates of wanted arcs, and no others. */
static void
candidates_every(struct work *work)
{
	candidates_derive(work);
	for (uint32_t i = 0; i < work->ncandidates; i++) {
		struct candidate *candidate = &work->candidates[i];

		candidate->planted |= candidate->given;
		for (unsigned k = 0; k < candidate->narcs; k++)
			candidate->planted |= work->wanted[candidate->arcs[k]];
	}
	candidates_sort(work);
}

static double
candidates_cost(const struct work *work)
{
	double cost = 0;

	for (uint32_t i = 0; i < work->ncandidates; i++)
		if (work->candidates[i].planted)
			cost += work->candidates[i].cost;
	return cost;
}

/*
 * Take the cheaper of two choices: counters for all arcs, less those not
 * needed; or counters on wanted arcs only, which is preferred if the costs
 * differ by rounding alone.
 */
static void
candidates_optimal(struct work *work)
{
	struct candidate *other;
	double cost;

	candidates_choose(work, false);
	if (!work->input->wanted)
		return;
	candidates_drop(work);
	cost = candidates_cost(work);
	other = mem_alloc((work->ncandidates + 1) * sizeof(*other));
	memcpy(other, work->candidates, work->ncandidates * sizeof(*other));
	if (!candidates_choose(work, true) ||
	    candidates_cost(work) > cost * (1 + 1e-9))
		memcpy(work->candidates, other,
		       work->ncandidates * sizeof(*other));
	free(other);
}

static void
method_run(struct work *work)
{
	switch (work->input->method) {
	case PLACE_OPTIMAL:
		candidates_sort(work);
		candidates_optimal(work);
		break;
	case PLACE_VERTEX:
		candidates_sort(work);
		candidates_choose(work, true);
		break;
	case PLACE_EVERY:
	case PLACE_ONCE:
		candidates_every(work);
		break;
	}
}

/*
 * Give all edges of an indirect jump a counter if one has; whether any has.
 */
static bool
tables_give(struct work *work)
{
	const struct flow *flow = work->flow;
	bool *verts = mem_alloc(flow->nverts * sizeof(*verts)), any = false;

	for (uint32_t i = 0; i < work->ncandidates; i++) {
		const struct candidate *candidate = &work->candidates[i];

		if (candidate->last && candidate->planted)
			verts[flow->edges[candidate->arcs[0]].from] = any =
				true;
	}
	for (uint32_t i = 0; i < work->ncandidates; i++) {
		struct candidate *candidate = &work->candidates[i];

		candidate->given = candidate->last &&
				   verts[flow->edges[candidate->arcs[0]].from];
	}
	free(verts);
	return any;
}

/* Those that are given come first, by their arcs. */
static int
candidate_compare_given(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->given != y->given)
		return y->given - x->given;
	if (x->given)
		return (x->arcs[0] > y->arcs[0]) - (x->arcs[0] < y->arcs[0]);
	return candidate_compare(a, b);
}

static void
tables_whole(struct work *work)
{
	if (!work->input->whole || !tables_give(work))
		return;
	method_run(work);
	sort(work->candidates, work->ncandidates, sizeof(*work->candidates),
	     candidate_compare_given);
}

/* A number for the place (beginning or end of a vertex) that counts an arc. */
static uint64_t
arc_place(const struct flow *flow, uint32_t arc)
{
	uint64_t vert = arc < flow->nedges ? flow->edges[arc].from :
					     arc_block(flow, arc);

	return 2 * vert + (arc < flow->nedges && !flow->one[vert]);
}

static struct placement *
placement_of_candidates(const struct work *work)
{
	struct placement *placement = mem_alloc(sizeof(*placement));
	uint64_t last = UINT64_MAX;

	placement->arcs = mem_alloc((flow_arcs(work->flow) + 1) *
				    sizeof(*placement->arcs));
	for (uint32_t i = 0; i < work->ncandidates; i++) {
		const struct candidate *candidate = &work->candidates[i];

		if (!candidate->planted)
			continue;
		placement->nsites += !work->input->traps ||
				     arc_place(work->flow,
					       candidate->arcs[0]) != last;
		last = arc_place(work->flow, candidate->arcs[0]);
		placement->cost += candidate->cost;
		for (unsigned k = 0; k < candidate->narcs; k++)
			placement->arcs[placement->narcs++] =
				candidate->arcs[k];
	}
	return placement;
}

struct placement *
placement_make(const struct flow *flow, const struct weights *weights,
	       const struct placement_input *input)
{
	uint32_t narcs = flow_arcs(flow), nnodes = flow_nodes(flow);
	struct placement *placement;
	struct work work = {
		.flow = flow,
		.weights = weights,
		.input = input,
		.wanted = mem_alloc(narcs * sizeof(*work.wanted)),
		.hidden = mem_alloc(narcs * sizeof(*work.hidden)),
		.forest = mem_alloc(narcs * sizeof(*work.forest)),
		.sets = mem_alloc(nnodes * sizeof(*work.sets)),
		.paths = mem_alloc(nnodes * sizeof(*work.paths)),
	};

	wanted_make(&work);
	candidates_make(&work);
	method_run(&work);
	tables_whole(&work);
	placement = placement_of_candidates(&work);
	free(work.wanted);
	free(work.hidden);
	free(work.forest);
	free(work.sets);
	free(work.paths);
	free(work.candidates);
	return placement;
}

void
placement_free(struct placement *placement)
{
	if (!placement)
		return;
	free(placement->arcs);
	free(placement);
}

double
placement_events(const struct flow *flow, const struct weights *exact,
		 const struct placement *placement, bool traps)
{
	double events = 0;
	uint64_t last = UINT64_MAX, place;

	for (uint32_t i = 0; i < placement->narcs; i++) {
		uint32_t arc = placement->arcs[i];

		if (!traps) {
			events += weight_of_arc(flow, exact, arc);
			continue;
		}
		place = arc_place(flow, arc);
		if (place != last)
			events += exact->verts[place / 2];
		last = place;
	}
	return events;
}
