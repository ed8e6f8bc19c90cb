/*
 * Finding separate debug files.  Private to symtab/.
 */
#ifndef SYMTAB_SEPARATE_H
#define SYMTAB_SEPARATE_H

#include "symtab/elf.h"

/*
 * The separate debug file of elf, to be closed by the caller; NULL if there
 * is none.  A remark tells of files that do not match or cannot be read.
 */
struct elf *separate_debug(struct elf *elf, struct reading *r);

/*
 * The file that elf's DWARF shares with others (dwz), to be closed by the
 * caller; NULL if there is none.
 */
struct elf *separate_supplement(struct elf *elf);

#endif
