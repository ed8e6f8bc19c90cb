/*
 * The lines of an image and its inlined copies, and what they count: lines.c
 * and inlines.c.
 */
#ifndef PROGRAM_LINES_H
#define PROGRAM_LINES_H

#include "flow/entries.h"
#include "program/units.h"

/* The code of a function, or nameless code, whose units are looked for. */
struct unit_code {
	uint32_t func;		/* image->funcs[func], or FUNC_NONE */
	const struct range *ranges;
	size_t nranges;
	/* Only to emit: */
	const struct cfg *cfg;
	const struct flow *flow;
	bool mid_entered;	/* control may come to its middle unseen */
};

/* Make what the table holds of the image's lines. */
void unit_lines_open(struct unit_table *table);
/* Whether any line of the function is chosen. */
bool unit_lines_wanted(const struct unit_table *table,
		       const struct unit_code *code);
/* Append the addresses at which lines begin to *leaders. */
void unit_lines_leaders(const struct unit_table *table,
			const struct unit_code *code, uint64_t **leaders,
			size_t *n);
/*
 * Whether control cannot come to addr from the instruction before.  If rows
 * begin there, but none is is_stmt (DWARF 5, 6.2.2), and their line is another
 * than that before, the code belongs to no line: the line before may never run.
 */
bool line_row_apart(const struct cfg *cfg, uint64_t addr);
/* Emit the summands of the counts of the function's lines, by unit. */
void unit_lines_emit(struct unit_table *table, const struct unit_code *code,
		     entries_emit *emit, void *ctx);

/*
 * inlines.c: the same for inlined copies, if they are among `units`, a set of
 * 1 << enum unit_kind.
 */
void unit_inlines_open(struct unit_table *table, unsigned units);
bool unit_inlines_wanted(const struct unit_table *table,
			 const struct unit_code *code);
void unit_inlines_emit(struct unit_table *table, const struct unit_code *code,
		       entries_emit *emit, void *ctx);

#endif
