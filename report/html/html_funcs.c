/*
 * Numbers the functions of a page, and writes the data files that have their
 * code, several functions in each.
 */
#include "report/html/html.h"

#include <stdlib.h>

#include "util/mem.h"

/* A data file of more bytes gets no more functions. */
enum { PACK_SIZE = 256 << 10 };

/* ---- numbers */

/* Per function of the plan's image, its function plan; owned by the caller. */
static uint32_t *
fplans_of_funcs(const struct plan *plan)
{
	uint32_t *fplans = mem_alloc(plan->image->nfuncs * sizeof(*fplans));

	for (size_t i = 0; i < plan->image->nfuncs; i++)
		fplans[i] = FPLAN_NONE;
	for (uint32_t b = 0; b < plan->nfplans; b++)
		if (plan->fplans[b].func != FUNC_NONE)
			fplans[plan->fplans[b].func] = b;
	return fplans;
}

/*
 * Number the functions whose calls were counted.  func_of_view numbers others
 * when their code is met.
 */
static void
funcs_number(struct html *html)
{
	const struct table *table = html->table;
	size_t nplans = table->report_input->nplans;
	uint32_t **fplans = mem_alloc(nplans * sizeof(*fplans));

	for (size_t p = 0; p < nplans; p++) {
		const struct plan *plan = table->report_input->plans[p];

		fplans[p] = fplans_of_funcs(plan);
		html->ids[p] = mem_alloc(plan->nfplans * sizeof(*html->ids[p]));
		for (size_t b = 0; b < plan->nfplans; b++)
			html->ids[p][b] = FUNC_NONE;
	}
	table_names(table, &table->funcs, table->funcs.n);
	for (size_t i = 0; i < table->funcs.n; i++) {
		const struct func_entry *entry = &table->funcs.entries[i];
		uint32_t fplan = fplans[entry->plan][entry->ref];

		if (fplan != FPLAN_NONE)
			html->ids[entry->plan][fplan] = (uint32_t)html->nfuncs;
		*vec_push(html->funcs, html->nfuncs) = (struct html_func){
			.entry = entry,
			.plan = entry->plan,
			.file = entry->file,
			.line = entry->line,
		};
	}
	for (size_t p = 0; p < nplans; p++)
		free(fplans[p]);
	free(fplans);
}

static uint32_t
func_of_view(struct html *html, const struct view *view)
{
	uint32_t *id = &html->ids[view->plan_index][view->fplan_index];
	const struct func *func = fplan_func(view->fplan, view->plan->image);

	if (*id != FUNC_NONE)
		return *id;
	*id = (uint32_t)html->nfuncs;
	*vec_push(html->funcs, html->nfuncs) = (struct html_func){
		.name = view_name(view),
		.plan = view->plan_index,
		.file = func ? table_file(html->table, view->plan_index,
					  func->file) :
			       FILE_NONE,
		.line = func ? func->line : 0,
	};
	return *id;
}

/* ---- functions and branches of lines */

/* The index of the line in table->lines, or FILE_NONE. */
static uint32_t
line_of_row(const struct view *view, const struct row *row)
{
	const struct line_entry *line;

	if (!row)
		return FILE_NONE;
	line = table_line(view->table,
			  table_file(view->table, view->plan_index, row->file),
			  row->line);
	return line ? (uint32_t)(line - view->table->lines) : FILE_NONE;
}

static void
shares_add(struct html *html, const struct view *view, uint32_t id)
{
	const struct row *last = NULL;

	for (uint32_t b = 0; b < view->fplan->cfg->nblocks; b++) {
		const struct block *block = &view->fplan->cfg->blocks[b];

		for (uint32_t i = block->first;
		     !view->padding[b] && i < block->first + block->count;
		     i++) {
			const struct row *row = view->owners[i];
			uint32_t line;

			if (row == last)
				continue;
			last = row;
			line = line_of_row(view, row);
			if (line != FILE_NONE)
				*vec_push(html->shares, html->nshares) =
					(struct html_share){ line, id };
		}
	}
}

static void
branches_add(struct html *html, const struct view *view, uint32_t id)
{
	const struct cfg *cfg = view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		uint32_t last = view_last(view, b);
		struct html_branch branch = {
			.func = id,
			.addr = cfg->insns[last].addr,
		};

		if (cfg->insns[last].kind != INSN_BRANCH || view->padding[b])
			continue;
		branch.line = line_of_row(view, view->rows[last]);
		if (branch.line == FILE_NONE)
			continue;
		view_branch(view, b, &branch.taken, &branch.fall);
		*vec_push(html->branches, html->nbranches) = branch;
	}
}

static int
by_line_func(const void *va, const void *vb)
{
	const struct html_share *a = va, *b = vb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->func < b->func ? -1 : a->func > b->func;
}

static int
by_line_addr(const void *va, const void *vb)
{
	const struct html_branch *a = va, *b = vb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->func < b->func ? -1 : a->func > b->func;
}

static void
lines_sort(struct html *html)
{
	size_t n = 0;

	if (html->nshares)
		qsort(html->shares, html->nshares, sizeof(*html->shares),
		      by_line_func);
	for (size_t i = 0; i < html->nshares; i++)
		if (!n || by_line_func(&html->shares[n - 1], &html->shares[i]))
			html->shares[n++] = html->shares[i];
	html->nshares = n;
	if (html->nbranches)
		qsort(html->branches, html->nbranches, sizeof(*html->branches),
		      by_line_addr);
}

