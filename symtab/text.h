/*
 * The text of an image: reading it when it is needed, and searching it for
 * hints.  Private to symtab/.
 */
#ifndef SYMTAB_TEXT_H
#define SYMTAB_TEXT_H

#include "symtab/elf.h"
#include "util/fail.h"

/* Make the image sparse, if its file can be kept open. */
void text_open(struct reading *r, struct elf *elf);
/* Close the file that text_open kept open. */
void text_close(struct image_priv *priv);

/*
 * The `there` of a sparse image's segment or section of size bytes: nothing is
 * read yet.
 */
bool *text_blocks(struct reading *r, uint64_t size);

/* The bytes at addr in the section; as image_data. */
const uint8_t *text_data(const struct image *image, const struct data *data,
			 uint64_t addr, size_t *avail);
/* Free the bytes of the section, if it has any. */
void text_data_free(const struct data *data);

/* Fill in image->hints; 0 or -1 with the message set. */
MUST_CHECK int text_read_hints(struct reading *r, struct elf *elf);

/* Is this code, or any, wanted?  A sparse image wants only code near hints. */
bool reading_wants(const struct reading *r, uint64_t addr, uint64_t size);
bool reading_wants_any(const struct reading *r);

#endif
