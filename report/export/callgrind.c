/*
 * Writes a profile of Callgrind (Valgrind manual, "Callgrind Format
 * Specification").  Conditional jumps, about which the manual and Callgrind's
 * own writer (callgrind/dump.c) disagree, follow the writer.  The cost is the
 * number of instructions executed.  The inclusive cost of calls is written as
 * 0: counts do not tell a function's callers apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/callees.h"
#include "report/export/interned.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

struct page {
	struct table *table;
	FILE *out;
	struct interned objects, files, funcs;	/* names written */
	struct callees callees;
	uint64_t total;		/* instructions known */
	size_t unknown;		/* instructions whose count is not */
	uint32_t file;		/* of the lines written now */
};

/* ---- names */

/* Write a name: "fn=(1) main" at first, "fn=(1)" afterwards. */
static void
name_put(struct page *page, const char *key, struct interned *names,
	 const char *name)
{
	size_t known = names->n;
	uint32_t number = intern(names, name);

	fprintf(page->out, "%s=(%u)", key, number + 1);
	if (number == known) {
		putc(' ', page->out);
		text_line_put(page->out, name, "", 0);
	}
	putc('\n', page->out);
}

static const char *
file_name(const struct page *page, uint32_t file)
{
	return file == FILE_NONE ? "???" : page->table->files[file].path;
}

/* ---- positions */

static uint32_t
insn_file(const struct page *page, const struct view *view, uint32_t insn)
{
	const struct row *row = view->rows[insn];

	return row ? table_file(page->table, view->plan_index, row->file) :
		     FILE_NONE;
}

/* Write an instruction's address and line: "0x1139 12". */
static void
position_put(const struct page *page, const struct view *view, uint32_t insn)
{
	const struct row *row = view->rows[insn];

	fprintf(page->out, "0x%" PRIx64 " %u",
		view->fplan->cfg->insns[insn].addr, row ? row->line : 0);
}

/* Make the instruction's file, or `own` if it has none, that of the lines. */
static void
file_switch(struct page *page, const struct view *view, uint32_t insn,
	    uint32_t own)
{
	uint32_t file = insn_file(page, view, insn);

	if (file == FILE_NONE)
		file = own;
	if (file == page->file)
		return;
	name_put(page, file == own ? "fe" : "fi", &page->files,
		 file_name(page, file));
	page->file = file;
}

/* ---- calls */

static uint32_t
func_file(const struct table *table, const struct plan *plan,
	  const struct func_plan *fplan, uint32_t *line)
{
	const struct func *func;

	*line = 0;
	if (fplan->func == FUNC_NONE)
		return FILE_NONE;
	func = &plan->image->funcs[fplan->func];
	for (uint32_t p = 0; p < table->report_input->nplans; p++)
		if (table->report_input->plans[p] == plan) {
			*line = func->line;
			return table_file(table, p, func->file);
		}
	return FILE_NONE;
}

/* Write a call, with the callee's name as where its own cost is written. */
static void
callee_put(struct page *page, const struct view *view,
	   const struct callee *call)
{
	const struct plan *plan = call->where == CALLEE_AT ? call->plan : NULL;
	uint32_t index = plan ? plan_func(plan, call->addr) : FPLAN_NONE;
	uint32_t file = FILE_NONE, line = 0;
	char *name = NULL;

	if (plan && plan != view->plan)
		name_put(page, "cob", &page->objects, plan->image->path);
	/* A stub has the name of the function it leads to. */
	if (index != FPLAN_NONE && !strstr(call->name, "@plt")) {
		file = func_file(page->table, plan, &plan->fplans[index],
				 &line);
		name = name_of_fplan(plan, &plan->fplans[index],
				     page->table->opts->demangle);
	} else if (plan && plan != view->plan) {
		name = name_of_addr(plan, call->addr,
				    page->table->opts->demangle);
	}
	name_put(page, "cfi", &page->files, file_name(page, file));
	name_put(page, "cfn", &page->funcs,
		 name	    ? name :
		 call->name ? call->name :
			      "(not known)");
	fprintf(page->out, "calls=%" PRIu64 " 0x%" PRIx64 " %u\n",
		call->count.n, plan ? call->addr : 0, line);
	position_put(page, view, call->insn);
	fputs(" 0\n", page->out);
	free(name);
}

/* ---- jumps */

