/*
 * Builds the control-flow graph of one function.  Knows instructions only as
 * struct insn; does no I/O.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/call_fate.h"
#include "flow/cfg.h"
#include "flow/cfg_graph.h"
#include "flow/constant.h"
#include "flow/labels.h"
#include "flow/ocaml.h"
#include "flow/proof.h"
#include "flow/tables.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

enum {
	ROUNDS_MAX = 8,		/* how often to look at indirect jumps, and at
				   addresses that code takes */
	CUTS_MAX = 256,		/* how often to decode anew */
};

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

/* The ranges, ascending and cut so that they do not overlap. */
static struct span *
spans_make(const uint64_t *lo, const uint64_t *hi, size_t n)
{
	struct span *spans = mem_alloc((n + 1) * sizeof(*spans));
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++)
		spans[i] = (struct span){ lo[i], hi[i] };
	sort(spans, n, sizeof(*spans), span_compare);
	for (size_t i = 0; i < n; i++) {
		if (i && spans[i].lo < end)
			spans[i].lo = end;
		if (spans[i].hi > end)
			end = spans[i].hi;
	}
	return spans;
}

/* Size of the table behind the last instruction; 0 if unknown. */
static uint64_t
table_behind(struct cfg *cfg, const struct cfg_input *in, const uint8_t *p,
	     size_t size)
{
	cfg->entry = cfg_insn(cfg, in->lo[0]);
	cfg_graph(cfg, in, NULL, &no_more);
	return tables_extent(cfg, in, p, size);
}

/* The bytes from addr to the span's end, as many as there are. */
static const uint8_t *
span_text(const struct cfg_input *in, const struct span *span, uint64_t addr,
	  size_t *size)
{
	const uint8_t *code = in->text(in->ctx, addr, size);

	if (!code)
		*size = 0;
	if (*size > span->hi - addr)
		*size = span->hi - addr;
	return code;
}

/*
 * Set what control does behind a call.  A call of the function's entry that
 * drops its return address is one of the function's calls all the same.
 */
static void
call_classify(const struct cfg_input *in, struct insn *insn)
{
	bool jumps = call_fate(in->arch, in->text, in->ctx, insn);

	insn->pushes = jumps;
	if (jumps && insn->target != in->lo[0] &&
	    cfg_inside(in, insn->target)) {
		insn->kind = INSN_JUMP;
	} else if (call_reenters(in->arch, in->text, in->ctx, insn)) {
		insn->reenters = true;
		insn->flow = FLOW_NO_RETURN;
	} else if (jumps || (in->returns && !in->returns(in->ctx, insn))) {
		insn->flow = FLOW_NO_RETURN;
	}
}

/* Whether the jump is one by a return, or leads to code that makes one. */
static bool
insn_thunks(const struct cfg_input *in, const struct insn *insn)
{
	struct insn call = { .kind = INSN_CALL, .target = insn->target };

	if (insn->pushes)
		return call_fate(in->arch, in->text, in->ctx, &call) ==
		       CALL_REPLACES;
	return !cfg_inside(in, insn->target) &&
	       call_thunk(in->arch, in->text, in->ctx, insn->target);
}

/*
 * Decode from addr on; cuts at the beginning of an instruction do not stop
 * decoding.  Returns the address where it stopped: the span's end, the
 * beginning of an instruction that has the next cut inside, or bytes that are
 * no instruction.
 */
