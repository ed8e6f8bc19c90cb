/*
 * Restartable sequences.  Private to symtab/.
 */
#ifndef SYMTAB_RSEQ_H
#define SYMTAB_RSEQ_H

#include "symtab/elf.h"

/* Fill in image->sequences, from the section __rseq_cs, if there is one. */
void rseq_read(struct elf *elf, struct image *image);

#endif
