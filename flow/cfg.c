/*
 * Builds the control-flow graph of one function.  Knows instructions only as
 * struct insn; does no I/O.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/cfg.h"
#include "util/fail.h"
#include "util/mem.h"

/* What is known of an instruction while blocks are being found. */
enum mark {
	MARK_LEADER = 1,
	MARK_GIVEN = 2,
};

struct span {
	uint64_t lo, hi;
};

static int
span_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

/* The ranges ascending, without what an earlier one has already. */
static struct span *
spans_make(const uint64_t *lo, const uint64_t *hi, size_t n)
{
	struct span *spans = mem_alloc((n + 1) * sizeof(*spans));
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++)
		spans[i] = (struct span){ lo[i], hi[i] };
	qsort(spans, n, sizeof(*spans), span_compare);
	for (size_t i = 0; i < n; i++) {
		if (i && spans[i].lo < end)
			spans[i].lo = end;
		if (spans[i].hi > end)
			end = spans[i].hi;
	}
	return spans;
}

static void
span_decode(struct cfg *cfg, const struct arch *arch,
	    const struct span *span, cfg_text *text, void *ctx)
{
	uint64_t addr = span->lo;
	const uint8_t *code;
	struct insn insn;
	size_t size;

	if (span->lo >= span->hi)
		return;
	code = text(ctx, addr, &size);
	if (!code)
		size = 0;
	if (size > span->hi - addr)
		size = span->hi - addr;
	while (size && !arch->decode(code, size, addr, &insn)) {
		must(cfg->ninsns < UINT32_MAX - 1);
		*vec_push(cfg->insns, cfg->ninsns) = insn;
		code += insn.len;
		addr += insn.len;
		size -= insn.len;
	}
	if (addr < span->hi && !cfg->bad)
		cfg->bad = addr;
}

long
cfg_insn(const struct cfg *cfg, uint64_t addr)
{
	size_t lo = 0, hi = cfg->ninsns;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cfg->insns[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < cfg->ninsns && cfg->insns[lo].addr == addr ? (long)lo : -1;
}

/* The instruction that a jump or branch inside the function goes to, or -1. */
static long
insn_target(const struct cfg *cfg, size_t i)
{
	if (cfg->insns[i].kind != INSN_JUMP &&
	    cfg->insns[i].kind != INSN_BRANCH)
		return -1;
	return cfg_insn(cfg, cfg->insns[i].target);
}

/* Whether control goes on from instruction i to i + 1. */
static bool
insn_falls(const struct cfg *cfg, size_t i)
{
	const struct insn *insn = &cfg->insns[i];

	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
	case INSN_STOP:
		return false;
	default:
		return i + 1 < cfg->ninsns &&
		       insn[1].addr == insn->addr + insn->len;
	}
}

static bool
insn_ends_block(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
	case INSN_STOP:
		return true;
	default:
		return false;
	}
}

static void
marks_given(const struct cfg *cfg, uint8_t *marks, const uint64_t *leaders,
	    size_t nleaders)
{
	for (size_t i = 0, k = 0; i < cfg->ninsns && k < nleaders;) {
		if (cfg->insns[i].addr < leaders[k]) {
			i++;
			continue;
		}
		if (cfg->insns[i].addr == leaders[k])
			marks[i] |= MARK_LEADER | MARK_GIVEN;
		k++;
	}
}

static void
marks_found(struct cfg *cfg, uint8_t *marks)
{
	const struct insn *insns = cfg->insns;
	long target;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		if (i == 0 || insn_ends_block(&insns[i - 1]) ||
		    insns[i].addr != insns[i - 1].addr + insns[i - 1].len)
			marks[i] |= MARK_LEADER;
		target = insn_target(cfg, i);
		if (target >= 0)
			marks[target] |= MARK_LEADER;
		if (insns[i].kind == INSN_JUMP_INDIRECT)
			cfg->unresolved = true;
	}
	if (cfg->entry >= 0)
		marks[cfg->entry] |= MARK_LEADER;
}

static void
blocks_make(struct cfg *cfg, const uint8_t *marks)
{
	for (size_t i = 0; i < cfg->ninsns; i++)
		if (marks[i] & MARK_LEADER)
			*vec_push(cfg->blocks, cfg->nblocks) = (struct block){
				.first = (uint32_t)i,
				.count = 1,
				.given = marks[i] & MARK_GIVEN,
			};
		else
			cfg->blocks[cfg->nblocks - 1].count++;
}

/* The block that begins with instruction insn, or BLOCK_NONE. */
static long
block_of_insn(const struct cfg *cfg, size_t insn)
{
	size_t lo = 0, hi = cfg->nblocks;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cfg->blocks[mid].first < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < cfg->nblocks && cfg->blocks[lo].first == insn ?
		(long)lo : BLOCK_NONE;
}

long
cfg_block(const struct cfg *cfg, uint64_t addr)
{
	long insn = cfg_insn(cfg, addr);

	return insn < 0 ? BLOCK_NONE : block_of_insn(cfg, (size_t)insn);
}

/* All edges in the order of `from`. */
static struct edge *
edges_find(const struct cfg *cfg, size_t *n)
{
	struct edge *edges = NULL;
	long target;

	*n = 0;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		size_t last = cfg->blocks[b].first + cfg->blocks[b].count - 1;

		if (insn_falls(cfg, last))
			*vec_push(edges, *n) = (struct edge){
				b, b + 1, EDGE_FALL
			};
		target = insn_target(cfg, last);
		if (target >= 0)
			*vec_push(edges, *n) = (struct edge){
				.from = b,
				.to = (uint32_t)block_of_insn(cfg, target),
				.kind = EDGE_TAKEN,
			};
	}
	return edges;
}

/* Group the edges by `to` with a counting sort, which keeps their order. */
static void
edges_make(struct cfg *cfg)
{
	struct edge *edges = edges_find(cfg, &cfg->nedges);
	uint32_t *in = mem_alloc((cfg->nblocks + 2) * sizeof(*in));

	for (size_t i = 0; i < cfg->nedges; i++)
		in[edges[i].to + 2]++;
	for (size_t b = 0; b < cfg->nblocks; b++)
		in[b + 2] += in[b + 1];
	cfg->edges = mem_alloc((cfg->nedges + 1) * sizeof(*cfg->edges));
	/* in[b + 1] is where the next edge into b goes, and ends as its end. */
	for (size_t i = 0; i < cfg->nedges; i++)
		cfg->edges[in[edges[i].to + 1]++] = edges[i];
	cfg->in = in;
	free(edges);
}

struct cfg *
cfg_build(const struct arch *arch, const uint64_t *lo, const uint64_t *hi,
	  size_t n, const uint64_t *leaders, size_t nleaders, cfg_text *text,
	  void *ctx)
{
	struct cfg *cfg = mem_alloc(sizeof(*cfg));
	struct span *spans = spans_make(lo, hi, n);
	uint8_t *marks;

	for (size_t i = 0; i < n; i++)
		span_decode(cfg, arch, &spans[i], text, ctx);
	free(spans);
	cfg->entry = n ? cfg_insn(cfg, lo[0]) : -1;
	marks = mem_alloc(cfg->ninsns + 1);
	marks_given(cfg, marks, leaders, nleaders);
	marks_found(cfg, marks);
	blocks_make(cfg, marks);
	free(marks);
	edges_make(cfg);
	return cfg;
}

void
cfg_free(struct cfg *cfg)
{
	if (!cfg)
		return;
	free(cfg->insns);
	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->in);
	free(cfg);
}
