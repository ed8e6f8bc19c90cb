/*
 * Makes abbreviation tables safe for libdwarf.  Private to symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_ABBREV_H
#define SYMTAB_DWARF_ABBREV_H

#include "symtab/effort.h"
#include "util/fail.h"

/*
 * Take every DW_AT_sibling out of the abbreviations (DWARF 5, 7.5.3) that
 * units of info use, in place: libdwarf would follow one that points to its
 * own DIE for ever.  0, or -1 if the tables overlap beyond reason or would
 * take more than the effort allows: then some may be left.
 */
MUST_CHECK int abbrevs_tame(uint8_t *abbrev, size_t n, const struct bytes *info,
			    bool big_endian, struct effort *effort);

#endif
