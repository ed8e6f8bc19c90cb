/*
 * A view: the code of one function as reports show it, with its instructions,
 * blocks and edges, their counts, and the source lines they belong to.  Views
 * lend what plans hold; they never change it.
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "report/reasons.h"
#include "report/table.h"

/* Sets of units, for view_next. */
enum {
	VIEW_BLOCKS = 1 << UNIT_BLOCK,
	VIEW_EDGES = 1 << UNIT_EDGE,
	VIEW_INSNS = 1 << UNIT_INSN,
	/* The counts of direct calls follow from edges. */
	VIEW_CALLS = 1 << UNIT_CALL | VIEW_EDGES,
	VIEW_UNITS = ~(1 << UNIT_FUNC),	/* all that need the graph */
	VIEW_ALL = VIEW_BLOCKS | VIEW_INSNS | VIEW_CALLS,
};

struct view {
	struct table *table;
	uint32_t plan_index;	/* into table->report_input->plans */
	uint32_t fplan_index;	/* into plan->fplans */
	const struct plan *plan;
	const struct func_plan *fplan;	/* with cfg, flow and counts */
	/*
	 * Per instruction: the row that names its line, and the row whose
	 * line's count includes it (program/lines.h).  Either may be NULL.
	 */
	const struct row **rows, **owners;
	/* Per block: nothing leads to it and it does nothing, so no unit. */
	bool *padding;
};

/*
 * Open the next function, or nameless code, of which any of these units was
 * counted, in the order of plans and their function plans; the first if view is
 * NULL.  Closes the view that it is given.  Skips functions that are only
 * padding, and stubs of the linker's that never ran.  NULL behind the last; view_close is for callers that stop earlier.
 */
struct view *view_next(struct table *table, struct view *view, unsigned units);
/* Nothing if view is NULL. */
void view_close(struct view *view);

/* The count of an instruction, a block, an edge of the flow, by index. */
struct figure view_insn(const struct view *view, uint32_t insn);
struct figure view_block(const struct view *view, uint32_t block);
struct figure view_edge(const struct view *view, uint32_t edge);

/* The index of the last instruction of a block. */
uint32_t view_last(const struct view *view, uint32_t block);

/* The first edge that leaves a block in this way, or ARC_NONE. */
uint32_t view_way(const struct view *view, uint32_t block, enum flow_by by);

/*
 * How often the branch that ends the block was taken, and how often not.  Both
 * are unknown if the branch leads to the next instruction.
 */
void view_branch(const struct view *view, uint32_t block, struct figure *taken,
		 struct figure *fall);

/*
 * Whether drawings show the edge.  They leave out EXIT -> ROOT, and the ways
 * into the function, but for its entry, that are known never to have been
 * taken.
 */
bool view_edge_drawn(const struct view *view, uint32_t edge);

/* Whether reports count the edge: it goes from a block to a block. */
bool view_edge_inner(const struct view *view, uint32_t edge);

/* Add the view's units of one kind to the totals and to the reasons. */
void view_totals(const struct view *view, enum unit_kind kind,
		 struct totals *totals, struct reasons *reasons);

/* Whether none of the function's blocks ever ran. */
bool view_idle(const struct view *view);

/* Increase the widths if the blocks' counts or addresses need more. */
void view_widen(const struct view *view, size_t *count, size_t *addr);

/* ---- text: view_text.c; returned strings are owned by the caller */

/* As name_of_fplan names it. */
char *view_name(const struct view *view);
/* The disassembled instruction, with its target by name. */
char *view_insn_text(const struct view *view, uint32_t insn);
/* "x.c:3", or "" if the instruction belongs to no line. */
char *view_place(const struct view *view, uint32_t insn);
/* The lines of the instructions [first, end): "x.c:3-5,9 y.h:7". */
char *view_lines(const struct view *view, uint32_t first, uint32_t end);

/* Write the heading of reports by function: "main  x.c:3  1 call". */
void view_heading_write(const struct view *view, FILE *out);
/*
 * If none of the function's blocks ever ran, write so with its number of units
 * of this kind, and return true.
 */
bool view_idle_write(const struct view *view, enum unit_kind kind, FILE *out);

#endif