static uint64_t
run_decode(struct cfg *cfg, const struct cfg_input *in, const struct span *span,
	   uint64_t addr, const struct cuts *cuts, size_t *jump)
{
	size_t size;
	const uint8_t *code = span_text(in, span, addr, &size);
	uint64_t cut = cuts_from(cuts, addr + 1), table;
	struct insn insn;

	while (size && !in->arch->decode(code, size, addr, &insn)) {
		if (addr + insn.len > cut)
			break;
		must(cfg->ninsns < UINT32_MAX - 1);
		if (insn.kind == INSN_CALL || insn.kind == INSN_CALL_INDIRECT)
			call_classify(in, &insn);
		*vec_push(cfg->insns, cfg->ninsns) = insn;
		code += insn.len;
		addr += insn.len;
		size -= insn.len;
		if (addr == cut)
			cut = cuts_from(cuts, addr + 1);
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
	return addr;
}

/*
 * Decode a span.  Where decoding fails the bytes up to the next cut are left
 * out.  *jump is set to the first jump that has its table behind it.
 */
static void
span_decode(struct cfg *cfg, const struct cfg_input *in,
	    const struct span *span, const struct cuts *cuts, size_t *jump)
{
	uint64_t addr = span->lo;

	while (addr < span->hi) {
		addr = run_decode(cfg, in, span, addr, cuts, jump);
		if (addr < span->hi && !proof_tells(in) && !cfg->bad)
			cfg->bad = addr;
		if (addr < span->hi)
			addr = cuts_from(cuts, addr + 1);
	}
}

/*
 * Whether a jump by a return (gcc -mindirect-branch) may lead to a label or to
 * a case of a table that nobody knows of.
 */
static bool
thunks_doubt(const struct cfg *cfg, const struct cfg_input *in)
{
	bool labels = cfg->gaps;

	for (size_t i = 0; i < in->nrefs; i++)
		labels |= in->refs[i] != in->lo[0];
	for (size_t i = 0; labels && i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) &&
		    insn_thunks(in, insn) && cfg_proven(cfg, i))
			return true;
	}
	return false;
}

/* Whether control may come to an instruction that must stay as it is. */
static bool
reentry_doubt(const struct cfg *cfg, const struct cfg_input *in)
{
	for (size_t i = 0; i < cfg->ninsns; i++)
		if (cfg_reentry(cfg, in, i) > i + 2 && cfg_proven(cfg, i))
			return true;
	return false;
}

/* Copy what was found of indirect jumps to their instructions and the cfg. */
static void
jumps_store(struct cfg *cfg, const struct tables *tables)
{
	const struct jump *jumps;
	size_t njumps;

	jumps = tables_jumps(tables, &njumps);
	for (size_t i = 0; i < njumps; i++) {
		cfg->insns[jumps[i].insn].flow = jumps[i].flow;
		cfg->elsewhere |= jumps[i].unknown &&
				  cfg_proven(cfg, jumps[i].insn);
	}
	cfg->unresolved = cfg->elsewhere;
	for (size_t i = 0; i < cfg->ninsns; i++)
		if (cfg->insns[i].kind == INSN_JUMP_INDIRECT &&
		    cfg->insns[i].flow == FLOW_PLAIN && cfg_proven(cfg, i))
			cfg->unresolved = true;
}

/* Where proven jumps by tables lead to the middle of other functions. */
static void
outs_take(struct cfg *cfg, const struct tables *tables)
{
	const struct jump *jumps;
	size_t njumps;

	jumps = tables_jumps(tables, &njumps);
	for (size_t i = 0; i < njumps; i++)
		for (size_t k = 0;
		     k < jumps[i].nouts && cfg_proven(cfg, jumps[i].insn); k++)
			*vec_push(cfg->outs, cfg->nouts) = jumps[i].outs[k];
}

/* Find how the jumps use their tables, in the graph as it is at last. */
static void
uses_take(struct cfg *cfg, struct tables *tables)
{
	if (tables)
		cfg->uses = tables_uses(tables, &cfg->nuses);
}

/* Make the graph anew, and prove its blocks. */
static void
graph_prove(struct cfg *cfg, const struct cfg_input *in,
	    const struct tables *tables, const struct more *more)
{
	cfg_graph(cfg, in, tables, more);
	proof_mark(cfg, in);
}

/*
 * Begin blocks at the addresses that the code takes, and prove those that are
 * labels; what is behind a label may take the next.
 */
static void
taken_mark(struct cfg *cfg, const struct cfg_input *in,
	   const struct tables *tables, struct more *more)
{
	bool news;
	int rounds = 0;

	do {
		free(more->taken);
		more->taken = proof_taken(cfg, in, &more->ntaken);
		if (more->refs || more->ntaken)
			graph_prove(cfg, in, tables, more);
		news = proof_tells(in) && cfg->unresolved && cfg->gaps &&
		       labels_find(cfg, in, &more->labels, &more->nlabels);
		if (news) {
			graph_prove(cfg, in, tables, more);
			jumps_store(cfg, tables);
		}
	} while (news && ++rounds < ROUNDS_MAX);
}

/*
 * Resolve the indirect jumps.  Each table found shows code, which may lead to
 * the next indirect jump.  True if there are new cuts: then the function must
 * be decoded anew.
 */
