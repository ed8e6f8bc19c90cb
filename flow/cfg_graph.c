/*
 * Makes blocks and edges from the instructions decoded and the jumps resolved
 * so far.
 */
#include "flow/cfg_graph.h"

#include <stdlib.h>

#include "flow/proof.h"
#include "util/mem.h"

/* What an instruction is, while blocks are being found. */
enum mark {
	MARK_LEADER = 1,
	MARK_GIVEN = 2,
	MARK_EXTERNAL = 4,
	MARK_LABEL = 8,
};

long
cfg_target(const struct cfg *cfg, size_t i)
{
	if (cfg->insns[i].kind != INSN_JUMP &&
	    cfg->insns[i].kind != INSN_BRANCH)
		return -1;
	return cfg_insn_near(cfg, i, cfg->insns[i].target);
}

/* By instruction: what was found, while blocks and edges are made. */
struct found {
	uint8_t *marks;
	long *target;		/* cfg_target */
	uint32_t *block;	/* of leaders: their blocks' numbers */
};

static bool
insn_ends_block(const struct insn *insn)
{
	return insn->kind == INSN_BRANCH || !insn_goes_on(insn);
}

static void
marks_given(const struct cfg *cfg, uint8_t *marks, const uint64_t *leaders,
	    size_t nleaders, uint8_t mark)
{
	for (size_t i = 0, k = 0; i < cfg->ninsns && k < nleaders;) {
		if (cfg->insns[i].addr < leaders[k]) {
			i++;
			continue;
		}
		if (cfg->insns[i].addr == leaders[k])
			marks[i] |= mark;
		k++;
	}
}

/* Mark the leaders that cfg_input and `more` give. */
static uint8_t *
marks_make(const struct cfg *cfg, const struct cfg_input *in,
	   const struct more *more)
{
	uint8_t *marks = mem_alloc(cfg->ninsns + 1);

	marks_given(cfg, marks, in->leaders, in->nleaders,
		    MARK_LEADER | MARK_GIVEN);
	marks_given(cfg, marks, in->pads, in->npads,
		    MARK_LEADER | MARK_GIVEN | MARK_EXTERNAL);
	marks_given(cfg, marks, in->handlers, in->nhandlers,
		    MARK_LEADER | MARK_GIVEN | MARK_EXTERNAL);
	if (more->refs)
		marks_given(cfg, marks, in->refs, in->nrefs,
			    in->relocated || !proof_tells(in) ?
				    MARK_LEADER | MARK_GIVEN | MARK_LABEL :
				    MARK_LEADER | MARK_LABEL);
	marks_given(cfg, marks, more->taken, more->ntaken,
		    MARK_LEADER | (more->entered ? MARK_EXTERNAL : MARK_LABEL));
	marks_given(cfg, marks, more->labels, more->nlabels,
		    MARK_LEADER | MARK_GIVEN | MARK_LABEL);
	marks_given(cfg, marks, more->suspects, more->nsuspects, MARK_LEADER);
	if (cfg->entry >= 0)
		marks[cfg->entry] |= MARK_LEADER | MARK_EXTERNAL;
	return marks;
}

size_t
cfg_reentry(const struct cfg *cfg, const struct cfg_input *in, size_t i)
{
	size_t to = i + 2, avail;
	struct effect effect;
	const uint8_t *code;

	if (to >= cfg->ninsns || !cfg->insns[i].reenters)
		return 0;
	code = in->text(in->ctx, cfg->insns[to].addr, &avail);
	if (code &&
	    !in->arch->effect(code, avail, cfg->insns[to].addr, &effect) &&
	    effect.op == EFFECT_SUM && effect.dst.kind == PLACE_REG &&
	    effect.src.reg == in->arch->reg_fp)
		to++;
	return to < cfg->ninsns ? to : 0;
}

static void
marks_reentered(const struct cfg *cfg, const struct cfg_input *in, size_t i,
		uint8_t *marks)
{
	size_t to = cfg_reentry(cfg, in, i);

	if (!to)
		return;
	marks[i + 1] |= MARK_LEADER | MARK_GIVEN | MARK_EXTERNAL;
	marks[i + 2] |= MARK_LEADER;
	marks[to] |= MARK_LEADER | MARK_GIVEN | MARK_EXTERNAL;
}

