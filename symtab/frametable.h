/*
 * OCaml's frame tables.  Private to symtab/.
 */
#ifndef SYMTAB_FRAMETABLE_H
#define SYMTAB_FRAMETABLE_H

#include "symtab/elf.h"

/*
 * Find the words of data in which the frame tables of an OCaml program hold
 * return addresses.  Sets image->ocaml, and returns the words' addresses,
 * ascending, *n of them, owned by the caller.  Where a table is damaged its
 * rest and the tables behind it are left out.
 */
uint64_t *frametable_words(struct elf *elf, struct reading *r, size_t *n);

#endif
