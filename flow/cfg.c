/*
 * Builds the control-flow graph of one function.  Knows instructions only as
 * struct insn; does no I/O.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/cfg.h"
#include "flow/tables.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* What is known of an instruction while blocks are being found. */
enum mark {
	MARK_LEADER = 1,
	MARK_GIVEN = 2,
	MARK_EXTERNAL = 4,
};

enum { ROUNDS_MAX = 8 };	/* of looking at indirect jumps */

static const size_t NO_JUMP = SIZE_MAX;

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

static void graph_make(struct cfg *cfg, const struct cfg_input *in,
		       const struct tables *tables, bool refs);

/* Bytes of the table that is behind the last instruction, 0 if unknown. */
static uint64_t
table_behind(struct cfg *cfg, const struct cfg_input *in, const uint8_t *p,
	     size_t size)
{
	cfg->entry = cfg_insn(cfg, in->lo[0]);
	graph_make(cfg, in, NULL, false);
	return tables_extent(cfg, in, p, size);
}

/*
 * Code that is no instruction ends the range, but for tables in it; *jump is
 * set to the jump before the first of these.
 */
static void
span_decode(struct cfg *cfg, const struct cfg_input *in,
	    const struct span *span, size_t *jump)
{
	const struct arch *arch = in->arch;
	uint64_t addr = span->lo;
	const uint8_t *code;
	uint64_t table;
	struct insn insn;
	size_t size;

	if (span->lo >= span->hi)
		return;
	code = in->text(in->ctx, addr, &size);
	if (!code)
		size = 0;
	if (size > span->hi - addr)
		size = span->hi - addr;
	while (size && !arch->decode(code, size, addr, &insn)) {
		must(cfg->ninsns < UINT32_MAX - 1);
		if ((insn.kind == INSN_CALL ||
		     insn.kind == INSN_CALL_INDIRECT) &&
		    in->returns && !in->returns(in->ctx, &insn))
			insn.flow = FLOW_NO_RETURN;
		*vec_push(cfg->insns, cfg->ninsns) = insn;
		code += insn.len;
		addr += insn.len;
		size -= insn.len;
		if (!tables_behind(in, &insn))
			continue;
		if (*jump == NO_JUMP)
			*jump = cfg->ninsns - 1;
		table = table_behind(cfg, in, code, size);
		if (!table)
			break;
		code += table;
		addr += table;
		size -= table;
	}
	if (addr < span->hi && !cfg->bad)
		cfg->bad = addr;
}

bool
cfg_inside(const struct cfg_input *in, uint64_t addr)
{
	for (size_t i = 0; i < in->n; i++)
		if (addr >= in->lo[i] && addr < in->hi[i])
			return true;
	return false;
}

size_t
cfg_insn_from(const struct cfg *cfg, uint64_t addr)
{
	return search_first(cfg->ninsns, i, cfg->insns[i].addr >= addr);
}

long
cfg_insn(const struct cfg *cfg, uint64_t addr)
{
	size_t i;

	/* Most that are asked for are in other functions. */
	if (!cfg->ninsns || addr < cfg->insns[0].addr ||
	    addr > cfg->insns[cfg->ninsns - 1].addr)
		return -1;
	i = cfg_insn_from(cfg, addr);
	return i < cfg->ninsns && cfg->insns[i].addr == addr ? (long)i : -1;
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
		if (insn->flow == FLOW_NO_RETURN)
			return false;
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
		return insn->flow == FLOW_NO_RETURN;
	}
}

bool
insn_comes_back(const struct insn *insn)
{
	return (insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT ||
		insn->kind == INSN_SYSCALL) && insn->flow != FLOW_NO_RETURN;
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

/* The marks of what is known beforehand. */
static uint8_t *
marks_make(const struct cfg *cfg, const struct cfg_input *in, bool refs)
{
	uint8_t *marks = mem_alloc(cfg->ninsns + 1);

	marks_given(cfg, marks, in->leaders, in->nleaders,
		    MARK_LEADER | MARK_GIVEN);
	marks_given(cfg, marks, in->pads, in->npads,
		    MARK_LEADER | MARK_GIVEN | MARK_EXTERNAL);
	if (refs)
		marks_given(cfg, marks, in->refs, in->nrefs,
			    MARK_LEADER | MARK_GIVEN);
	if (cfg->entry >= 0)
		marks[cfg->entry] |= MARK_LEADER | MARK_EXTERNAL;
	return marks;
}

static void
marks_found(const struct cfg *cfg, const struct cfg_input *in,
	    const struct tables *tables, uint8_t *marks)
{
	const struct insn *insns = cfg->insns;
	const struct jump *jumps;
	size_t njumps;
	long target;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		if (i == 0 || insn_ends_block(&insns[i - 1]) ||
		    (in->calls_end && insn_comes_back(&insns[i - 1])) ||
		    insns[i].addr != insns[i - 1].addr + insns[i - 1].len)
			marks[i] |= MARK_LEADER;
		target = insn_target(cfg, i);
		if (target >= 0)
			marks[target] |= MARK_LEADER;
	}
	jumps = tables_jumps(tables, &njumps);
	for (size_t i = 0; i < njumps; i++)
		for (size_t k = 0; k < jumps[i].ntargets; k++)
			marks[jumps[i].targets[k]] |= MARK_LEADER;
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
				.external = marks[i] & MARK_EXTERNAL,
			};
		else
			cfg->blocks[cfg->nblocks - 1].count++;
}

/* The block that begins with instruction insn, or BLOCK_NONE. */
static long
block_of_insn(const struct cfg *cfg, size_t insn)
{
	size_t lo = search_first(cfg->nblocks, i, cfg->blocks[i].first >= insn);

	return lo < cfg->nblocks && cfg->blocks[lo].first == insn ?
		(long)lo : BLOCK_NONE;
}