static bool
jumps_resolve(struct cfg *cfg, const struct cfg_input *in, struct cuts *cuts)
{
	struct tables *tables = tables_open(cfg, in);
	struct more more = { 0 };
	bool news;
	int rounds = 0;

	if (tables)
		proof_reach(cfg, in);
	while (tables && tables_look(tables)) {
		if (++rounds == ROUNDS_MAX) {
			tables_clear(tables);
			cfg_graph(cfg, in, tables, &no_more);
			break;
		}
		cfg_graph(cfg, in, tables, &no_more);
		proof_reach(cfg, in);
	}
	proof_mark(cfg, in);
	jumps_store(cfg, tables);
	cfg->elsewhere |= proof_mentions(cfg, in) || thunks_doubt(cfg, in) ||
			  reentry_doubt(cfg, in);
	cfg->unresolved |= cfg->elsewhere;
	more.refs = cfg->unresolved && in->nrefs;
	more.entered = !cfg->unresolved;
	taken_mark(cfg, in, tables, &more);
	news = proof_cut(cfg, in, cuts);
	if (cfg->unresolved && !news)
		more.suspects = proof_suspects(cfg, in, &more.nsuspects);
	if (more.nsuspects)
		graph_prove(cfg, in, tables, &more);
	cfg->elsewhere |= cfg->unresolved && cfg->gaps;
	outs_take(cfg, tables);
	uses_take(cfg, tables);
	free(more.taken);
	free(more.labels);
	free(more.suspects);
	tables_close(tables);
	return news;
}

/*
 * If a branch leads to no instruction, the table behind the jump does not end
 * where it seemed to: then drop all instructions behind the jump.
 */
static void
tables_doubt(struct cfg *cfg, const struct cfg_input *in, size_t jump)
{
	for (size_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH) ||
		    !cfg_inside(in, insn->target) || cfg_target(cfg, i) >= 0)
			continue;
		cfg->bad = cfg->insns[jump].addr + cfg->insns[jump].len;
		cfg->ninsns = jump + 1;
	}
}

/*
 * In processes of one thread, libraries jump past the prefix of an atomic
 * instruction.  The graph takes such a jump as one to the whole instruction.
 */
static void
skips_find(struct cfg *cfg, const struct cfg_input *in)
{
	const uint8_t *code;
	size_t avail;

	for (size_t i = 0; in->arch->locked && i < cfg->ninsns; i++) {
		struct insn *insn = &cfg->insns[i];

		if ((insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH) ||
		    !cfg_inside(in, insn->target) || cfg_target(cfg, i) >= 0 ||
		    cfg_insn(cfg, insn->target - 1) < 0)
			continue;
		code = in->text(in->ctx, insn->target - 1, &avail);
		if (!code || !in->arch->locked(code, avail))
			continue;
		insn->target--;
		insn->skips = true;
	}
}

/* Decode with these cuts and make the graph; *news: cuts were added. */
static struct cfg *
cfg_cut(const struct cfg_input *in, struct cuts *cuts, bool *news)
{
	struct cfg *cfg = mem_alloc(sizeof(*cfg));
	struct span *spans = spans_make(in->lo, in->hi, in->n);
	size_t jump = NO_JUMP;

	for (size_t i = 0; i < in->n; i++)
		span_decode(cfg, in, &spans[i], cuts, &jump);
	free(spans);
	skips_find(cfg, in);
	if (jump != NO_JUMP && !cfg->bad)
		tables_doubt(cfg, in, jump);
	cfg->entry = in->n ? cfg_insn(cfg, in->lo[0]) : -1;
	cfg_graph(cfg, in, NULL, &no_more);
	*news = jumps_resolve(cfg, in, cuts);
	return cfg;
}

struct cfg *
cfg_make(const struct cfg_input *in)
{
	struct cfg_input known = *in;
	struct cuts cuts = { 0 };
	uint64_t *handlers = NULL;
	struct cfg *cfg = NULL;
	bool news = true;

	for (int i = 0; news && i <= CUTS_MAX + 1; i++) {
		cfg_free(cfg);
		known.handlers = handlers;
		cfg = cfg_cut(&known, &cuts, &news);
		news |= ocaml_handlers(cfg, in, &handlers, &known.nhandlers);
	}
	if (news)
		cfg->overlap = in->lo[0];
	constants_called(cfg, in);
	free(cuts.addrs);
	free(handlers);
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
	free(cfg->outs);
	for (size_t i = 0; i < cfg->nuses; i++)
		free(cfg->uses[i].entries);
	free(cfg->uses);
	free(cfg);
}
