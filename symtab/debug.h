/*
 * DWARF: functions, inlined copies, lines, unwind entries.  Private to
 * symtab/.
 */
#ifndef SYMTAB_DEBUG_H
#define SYMTAB_DEBUG_H

#include "symtab/elf.h"

/*
 * Read the subprograms, and what `want` (IMAGE_LINES, ...) says, of elf;
 * supplement is its supplementary file or NULL.  What is damaged is left out
 * and told in a remark.
 */
void debug_read(struct reading *r, struct elf *elf, struct elf *supplement,
		unsigned want);

/*
 * Append to r->frames the functions that .eh_frame knows, and to the image's
 * parts what is split off functions.
 */
void debug_read_frames(struct reading *r, struct elf *elf);

/*
 * What code .eh_frame tells of: *n ranges, ascending lo; owned by the caller.
 */
struct range *debug_read_tabled(struct elf *elf, size_t *n);

/* Find out whether frames of the image can be walked: image->untabled. */
void debug_read_unwinds(struct reading *r, struct elf *elf);

/*
 * Fill in the image's landing pads: every address at which an exception that
 * is thrown through a function may continue in it.
 */
void debug_read_pads(struct reading *r, struct elf *elf);

#endif
