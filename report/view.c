/*
 * Views: the code of one function as reports show it, with its lines and counts.
 * Prints nothing.
 */
#include "report/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/code.h"
#include "program/lines.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/fail.h"
#include "util/mem.h"

/* ---- lines of instructions */

/* Whether any row at the address of rows[index] is is_stmt. */
static bool
rows_begin(const struct image *image, size_t index)
{
	const struct row *rows = image->rows;
	uint64_t addr = rows[index].addr;
	bool begin = false;

	while (index && rows[index - 1].addr == addr)
		index--;
	for (; index < image->nrows && rows[index].addr == addr; index++)
		begin |= rows[index].is_stmt;
	return begin;
}

/* Whether the line of this is_stmt row is counted there (program/lines.c). */
static bool
row_counts(const struct view *view, const struct row *row)
{
	return row->is_stmt &&
	       (cfg_insn(view->fplan->cfg, row->addr) >= 0 ||
		plan_func(view->plan, row->addr) != view->fplan_index);
}

static bool
lines_differ(const struct row *a, const struct row *b)
{
	return a && (a->line != b->line || a->file != b->file);
}

/* The row whose line's count includes the row with this index, or NULL. */
static const struct row *
row_in_force(const struct view *view, size_t index)
{
	const struct image *image = view->plan->image;
	const struct row *rows = image->rows, *apart = NULL;

	while (!row_counts(view, &rows[index])) {
		if (!rows_begin(image, index) &&
		    line_row_apart(view->fplan->cfg, rows[index].addr)) {
			if (lines_differ(apart, &rows[index]))
				return NULL;
			apart = &rows[index];
			while (index && rows[index - 1].addr == apart->addr)
				index--;
		}
		if (!index || rows[index - 1].end < rows[index].addr)
			return NULL;
		index--;
	}
	return rows[index].line && !lines_differ(apart, &rows[index]) ?
		       &rows[index] :
		       NULL;
}

static void
rows_find(struct view *view)
{
	const struct image *image = view->plan->image;
	const struct cfg *cfg = view->fplan->cfg;
	const struct row *row = NULL;
	size_t last = SIZE_MAX;

	view->rows = mem_alloc(cfg->ninsns * sizeof(*view->rows));
	view->owners = mem_alloc(cfg->ninsns * sizeof(*view->owners));
	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint64_t addr = cfg->insns[i].addr;
		size_t index = code_row(image, addr + 1);

		if (!index || image->rows[index - 1].end <= addr)
			continue;
		if (index != last)
			row = row_in_force(view, index - 1);
		last = index;
		view->owners[i] = row;
		if (image->rows[index - 1].line)
			view->rows[i] = &image->rows[index - 1];
	}
}

/* ---- padding */

static bool
insn_idle(const struct image *image, const struct insn *insn)
{
	struct emul emul;
	const uint8_t *text;
	size_t avail;

	if (insn->kind != INSN_PLAIN || !image->arch->emul_prepare)
		return false;
	text = image_text(image, insn->addr, &avail);
	return text &&
	       image->arch->emul_prepare(text, avail, insn->addr, &emul) == 0 &&
	       emul.only_pc;
}

/*
 * Whether nothing is known to lead to the block.  If the block never ran, a
 * line that begins there, or a jump that might go anywhere, is no evidence.
 */
static bool
block_lonely(const struct view *view, uint32_t b)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct flow *flow = view->fplan->flow;
	const struct block *block = &cfg->blocks[b];
	uint32_t v = FLOW_BLOCK + b;
	struct figure count = view_block(view, b);

	/* Nameless code has its entry at its beginning for want of another. */
	if (cfg->in[b] != cfg->in[b + 1] ||
	    (block->external && (cfg->entry != (long)block->first ||
				 view->fplan->func != FUNC_NONE)))
		return false;
	return flow->in[v] == flow->in[v + 1] || (!count.why && !count.n);
}

static bool
block_idle(const struct view *view, uint32_t b)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct block *block = &cfg->blocks[b];

	if (!block_lonely(view, b))
		return false;
	for (uint32_t i = 0; i < block->count; i++)
		if (!insn_idle(view->plan->image,
			       &cfg->insns[block->first + i]))
			return false;
	return true;
}

static void
padding_find(struct view *view)
{
	size_t n = view->fplan->cfg->nblocks;

	view->padding = mem_alloc(n * sizeof(*view->padding));
	for (uint32_t b = 0; b < n; b++)
		view->padding[b] = block_idle(view, b);
}

/* ---- one after the other */

void
view_close(struct view *view)
{
	if (!view)
		return;
	free(view->rows);
	free(view->owners);
	free(view->padding);
	free(view);
}

static struct view *
view_open(struct table *table, uint32_t plan_index, uint32_t fplan_index)
{
	struct view *view = mem_alloc(sizeof(*view));

	view->table = table;
	view->plan_index = plan_index;
	view->fplan_index = fplan_index;
	view->plan = table->report_input->plans[plan_index];
	view->fplan = &view->plan->fplans[fplan_index];
	rows_find(view);
	padding_find(view);
	return view;
}

