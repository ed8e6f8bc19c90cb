/*
 * The report of edges: where control went from each branch and jump table, and
 * how often each loop went round.
 */
#include "report/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flow/loops.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, ADDR_MIN = 6 };

struct page {
	FILE *out;
	size_t count, addr;	/* widths */
};

static uint64_t
block_addr(const struct view *view, uint32_t block)
{
	const struct cfg *cfg = view->fplan->cfg;

	return cfg->insns[cfg->blocks[block].first].addr;
}

/* Write the end of a row of which `used` columns are written. */
static void
tail_write(const struct view *view, const char *text, size_t used, FILE *out)
{
	size_t columns = view->table->columns;

	if (*text) {
		fputs("  ", out);
		text_print(out, text, strlen(text),
			   columns > used + 2 ? columns - used - 2 : 0);
	}
	putc('\n', out);
}

/* ---- branches */

static char *
branch_tail(const struct view *view, const struct insn *insn, uint32_t i)
{
	char *place = view_place(view, i), *name, *text;

	if (cfg_insn(view->fplan->cfg, insn->target) >= 0)
		return place;
	name = name_of_addr(view->plan, insn->target,
			    view->table->opts->demangle);
	text = mem_printf("%s%sto %s", place, *place ? "  " : "", name);
	free(name);
	free(place);
	return text;
}

static void
branch_write(const struct page *page, const struct view *view, uint32_t block)
{
	uint32_t last = view_last(view, block);
	const struct insn *insn = &view->fplan->cfg->insns[last];
	struct figure taken, fall, whole = view_block(view, block);
	size_t used = 2 * page->addr + 2 * page->count + SHARE_WIDTH + 8;
	char *tail = branch_tail(view, insn, last);

	view_branch(view, block, &taken, &fall);
	if (!taken.why && !fall.why)
		whole.n = taken.n + fall.n;
	fprintf(page->out, "%*" PRIx64 "  %*" PRIx64, (int)page->addr,
		insn->addr, (int)page->addr, insn->target);
	fputs("  ", page->out);
	figure_write(page->out, &taken, page->count);
	fputs("  ", page->out);
	figure_write(page->out, &fall, page->count);
	figure_share(page->out, &taken, &whole);
	tail_write(view, tail, used, page->out);
	free(tail);
}

static bool
branches_write(const struct page *page, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	bool any = false;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		if (cfg->insns[view_last(view, b)].kind != INSN_BRANCH ||
		    view->padding[b])
			continue;
		if (!any)
			fprintf(page->out, "%*s  %*s  %*s  %*s  %*s  LINE\n",
				(int)page->addr, "BRANCH", (int)page->addr,
				"TO", (int)page->count, "TAKEN",
				(int)page->count, "NOT TAKEN", SHARE_WIDTH,
				"TAKEN%");
		any = true;
		branch_write(page, view, b);
	}
	return any;
}

/* ---- jump tables */

static void
table_write(const struct page *page, const struct view *view, uint32_t block)
{
	const struct flow *flow = view->fplan->flow;
	uint32_t v = FLOW_BLOCK + block, last = view_last(view, block);
	struct figure whole = view_insn(view, last);
	char *place = view_place(view, last);
	size_t used = page->addr + page->count + SHARE_WIDTH + 6;

	fprintf(page->out, "%*" PRIx64 "  jump by a table%s%s%s\n",
		(int)page->addr, view->fplan->cfg->insns[last].addr,
		*place ? "  (" : "", place, *place ? ")" : "");
	free(place);
	fprintf(page->out, "%*s  %*s  %*s  LINE\n", (int)page->addr + 2, "TO",
		(int)page->count, "TIMES", SHARE_WIDTH, "%");
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		struct figure count = view_edge(view, e);
		uint32_t to = flow->edges[e].to;

		if (to < FLOW_BLOCK) {
			place = mem_strdup("out of the function");
			fprintf(page->out, "%*s  ", (int)page->addr + 2, "");
		} else {
			place = view_place(
				view, view->fplan->cfg->blocks[to - FLOW_BLOCK]
					      .first);
			fprintf(page->out, "%*" PRIx64 "  ",
				(int)page->addr + 2,
				block_addr(view, to - FLOW_BLOCK));
		}
		figure_write(page->out, &count, page->count);
		figure_share(page->out, &count, &whole);
		tail_write(view, place, used, page->out);
		free(place);
	}
}