static void
marks_found(const struct cfg *cfg, const struct cfg_input *in,
	    const struct tables *tables, const struct found *found)
{
	const struct insn *insns = cfg->insns;
	uint8_t *marks = found->marks;
	const struct jump *jumps;
	size_t njumps;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		if (i == 0 || insn_ends_block(&insns[i - 1]) ||
		    (in->calls_end && insn_comes_back(&insns[i - 1])) ||
		    insns[i].addr != insns[i - 1].addr + insns[i - 1].len)
			marks[i] |= MARK_LEADER;
		marks_reentered(cfg, in, i, marks);
		found->target[i] = cfg_target(cfg, i);
		if (found->target[i] >= 0)
			marks[found->target[i]] |= MARK_LEADER;
	}
	jumps = tables_jumps(tables, &njumps);
	for (size_t i = 0; i < njumps; i++)
		for (size_t k = 0; k < jumps[i].ntargets; k++)
			marks[jumps[i].targets[k]] |= MARK_LEADER;
}

static void
blocks_make(struct cfg *cfg, const struct found *found)
{
	const uint8_t *marks = found->marks;

	for (size_t i = 0; i < cfg->ninsns; i++)
		if (marks[i] & MARK_LEADER) {
			found->block[i] = (uint32_t)cfg->nblocks;
			*vec_push(cfg->blocks, cfg->nblocks) = (struct block){
				.first = (uint32_t)i,
				.count = 1,
				.given = marks[i] & MARK_GIVEN,
				.external = marks[i] & MARK_EXTERNAL,
				.label = marks[i] & MARK_LABEL,
			};
		} else {
			cfg->blocks[cfg->nblocks - 1].count++;
		}
}

/* Find all edges, ascending by `from`. */
static struct edge *
edges_find(const struct cfg *cfg, const struct tables *tables,
	   const struct found *found, size_t *n)
{
	struct edge *edges = NULL;
	const struct jump *jump;
	size_t njumps;
	long target;

	*n = 0;
	jump = tables_jumps(tables, &njumps);
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		size_t last = cfg->blocks[b].first + cfg->blocks[b].count - 1;

		if (cfg_falls(cfg, last))
			*vec_push(edges, *n) = (struct edge){ b, b + 1,
							      EDGE_FALL };
		target = found->target[last];
		if (target >= 0)
			*vec_push(edges, *n) = (struct edge){
				.from = b,
				.to = found->block[target],
				.kind = EDGE_TAKEN,
			};
		if (!njumps || jump->insn != last)
			continue;
		for (size_t k = 0; k < jump->ntargets; k++)
			*vec_push(edges, *n) = (struct edge){
				.from = b,
				.to = found->block[jump->targets[k]],
				.kind = EDGE_TABLE,
			};
		jump++;
		njumps--;
	}
	return edges;
}

/* Group the edges by `to` with a counting sort, which keeps their order. */
static void
edges_make(struct cfg *cfg, const struct tables *tables,
	   const struct found *found)
{
	struct edge *edges = edges_find(cfg, tables, found, &cfg->nedges);
	uint32_t *in = mem_alloc((cfg->nblocks + 2) * sizeof(*in));

	for (size_t i = 0; i < cfg->nedges; i++)
		in[edges[i].to + 2]++;
	for (size_t b = 0; b < cfg->nblocks; b++)
		in[b + 2] += in[b + 1];
	cfg->edges = mem_alloc((cfg->nedges + 1) * sizeof(*cfg->edges));
	/* in[b + 1] is where the next edge into b goes; at last, b's end. */
	for (size_t i = 0; i < cfg->nedges; i++)
		cfg->edges[in[edges[i].to + 1]++] = edges[i];
	cfg->in = in;
	free(edges);
}

uint32_t *
cfg_out(const struct cfg *cfg, uint32_t **out)
{
	uint32_t *at = mem_alloc((cfg->nblocks + 2) * sizeof(*at));
	uint32_t *order = mem_alloc((cfg->nedges + 1) * sizeof(*order));

	for (size_t i = 0; i < cfg->nedges; i++)
		at[cfg->edges[i].from + 2]++;
	for (size_t b = 0; b < cfg->nblocks; b++)
		at[b + 2] += at[b + 1];
	for (size_t i = 0; i < cfg->nedges; i++)
		order[at[cfg->edges[i].from + 1]++] = (uint32_t)i;
	*out = at;
	return order;
}

void
cfg_graph(struct cfg *cfg, const struct cfg_input *in,
	  const struct tables *tables, const struct more *more)
{
	struct found found = {
		.marks = marks_make(cfg, in, more),
		.target = mem_grow(NULL, cfg->ninsns, sizeof(*found.target)),
		.block = mem_grow(NULL, cfg->ninsns, sizeof(*found.block)),
	};

	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->in);
	cfg->blocks = NULL;
	cfg->nblocks = 0;
	marks_found(cfg, in, tables, &found);
	blocks_make(cfg, &found);
	edges_make(cfg, tables, &found);
	free(found.marks);
	free(found.target);
	free(found.block);
}
