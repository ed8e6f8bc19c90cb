/*
 * Which code belongs to which function.  Every address belongs to one function
 * at most, even where symbols overlap.  Code with line rows but no symbol
 * belongs to nameless code, as do the linker's stubs.
 */
#ifndef PROGRAM_CODE_H
#define PROGRAM_CODE_H

#include "symtab/image.h"

static const uint32_t FUNC_NONE = UINT32_MAX;

/* The code of one function, its entry's range first, the others ascending. */
struct code {
	uint32_t func;		/* image->funcs[func], or FUNC_NONE */
	const struct range *ranges;	/* in code_map->ranges */
	size_t nranges;
	bool entry;		/* ranges[0] begins with the entry */
	bool stub;
};

struct code_map {
	struct code *codes;	/* functions ascending, then the nameless */
	size_t ncodes;
	struct range *ranges;
	bool *inside;		/* per function: its address is inside an
				   instruction of the code around it */
};

/*
 * Which nameless code is looked for: that with line rows; and the linker's
 * stubs, each by itself.
 */
enum { CODE_ROWS = 1, CODE_STUBS = 2 };

/*
 * Divide the image's code among its functions and nameless code (a set of the
 * above).  Where ranges overlap the one that begins last owns
 * the shared bytes.  The caller frees the map with code_map_free.
 */
struct code_map *code_map_make(const struct image *image, unsigned nameless);
void code_map_free(struct code_map *map);

/* Index of the image's first row at addr or behind it; nrows if none is. */
size_t code_row(const struct image *image, uint64_t addr);

#endif
