/*
 * Which code belongs to which function: every address to one at most, though
 * symbols overlap, and code that line rows speak of but no symbol to pieces
 * without a name.
 */
#ifndef PLAN_CODE_H
#define PLAN_CODE_H

#include "plan/plan.h"

/* The code of one function, its entry's range first, the others ascending. */
struct code {
	uint32_t func;		/* image->funcs[func], or FUNC_NONE */
	const struct range *ranges;	/* in code_map->ranges */
	size_t nranges;
	bool entry;		/* ranges[0] begins with the entry */
};

struct code_map {
	struct code *codes;	/* functions ascending, then the nameless */
	size_t ncodes;
	struct range *ranges;
	bool *inside;		/* per function: its address is not where an
				   instruction of the code around it begins */
};

/*
 * Nameless code is looked for only if `rows` is set.  Of overlapping ranges
 * the one that begins last owns what they share.
 */
struct code_map *code_map_make(const struct image *image, bool rows);
void code_map_free(struct code_map *map);

/* Index of the first row at addr or behind it. */
size_t code_row(const struct image *image, uint64_t addr);

#endif
