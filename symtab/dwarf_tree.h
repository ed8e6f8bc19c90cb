/*
 * The trees of DIEs in .debug_info, without what they say.  Private to
 * symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_TREE_H
#define SYMTAB_DWARF_TREE_H

#include "symtab/dwarf_abbrev.h"

/* Where a unit is in .debug_info and what its header says. */
struct tree_unit {
	uint64_t header, die, end;	/* offsets; of its first DIE, its end */
	uint64_t abbrevs;	/* offset of its table */
	struct abbrev_sizes sizes;
};

struct tree {
	struct bytes info, abbrev;
	bool big_endian;
	struct effort *effort;
	struct tree_unit unit;	/* entered last */
	struct abbrevs abbrevs;	/* its table */
};

struct tree_die {
	uint64_t offset;	/* in .debug_info */
	uint16_t tag;
	bool has_children, has_code;
	uint64_t behind;	/* its attributes: its first child, if any */
	uint64_t sibling;	/* behind its children, if it says so, or 0 */
};

/* Go on to a unit: 0, or -1 if that would take more than the effort allows. */
int tree_enter(struct tree *tree, const struct tree_unit *unit) MUST_CHECK;
void tree_close(struct tree *tree);

/*
 * Look at the DIE at offset, which must be in the unit.  1; 0 if the siblings
 * end there; -1 if it is damaged.
 */
int tree_die(const struct tree *tree, uint64_t offset, struct tree_die *die);

/*
 * The offset behind the DIE and its children, where its next sibling is; 0 if
 * it is damaged.  Reads all that is between, unless a DW_AT_sibling says it.
 */
uint64_t tree_next(const struct tree *tree, const struct tree_die *die);

#endif
