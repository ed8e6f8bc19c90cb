/*
 * Go's table of functions, .gopclntab.  Private to symtab/.
 */
#ifndef SYMTAB_GOPCLNTAB_H
#define SYMTAB_GOPCLNTAB_H

#include "symtab/elf.h"

/*
 * Append to image->pads where functions go on that recovered from a panic.
 * Reads the text.  False if the table is damaged; pads found in the rest are
 * kept.
 */
bool gopclntab_pads(struct reading *r, struct elf *elf);

/*
 * Append the functions to r->symbols.  False if the
 * table is damaged; functions of the rest are appended.
 */
bool gopclntab_symbols(struct reading *r, struct elf *elf);

#endif
