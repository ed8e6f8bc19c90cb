/*
 * Lists counts in the order in which data files have them, and predicts each.
 * Numbers are mod 2^64: any counts can be written, and those that obey
 * Kirchhoff's law take little room.
 */
#include "report/profile/profile_code.h"

#include <stdlib.h>

#include "util/mem.h"

struct flow_sums {
	uint64_t block;			/* its count */
	uint64_t in, out;		/* sums of edges known */
	uint32_t nin, nout;		/* edges not known yet */
};

struct arcs
arcs_list(const struct profile_func *func)
{
	size_t n = func->nblocks + func->nedges, next = 0;
	size_t nsums = FLOW_BLOCK + func->nblocks;
	struct arcs arcs = {
		.arcs = mem_grow(NULL, n + 1, sizeof(struct arc)),
		.sums = mem_alloc(nsums * sizeof(struct flow_sums)),
	};

	for (uint32_t v = FLOW_ROOT; v < FLOW_BLOCK + func->nblocks; v++) {
		if (v >= FLOW_BLOCK)
			arcs.arcs[arcs.n++] = (struct arc){
				v,
				v,
				true,
				&func->blocks[v - FLOW_BLOCK].count,
			};
		for (; next < func->nedges; next++) {
			struct profile_edge *edge = &func->edges[next];

			if (edge->from != v)
				break;
			arcs.sums[edge->from].nout++;
			arcs.sums[edge->to].nin++;
			arcs.arcs[arcs.n++] = (struct arc){
				v,
				edge->to,
				false,
				&edge->count,
			};
		}
	}
	return arcs;
}

void
arcs_free(struct arcs *arcs)
{
	free(arcs->arcs);
	free(arcs->sums);
}

uint64_t
arc_predict(const struct arcs *arcs, size_t i, bool *forced)
{
	const struct arc *arc = &arcs->arcs[i];
	const struct flow_sums *from = &arcs->sums[arc->from];
	const struct flow_sums *to = &arcs->sums[arc->to];

	*forced = true;
	if (arc->block) {
		*forced = !to->nin;
		return to->in;
	}
	if (arc->from != FLOW_ROOT && from->nout == 1)
		return from->block - from->out;
	if (arc->to >= FLOW_BLOCK && arc->to <= arc->from && to->nin == 1)
		return to->block - to->in;
	*forced = false;
	return 0;
}

void
arc_known(struct arcs *arcs, size_t i)
{
	const struct arc *arc = &arcs->arcs[i];

	if (arc->block) {
		arcs->sums[arc->to].block = arc->count->n;
		return;
	}
	arcs->sums[arc->from].out += arc->count->n;
	arcs->sums[arc->from].nout--;
	arcs->sums[arc->to].in += arc->count->n;
	arcs->sums[arc->to].nin--;
}

size_t
arcs_free_count(const struct profile_func *func)
{
	struct arcs arcs = arcs_list(func);
	size_t n = 0;

	for (size_t i = 0; i < arcs.n; i++) {
		bool forced;

		arc_predict(&arcs, i, &forced);
		arc_known(&arcs, i);
		n += !forced;
	}
	arcs_free(&arcs);
	return n;
}