/* Whether there is only padding, or a stub of the linker's that never ran. */
static bool
view_empty(const struct view *view)
{
	for (uint32_t b = 0; b < view->fplan->cfg->nblocks; b++) {
		struct figure count = view_block(view, b);

		if (!view->padding[b] &&
		    (!view->fplan->stub || count.why || count.n))
			return false;
	}
	return true;
}

struct view *
view_next(struct table *table, struct view *view, unsigned units)
{
	const struct report_input *report_input = table->report_input;
	uint32_t p = view ? view->plan_index : 0;
	uint32_t b = view ? view->fplan_index + 1 : 0;

	view_close(view);
	for (; p < report_input->nplans; p++, b = 0) {
		const struct plan *plan = report_input->plans[p];

		for (; b < plan->nfplans; b++) {
			if (!plan->fplans[b].counts ||
			    !(plan->fplans[b].units & plan->units & units))
				continue;
			view = view_open(table, p, b);
			if (!view_empty(view))
				return view;
			view_close(view);
		}
	}
	return NULL;
}

/* ---- counts */

struct figure
view_insn(const struct view *view, uint32_t insn)
{
	struct count count = fplan_insn(view->fplan, insn);

	return figure_of(&count);
}

struct figure
view_block(const struct view *view, uint32_t block)
{
	return figure_of(&view->fplan->counts[arc_of_block(
		view->fplan->flow, FLOW_BLOCK + block)]);
}

struct figure
view_edge(const struct view *view, uint32_t edge)
{
	return figure_of(&view->fplan->counts[edge]);
}

uint32_t
view_last(const struct view *view, uint32_t block)
{
	const struct block *b = &view->fplan->cfg->blocks[block];

	return b->first + b->count - 1;
}

uint32_t
view_way(const struct view *view, uint32_t block, enum flow_by by)
{
	const struct flow *flow = view->fplan->flow;
	uint32_t v = FLOW_BLOCK + block;

	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
		if (flow->edges[e].by == by)
			return e;
	return ARC_NONE;
}

/*
 * How often the branch that ends the block went this way.  Without such an
 * edge, as often as the block ran.
 */
static struct figure
way_count(const struct view *view, uint32_t block, enum flow_by by)
{
	uint32_t edge = view_way(view, block, by);

	return edge == ARC_NONE ? view_block(view, block) :
				  view_edge(view, edge);
}

void
view_branch(const struct view *view, uint32_t block, struct figure *taken,
	    struct figure *fall)
{
	*taken = way_count(view, block, BY_TAKEN);
	*fall = way_count(view, block, BY_FALL);
	/* The branch leads to the next instruction. */
	if (view_way(view, block, BY_LAST) != ARC_NONE)
		taken->why = fall->why = "the branch leads to the next "
					 "instruction";
}

bool
view_edge_inner(const struct view *view, uint32_t edge)
{
	const struct flow_edge *e = &view->fplan->flow->edges[edge];

	return e->from >= FLOW_BLOCK && e->to >= FLOW_BLOCK;
}

bool
view_edge_drawn(const struct view *view, uint32_t e)
{
	const struct flow *flow = view->fplan->flow;
	struct figure count = view_edge(view, e);

	if (e == flow->back)
		return false;
	return flow->edges[e].from != FLOW_ROOT || count.n || count.why ||
	       (view->fplan->cfg->entry >= 0 && e == 0);
}

static void
total(struct totals *totals, struct reasons *reasons, enum unit_kind kind,
      struct figure count)
{
	totals_add(totals, &count);
	reasons_add_unit(reasons, count.why, kind);
}

static void
blocks_total(const struct view *view, enum unit_kind kind,
	     struct totals *totals, struct reasons *reasons)
{
	const struct cfg *cfg = view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		if (view->padding[b])
			continue;
		if (kind == UNIT_BLOCK)
			total(totals, reasons, kind, view_block(view, b));
		for (uint32_t i = 0;
		     kind == UNIT_INSN && i < cfg->blocks[b].count; i++)
			total(totals, reasons, kind,
			      view_insn(view, cfg->blocks[b].first + i));
	}
}

void
view_totals(const struct view *view, enum unit_kind kind, struct totals *totals,
	    struct reasons *reasons)
{
	if (!(view->fplan->units & view->plan->units & 1U << kind))
		return;
	if (kind == UNIT_BLOCK || kind == UNIT_INSN)
		blocks_total(view, kind, totals, reasons);
	for (uint32_t e = 0; kind == UNIT_EDGE && e < view->fplan->flow->nedges;
	     e++)
		if (view_edge_inner(view, e))
			total(totals, reasons, kind, view_edge(view, e));
}

bool
view_idle(const struct view *view)
{
	struct totals totals = { 0 };
	struct reasons reasons = { 0 };

	blocks_total(view, UNIT_BLOCK, &totals, &reasons);
	free(reasons.reasons);
	return totals.never == totals.all;
}

void
view_widen(const struct view *view, size_t *count, size_t *addr)
{
	const struct cfg *cfg = view->fplan->cfg;
	size_t n;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		struct figure figure = view_block(view, b);

		figure_widen(count, &figure);
	}
	if (!cfg->ninsns)
		return;
	n = (size_t)snprintf(NULL, 0, "%" PRIx64,
			     cfg->insns[cfg->ninsns - 1].addr);
	if (n > *addr)
		*addr = n;
}
