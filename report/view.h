/*
 * The code of one function as reports show it: its instructions, blocks and
 * edges with their counts, and the source lines they belong to.
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "report/text/reasons.h"
#include "report/table.h"

/* Sets of units, to ask for views by. */
enum {
	VIEW_BLOCKS = 1 << UNIT_BLOCK,
	VIEW_EDGES = 1 << UNIT_EDGE,
	VIEW_INSNS = 1 << UNIT_INSN,
	/* Direct ones follow from edges. */
	VIEW_CALLS = 1 << UNIT_CALL | VIEW_EDGES,
	VIEW_UNITS = ~(1 << UNIT_FUNC),	/* whatever needs its graph */
	VIEW_ALL = VIEW_BLOCKS | VIEW_INSNS | VIEW_CALLS,
};

struct view {
	struct table *table;
	uint32_t plan_index;	/* of table->report_input->plans */
	uint32_t fplan_index;	/* of plan->fplans */
	const struct plan *plan;
	const struct func_plan *fplan;	/* with cfg, flow and counts */
	/*
	 * Per instruction the row that names its line, or NULL; and the one
	 * whose line's count it belongs to: the last that begins a
	 * statement, at its address or before.
	 */
	const struct row **rows, **owners;
	/* Per block: nothing leads to it and it does nothing; no unit. */
	bool *padding;
};

/*
 * The next function, or nameless code, of which any of these units was
 * counted, by plan and address; the first if view is NULL, which is closed
 * otherwise.  NULL behind the last.  What is only padding is passed over.
 */
struct view *view_next(struct table *table, struct view *view,
		       unsigned units);
void view_close(struct view *view);

/* Counts of an instruction, a block, an edge of the flow, by index. */
struct figure view_insn(const struct view *view, uint32_t insn);
struct figure view_block(const struct view *view, uint32_t block);
struct figure view_edge(const struct view *view, uint32_t edge);

/* The last instruction of a block, by its index. */
uint32_t view_last(const struct view *view, uint32_t block);

/* The edge that leaves a block in this way, or ARC_NONE. */
uint32_t view_way(const struct view *view, uint32_t block, enum flow_by by);

/* How often the branch that ends the block was taken and was not. */
void view_branch(const struct view *view, uint32_t block,
		 struct figure *taken, struct figure *fall);

/*
 * Whether drawings show the edge: ways into the function only if they are
 * its entry or were taken.
 */
bool view_edge_drawn(const struct view *view, uint32_t edge);

/* The edge is one that reports count: from a block to a block. */
bool view_edge_inner(const struct view *view, uint32_t edge);

/* Add its units of one kind to the totals; and why they are not known. */
void view_totals(const struct view *view, enum unit_kind kind,
		 struct totals *totals, struct reasons *reasons);

/* Make the widths such that its blocks' counts and addresses fit. */
void view_widen(const struct view *view, size_t *count, size_t *addr);

/* ---- text; what is returned is owned by the caller */

/* The function's name, without aliases; or "code at 401136". */
char *view_name(const struct view *view);
/* What the instruction is, and where it goes by name. */
char *view_insn_text(const struct view *view, uint32_t insn);
/* "x.c:3", or "" if the instruction is of no line. */
char *view_place(const struct view *view, uint32_t insn);
/* The lines of the instructions [first, end): "x.c:3-5,9 y.h:7". */
char *view_lines(const struct view *view, uint32_t first, uint32_t end);

/* "main  x.c:3  1 call", what names it in reports by function. */
void view_heading_write(const struct view *view, FILE *out);
/* If nothing of it ever ran, say so, and how many units of this kind it has. */
bool view_idle_write(const struct view *view, enum unit_kind kind, FILE *out);

#endif