long
cfg_block(const struct cfg *cfg, uint64_t addr)
{
	long insn = cfg_insn(cfg, addr);

	return insn < 0 ? BLOCK_NONE : block_of_insn(cfg, (size_t)insn);
}

uint32_t
cfg_block_of(const struct cfg *cfg, size_t insn)
{
	must(insn < cfg->ninsns);
	return (uint32_t)search_first(cfg->nblocks, i,
				      cfg->blocks[i].first > insn) - 1;
}

/* All edges in the order of `from`. */
static struct edge *
edges_find(const struct cfg *cfg, const struct tables *tables, size_t *n)
{
	struct edge *edges = NULL;
	const struct jump *jump;
	size_t njumps;
	long target;

	*n = 0;
	jump = tables_jumps(tables, &njumps);
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
		if (!njumps || jump->insn != last)
			continue;
		for (size_t k = 0; k < jump->ntargets; k++)
			*vec_push(edges, *n) = (struct edge){
				.from = b,
				.to = (uint32_t)block_of_insn(
					cfg, jump->targets[k]),
				.kind = EDGE_TABLE,
			};
		jump++;
		njumps--;
	}
	return edges;
}

/* Group the edges by `to` with a counting sort, which keeps their order. */
static void
edges_make(struct cfg *cfg, const struct tables *tables)
{
	struct edge *edges = edges_find(cfg, tables, &cfg->nedges);
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

/* Blocks and edges, in place of those there were. */
static void
graph_make(struct cfg *cfg, const struct cfg_input *in,
	   const struct tables *tables, bool refs)
{
	uint8_t *marks = marks_make(cfg, in, refs);

	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->in);
	cfg->blocks = NULL;
	cfg->nblocks = 0;
	marks_found(cfg, in, tables, marks);
	blocks_make(cfg, marks);
	edges_make(cfg, tables);
	free(marks);
}

/* What was found of indirect jumps goes to their instructions. */
static void
jumps_settle(struct cfg *cfg, const struct tables *tables)
{
	const struct jump *jumps;
	size_t njumps;

	jumps = tables_jumps(tables, &njumps);
	for (size_t i = 0; i < njumps; i++)
		cfg->insns[jumps[i].insn].flow = jumps[i].flow;
	for (size_t i = 0; i < cfg->ninsns; i++)
		if (cfg->insns[i].kind == INSN_JUMP_INDIRECT &&
		    cfg->insns[i].flow == FLOW_PLAIN)
			cfg->unresolved = true;
}

/* Each table found shows code, which may lead to the next indirect jump. */
static void
jumps_resolve(struct cfg *cfg, const struct cfg_input *in)
{
	struct tables *tables = tables_open(cfg, in);
	int rounds = 0;

	while (tables && tables_look(tables)) {
		if (++rounds == ROUNDS_MAX) {
			tables_forget(tables);
			graph_make(cfg, in, tables, false);
			break;
		}
		graph_make(cfg, in, tables, false);
	}
	jumps_settle(cfg, tables);
	if (cfg->unresolved && in->nrefs)
		graph_make(cfg, in, tables, true);
	tables_close(tables);
}

/*
 * A branch that leads to no instruction shows that the table behind the jump
 * does not end where it seemed to: then nothing behind it is known.
 */
static void
tables_doubt(struct cfg *cfg, const struct cfg_input *in, size_t jump)
{
	for (size_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH) ||
		    !cfg_inside(in, insn->target) || insn_target(cfg, i) >= 0)
			continue;
		cfg->bad = cfg->insns[jump].addr + cfg->insns[jump].len;
		cfg->ninsns = jump + 1;
	}
}

/*
 * Where there is one thread only, libraries jump past the prefix of an atomic
 * instruction.  To the graph that is a way to the instruction.
 */
static void
skips_find(struct cfg *cfg, const struct cfg_input *in)
{
	const uint8_t *code;
	size_t avail;

	for (size_t i = 0; in->arch->locked && i < cfg->ninsns; i++) {
		struct insn *insn = &cfg->insns[i];

		if ((insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH) ||
		    !cfg_inside(in, insn->target) || insn_target(cfg, i) >= 0 ||
		    cfg_insn(cfg, insn->target - 1) < 0)
			continue;
		code = in->text(in->ctx, insn->target - 1, &avail);
		if (!code || !in->arch->locked(code, avail))
			continue;
		insn->target--;
		insn->skips = true;
	}
}

struct cfg *
cfg_make(const struct cfg_input *in)
{
	struct cfg *cfg = mem_alloc(sizeof(*cfg));
	struct span *spans = spans_make(in->lo, in->hi, in->n);
	size_t jump = NO_JUMP;

	for (size_t i = 0; i < in->n; i++)
		span_decode(cfg, in, &spans[i], &jump);
	free(spans);
	skips_find(cfg, in);
	if (jump != NO_JUMP && !cfg->bad)
		tables_doubt(cfg, in, jump);
	cfg->entry = in->n ? cfg_insn(cfg, in->lo[0]) : -1;
	graph_make(cfg, in, NULL, false);
	jumps_resolve(cfg, in);
	return cfg;
}

struct cfg *
cfg_build(const struct arch *arch, const uint64_t *lo, const uint64_t *hi,
	  size_t n, const uint64_t *leaders, size_t nleaders, cfg_text *text,
	  void *ctx)
{
	return cfg_make(&(struct cfg_input){
		.arch = arch, .lo = lo, .hi = hi, .n = n, .leaders = leaders,
		.nleaders = nleaders, .text = text, .ctx = ctx,
	});
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
