/*
 * Lists of address ranges from .debug_ranges and .debug_rnglists.  Private to
 * symtab/.
 */
#ifndef SYMTAB_DWARF_RANGES_H
#define SYMTAB_DWARF_RANGES_H

#include "symtab/effort.h"
#include "util/fail.h"

struct range_sections {
	struct bytes ranges, rnglists, addr;
	bool big_endian;
	struct effort *effort;
};

/* How a unit encodes its lists, and what they are relative to. */
struct range_unit {
	unsigned version;	/* of its DWARF */
	unsigned offset_size, addr_size;
	uint64_t base;		/* its DW_AT_low_pc */
	uint64_t addr_base, rnglists_base;
};

/* The ranges of one DIE. */
struct range_list {
	struct range *ranges;	/* those that are code; owned by the caller */
	size_t n;
	uint64_t first;		/* start of the first one, code or not */
	bool any;		/* first is known */
};

/* Append [lo, hi) if it is code of the file being read. */
void range_add(struct range_list *list, const struct reading *r, uint64_t lo,
	       uint64_t hi);

/*
 * Append the list at value, which is an offset, or with `indexed` an index
 * (DWARF 4, 2.17.3; DWARF 5, 2.17.3).  0, or -1 if the list is damaged.
 */
MUST_CHECK int ranges_read(struct range_list *list, const struct reading *r,
			   struct range_sections *sections,
			   const struct range_unit *unit, uint64_t value,
			   bool indexed);

#endif
