/*
 * Text: what is read of it, and what it is looked through for.  Private to
 * symtab/.
 */
#ifndef SYMTAB_TEXT_H
#define SYMTAB_TEXT_H

#include "symtab/elf.h"

/* Make the image sparse, if its file can be kept open. */
void text_open(struct reading *r, struct elf *elf);
void text_close(struct image_priv *priv);

/* What of a sparse segment of that size is there: nothing. */
bool *text_blocks(struct reading *r, uint64_t size);

/* Fill in image->hints; 0 or -1 with the message set. */
int text_read_hints(struct reading *r, struct elf *elf);

/* Is such code wanted?  In a sparse image only what is near hints is. */
bool reading_wants(const struct reading *r, uint64_t addr, uint64_t size);
bool reading_wants_any(const struct reading *r);

#endif