/* ---- code */

static void
blocks_write(struct script *script, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;

	script_key_begin(script, "blocks", '[');
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		struct figure count = view_block(view, b);

		script_begin(script, '[');
		script_number(script, cfg->blocks[b].first);
		script_number(script, cfg->blocks[b].count);
		script_figure(script, &count);
		script_number(script, view->padding[b]);
		script_end(script, ']');
	}
	script_end(script, ']');
}

/* Write an address, or how far it is behind the last one, which packs better. */
static void
addr_write(struct script *script, uint64_t addr, uint64_t last)
{
	if (last && addr > last)
		script_number(script, addr - last);
	else
		script_addr(script, addr);
}

/* Write [address, count, text, file, line]; the last two may be missing. */
static void
insns_write(struct script *script, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	uint64_t last = 0;

	script_key_begin(script, "insns", '[');
	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		struct figure count = view_insn(view, i);
		const struct row *row = view->owners[i];
		uint32_t file = row ? table_file(view->table, view->plan_index,
						 row->file) :
				      FILE_NONE;
		char *text = view_insn_text(view, i);

		script_begin(script, '[');
		addr_write(script, cfg->insns[i].addr, last);
		last = cfg->insns[i].addr;
		script_figure(script, &count);
		script_string(script, text);
		if (file != FILE_NONE) {
			script_number(script, file);
			script_number(script, row->line);
		}
		script_end(script, ']');
		free(text);
	}
	script_end(script, ']');
}

static void
edges_write(struct script *script, const struct view *view)
{
	const struct flow *flow = view->fplan->flow;

	script_key_begin(script, "edges", '[');
	for (uint32_t e = 0; e < flow->nedges; e++) {
		struct figure count = view_edge(view, e);

		if (!view_edge_drawn(view, e))
			continue;
		script_begin(script, '[');
		script_number(script, flow->edges[e].from);
		script_number(script, flow->edges[e].to);
		script_number(script, flow->edges[e].by == BY_FALL);
		script_figure(script, &count);
		script_end(script, ']');
	}
	script_end(script, ']');
}

/*
 * Write [first instruction, instructions, number] of what is inlined, by the
 * number in data/index.js.
 */
static void
inlines_write(struct html *html, struct script *script, const struct view *view)
{
	uint32_t ninsns = view->fplan->cfg->ninsns, at, end = 0, entry;

	script_key_begin(script, "inlines", '[');
	for (at = 0; at < ninsns; at = end) {
		entry = inline_work_at(&html->inlines, view, at);
		while (end < ninsns &&
		       inline_work_at(&html->inlines, view, end) == entry)
			end++;
		if (entry == INLINE_NONE)
			continue;
		script_begin(script, '[');
		script_number(script, at);
		script_number(script, end - at);
		script_number(script, entry);
		script_end(script, ']');
	}
	script_end(script, ']');
}

static void
func_write(struct html *html, struct script *script, const struct view *view,
	   uint32_t id)
{
	char *key = mem_printf("%u", id);

	script_key_begin(script, key, '{');
	blocks_write(script, view);
	insns_write(script, view);
	edges_write(script, view);
	inlines_write(html, script, view);
	script_end(script, '}');
	free(key);
}

static bool
view_ran(const struct view *view)
{
	for (uint32_t b = 0; b < view->fplan->cfg->nblocks; b++) {
		struct figure count = view_block(view, b);

		if (!view->padding[b] && (count.why || count.n))
			return true;
	}
	return false;
}

/* The data files of functions, which are written one after the other. */
struct packs {
	struct script script;	/* the open one */
	bool open;
	uint32_t n;		/* begun so far */
};

static void
pack_end(struct packs *packs)
{
	if (!packs->open)
		return;
	script_end(&packs->script, '}');
	script_close(&packs->script);
	packs->open = false;
}

static void
pack_add(struct html *html, struct packs *packs, const struct view *view,
	 uint32_t id)
{
	char *name;

	if (!packs->open) {
		name = mem_printf("p%u", packs->n++);
		script_open(&packs->script, html->dir, &html->reasons, name);
		script_begin(&packs->script, '{');
		packs->open = true;
		free(name);
	}
	html->funcs[id].pack = packs->n - 1;
	func_write(html, &packs->script, view, id);
	if (ftell(packs->script.out) > PACK_SIZE)
		pack_end(packs);
}

void
html_funcs_write(struct html *html)
{
	struct packs packs = { 0 };
	struct reasons reasons = { 0 };
	struct view *view = NULL;

	funcs_number(html);
	while ((view = view_next(html->table, view, VIEW_ALL))) {
		uint32_t id = func_of_view(html, view);
		struct html_func *func = &html->funcs[id];

		for (int kind = UNIT_BLOCK; kind < UNIT_KINDS; kind++)
			view_totals(view, kind,
				    &html->totals[view->plan_index][kind],
				    &reasons);
		shares_add(html, view, id);
		branches_add(html, view, id);
		html_calls_add(html, view, id);
		inline_work_add(&html->inlines, view);
		func->coded = true;
		func->work = work_of_fplan(view);
		func->ran = view_ran(view);
		if (func->ran)
			pack_add(html, &packs, view, id);
	}
	pack_end(&packs);
	free(reasons.reasons);
	lines_sort(html);
}
