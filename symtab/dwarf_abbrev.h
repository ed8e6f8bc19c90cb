/*
 * Tables of abbreviations (DWARF 5, 7.5.3): which attributes a DIE has, and how
 * long they are.  Private to symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_ABBREV_H
#define SYMTAB_DWARF_ABBREV_H

#include "symtab/cursor.h"
#include "symtab/effort.h"
#include "symtab/pool.h"
#include "util/fail.h"

/* Attributes that come one after the other and are treated alike. */
struct abbrev_part {
	uint16_t form;		/* of one attribute; 0: some of a fixed size */
	uint16_t size;		/* of those, in bytes */
	bool sibling;		/* it is DW_AT_sibling */
};

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	bool has_code;		/* it has DW_AT_low_pc or DW_AT_ranges */
	uint32_t first;		/* of its parts in the table */
	uint32_t n;
};

/* How long addresses and offsets are in a unit. */
struct abbrev_sizes {
	uint8_t addr;		/* 4 or 8, as in its header */
	uint8_t offset;		/* 4 or 8 */
	uint16_t version;
};

/* One table.  All zeros is an empty one, of no unit. */
struct abbrevs {
	bool read;
	uint64_t offset, size;	/* in .debug_abbrev, in bytes */
	struct abbrev_sizes sizes;	/* which it was read with */
	struct abbrev *abbrevs;
	size_t n;
	struct map by_code;	/* only if codes are not 1, 2, 3, ... */
	struct abbrev_part *parts;
	size_t nparts;
};

/*
 * Read the table at offset, unless *abbrevs has it; of a damaged one, what is
 * before the damage.  0, or -1 if that takes more than the effort allows.
 */
int abbrevs_read(struct abbrevs *abbrevs, const struct bytes *section,
		 uint64_t offset, struct abbrev_sizes sizes,
		 struct effort *effort) MUST_CHECK;
void abbrevs_free(struct abbrevs *abbrevs);

/* The abbreviation of that code, or NULL. */
const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code);

/*
 * Move the cursor past the attributes of a DIE.  Returns what its DW_AT_sibling
 * says, relative to the unit's header, or 0.  The cursor is bad afterwards if
 * there are not so many bytes, or a form is not known.
 */
uint64_t abbrev_pass(const struct abbrevs *abbrevs, const struct abbrev *abbrev,
		     struct cursor *c);

#endif
