/*
 * How many instructions and blocks some part of the code has, how many of
 * them were executed and how often: the figures of Weinberger, "Cheap Dynamic
 * Instruction Counting", BLTJ 63(8) 1984, section IX.
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

void work_add_insn(struct work *work, const struct figure *count);
void work_add_block(struct work *work, const struct figure *count);
void work_add(struct work *to, const struct work *work);

/* All of a function's. */
struct work work_of_fplan(const struct view *view);

/*
 * Divided among table->lines, by their index; and what is of none of them, in
 * *rest.  Owned by the caller.  A block belongs to its first instruction's.
 */
struct work *work_by_line(struct table *table, struct work *rest);

/* The same among table->files. */
struct work *work_by_file(struct table *table, struct work *rest);

#endif
