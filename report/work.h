/*
 * The work of some part of the code: how many instructions and blocks it has,
 * how many of them never ran, and how many were executed in all.  The figures
 * are those of Weinberger, "Cheap Dynamic Instruction Counting", BLTJ 63(8)
 * 1984, section IX.
 */
#ifndef REPORT_WORK_H
#define REPORT_WORK_H

#include "report/view.h"

struct work {
	struct figure ie;	/* instructions executed */
	size_t i, ine;		/* instructions, those never executed */
	struct figure bbe;	/* blocks executed */
	size_t bb, bbne;	/* blocks, those never entered */
};

/* Add one instruction, one block, or another part of the code. */
void work_add_insn(struct work *work, const struct figure *count);
void work_add_block(struct work *work, const struct figure *count);
void work_add(struct work *to, const struct work *work);

/* The work of a whole function. */
struct work work_of_fplan(const struct view *view);

/*
 * The work of all functions, divided among table->lines: an array indexed as
 * these, which the caller owns.  *rest is set to the work that belongs to no
 * line.  A block belongs to the line of its first instruction.
 */
struct work *work_by_line(struct table *table, struct work *rest);

/* The same among table->files. */
struct work *work_by_file(struct table *table, struct work *rest);

#endif
