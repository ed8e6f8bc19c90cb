/*
 * Abbreviations without DW_AT_sibling.  Private to symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_ABBREV_H
#define SYMTAB_DWARF_ABBREV_H

#include "symtab/effort.h"

/*
 * Take every DW_AT_sibling out of the abbreviations (DWARF 5, 7.5.3), in
 * place, that units of info use: libdwarf follows one that points to its own
 * DIE for ever.  0, or -1 if the sections are so damaged that some may be
 * left, or for all the units too much would have to be read.
 */
int abbrevs_tame(uint8_t *abbrev, size_t n, const struct bytes *info,
		 bool big_endian, struct effort *effort);

#endif
