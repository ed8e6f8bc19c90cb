/*
 * Units: what is counted of an image's source.  Functions, lines and inlined
 * functions.
 */
#ifndef PROGRAM_UNITS_H
#define PROGRAM_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/select.h"
#include "symtab/image.h"

static const uint32_t UNIT_NONE = UINT32_MAX;	/* REGION_NONE as well */

/*
 * One unit.  A line of a file is one unit however many functions have code
 * for it.  `why`, if set, says why the unit's count is not known.
 */
struct unit {
	uint8_t kind;		/* UNIT_FUNC, UNIT_LINE or UNIT_INLINE */
	uint32_t ref;		/* UNIT_FUNC: image->funcs[ref];
				   UNIT_INLINE: image->inlines[ref], the first
				   of all copies of one function;
				   UNIT_LINE: file, image->files[ref] */
	uint32_t line;		/* UNIT_LINE, UNIT_INLINE's declaration */
	uint32_t func;		/* UNIT_LINE: image->funcs[func] has code of
				   it (others may, too), or FUNC_NONE */
	uint64_t n;
	const char *why;	/* static string or NULL */
	bool summed;		/* some of its code could be counted */
};

/* A row, function or inlined copy that could not be counted. */
struct skip {
	uint64_t addr;
	const char *why;	/* static string */
};

/*
 * The lines and inlined functions of an image that are chosen, as lines.h finds
 * them.
 */
struct unit_table {
	const struct image *image;
	const struct selection *sel;
	struct unit *units;
	size_t nunits;
	uint32_t *line_index;	/* a hash of (file, line) */
	size_t line_index_size, nlines;
	uint8_t *choices;	/* enum choice of each file */
	uint32_t *stmts;	/* per row: the is_stmt row in force, or none */
	uint32_t func;		/* function whose lines are being looked at */
	uint32_t *copy_units;	/* the unit of each inlined copy */
	bool keeping;		/* counts are being added up: skips are kept */
	struct skip *skips;
	size_t nskips;
};

/* Free the table and what lines.h's functions have put there. */
void unit_table_free(struct unit_table *table);

/* Append a unit; returns its index. */
uint32_t unit_add(struct unit_table *table, enum unit_kind kind, uint32_t ref,
		  uint32_t line);
/*
 * Note that the place at addr cannot be counted, for the reason `why`, a static
 * string.  The unit's count is then unknown unless it has other places.  unit
 * may be UNIT_NONE.
 */
void unit_skip(struct unit_table *table, uint32_t unit, uint64_t addr,
	       const char *why);
/*
 * Note that the unit has code that can be counted: its count is known even if
 * nothing is added to it, and other rows of a line that cannot be counted do
 * not spoil the line.
 */
void unit_found(struct unit *unit);

#endif