static void
jump_put(struct page *page, const struct view *view, uint32_t block,
	 const struct flow_edge *edge, const struct figure *count)
{
	const struct cfg *cfg = view->fplan->cfg;
	uint32_t last = view_last(view, block);
	uint32_t to = cfg->blocks[edge->to - FLOW_BLOCK].first;
	struct figure begun = view_insn(view, last);
	uint32_t file = insn_file(page, view, to);

	if (file != page->file && file != FILE_NONE)
		name_put(page, "jfi", &page->files, file_name(page, file));
	if (edge->by == BY_TAKEN && !begun.why)
		fprintf(page->out, "jcnd=%" PRIu64 "/%" PRIu64 " ", count->n,
			begun.n);
	else
		fprintf(page->out, "jump=%" PRIu64 " ", count->n);
	position_put(page, view, to);
	putc('\n', page->out);
	position_put(page, view, last);
	putc('\n', page->out);
}

/* Write the jumps from a block to blocks of the function that were taken. */
static void
jumps_put(struct page *page, const struct view *view, uint32_t block)
{
	const struct flow *flow = view->fplan->flow;
	const struct insn *insn =
		&view->fplan->cfg->insns[view_last(view, block)];
	uint32_t v = FLOW_BLOCK + block;

	if (!(view->fplan->units & view->plan->units & VIEW_EDGES))
		return;
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		struct figure count = view_edge(view, e);

		if (edge->to >= FLOW_BLOCK && figure_ran(&count) &&
		    (edge->by == BY_TAKEN || edge->by == BY_TABLE ||
		     (edge->by == BY_LAST && insn->kind == INSN_JUMP)))
			jump_put(page, view, block, edge, &count);
	}
}

/* ---- functions */

static void
insn_put(struct page *page, const struct view *view, uint32_t insn,
	 uint32_t own, size_t *call)
{
	struct figure count = view_insn(view, insn);

	page->unknown += count.why != NULL;
	if (!figure_ran(&count) && !(*call < page->callees.n &&
				     page->callees.calls[*call].insn == insn))
		return;
	file_switch(page, view, insn, own);
	if (figure_ran(&count)) {
		position_put(page, view, insn);
		fprintf(page->out, " %" PRIu64 "\n", count.n);
		page->total += count.n;
	}
	for (;
	     *call < page->callees.n && page->callees.calls[*call].insn == insn;
	     ++*call)
		if (figure_ran(&page->callees.calls[*call].count))
			callee_put(page, view, &page->callees.calls[*call]);
}

static void
view_put(struct page *page, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;
	uint32_t line,
		own = func_file(page->table, view->plan, view->fplan, &line);
	char *name = view_name(view);
	size_t call = 0;

	callees_clear(&page->callees);
	if (view->fplan->units & view->plan->units & VIEW_CALLS)
		callees_find(&page->callees, view);
	putc('\n', page->out);
	name_put(page, "ob", &page->objects, view->plan->image->path);
	name_put(page, "fl", &page->files, file_name(page, own));
	name_put(page, "fn", &page->funcs, name);
	page->file = own;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (view->padding[b])
			continue;
		for (uint32_t i = 0; i < block->count; i++)
			insn_put(page, view, block->first + i, own, &call);
		jumps_put(page, view, b);
	}
	free(name);
}

static bool
view_ran(const struct view *view)
{
	for (uint32_t b = 0; b < view->fplan->cfg->nblocks; b++) {
		struct figure count = view_block(view, b);

		if (count.why || count.n)
			return true;
	}
	return false;
}

void
callgrind_write(struct table *table, FILE *out)
{
	struct page page = { .table = table, .out = out };
	struct view *view = NULL;

	fprintf(out,
		"# callgrind format\nversion: 1\ncreator: pmon %s\n"
		"cmd: ",
		PMON_VERSION);
	text_line_put(out, table->report_input->command, "", 0);
	fputs("\ndesc: Inclusive cost: of calls not known, written as 0\n"
	      "positions: instr line\n"
	      "event: Ir : Instructions executed\nevents: Ir\n",
	      out);
	while ((view = view_next(table, view, VIEW_INSNS)))
		if (view_ran(view))
			view_put(&page, view);
	fprintf(out, "\ntotals: %" PRIu64 "\n", page.total);
	if (page.unknown)
		fprintf(out,
			"# not known and left out: the counts of %zu "
			"instructions\n",
			page.unknown);
	interned_free(&page.objects);
	interned_free(&page.files);
	interned_free(&page.funcs);
	callees_free(&page.callees);
}
