/*
 * Separate debug files.  Private to symtab/.
 */
#ifndef SYMTAB_SEPARATE_H
#define SYMTAB_SEPARATE_H

#include "symtab/elf.h"

/*
 * The separate debug file of elf, or NULL; then no message is set.  One that
 * does not match is told in a remark.
 */
struct elf *separate_debug(struct elf *elf, struct reading *r);

/* The file that elf's DWARF shares with others (dwz), or NULL. */
struct elf *separate_supplement(struct elf *elf);

#endif