static bool
tables_write(const struct page *page, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	bool any = false;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct insn *insn = &cfg->insns[view_last(view, b)];

		if (insn->kind != INSN_JUMP_INDIRECT ||
		    (insn->flow != FLOW_TABLE &&
		     insn->flow != FLOW_TABLE_LEAVES))
			continue;
		any = true;
		table_write(page, view, b);
	}
	return any;
}

/* ---- loops */

static bool
loop_has(const struct loops *loops, uint32_t header, uint32_t vert)
{
	uint32_t loop = loops->inner[vert];

	while (loop != LOOP_NONE && loop != header)
		loop = loops->outer[loop];
	return loop == header;
}

/* Per loop header, how often control entered the loop; owned by the caller. */
static struct figure *
loops_entered(const struct view *view, const struct loops *loops)
{
	const struct flow *flow = view->fplan->flow;
	struct figure *entered = mem_alloc(flow->nverts * sizeof(*entered));

	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		struct figure count = view_edge(view, e);

		if (edge->to < FLOW_BLOCK)
			continue;
		for (uint32_t loop = loops->inner[edge->to]; loop != LOOP_NONE;
		     loop = loops->outer[loop])
			if (!loop_has(loops, loop, edge->from))
				figure_add(&entered[loop], &count);
	}
	return entered;
}

static void
loop_write(const struct page *page, const struct view *view,
	   const struct loops *loops, uint32_t header,
	   const struct figure *entered)
{
	uint32_t block = header - FLOW_BLOCK;
	struct figure runs = view_block(view, block);
	size_t used = page->addr + 2 * page->count + 16;
	char *place = view_place(view, view->fplan->cfg->blocks[block].first);
	char *tail = mem_printf(
		"%s%s%s", place,
		*place && loops->irreducible[header] ? "  " : "",
		loops->irreducible[header] ? "several entries" : "");

	fprintf(page->out, "%*" PRIx64 "  ", (int)page->addr,
		block_addr(view, block));
	figure_write(page->out, entered, page->count);
	fputs("  ", page->out);
	figure_write(page->out, &runs, page->count);
	if (entered->why || runs.why)
		fprintf(page->out, "  %10s", "?");
	else if (!entered->n)
		fprintf(page->out, "  %10s", "-");
	else
		fprintf(page->out, "  %10.1f",
			(double)runs.n / (double)entered->n);
	tail_write(view, tail, used, page->out);
	free(tail);
	free(place);
}

static bool
loops_write(const struct page *page, const struct view *view)
{
	const struct flow *flow = view->fplan->flow;
	struct loops *loops = loops_find(flow);
	struct figure *entered = loops_entered(view, loops);
	bool any = false;

	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++) {
		if (loops->inner[v] != v)
			continue;
		if (!any)
			fprintf(page->out, "%*s  %*s  %*s  %10s  LINE\n",
				(int)page->addr, "LOOP", (int)page->count,
				"ENTERED", (int)page->count, "ROUNDS",
				"AVERAGE");
		any = true;
		loop_write(page, view, loops, v, &entered[v]);
	}
	free(entered);
	loops_free(loops);
	return any;
}

/* ---- the report */

static void
fplan_write(const struct page *page, const struct view *view)
{
	bool any = branches_write(page, view);

	any |= tables_write(page, view);
	any |= loops_write(page, view);
	if (!any)
		fputs("  no branches\n", page->out);
}

void
edges_write(struct table *table, FILE *out)
{
	struct page page = { out, COUNT_MIN, ADDR_MIN };
	struct totals totals = { 0 };
	struct reasons reasons = { 0 };
	struct view *view = NULL;

	title_write(table, out, "Edges");
	if (!units_present(table, out, UNIT_EDGE))
		return;
	while ((view = view_next(table, view, VIEW_EDGES))) {
		view_totals(view, UNIT_EDGE, &totals, &reasons);
		view_widen(view, &page.count, &page.addr);
	}
	totals_line_write(&totals, UNIT_EDGE, out);
	while ((view = view_next(table, view, VIEW_EDGES))) {
		putc('\n', out);
		view_heading_write(view, out);
		if (!view_idle_write(view, UNIT_EDGE, out))
			fplan_write(&page, view);
	}
	reasons_write(&reasons, out);
}
