/*
 * What debugging information and unwind tables add to an image: functions,
 * inlined copies, lines, landing pads.  Private to symtab/.
 */
#ifndef SYMTAB_DEBUG_H
#define SYMTAB_DEBUG_H

#include "symtab/elf.h"

/*
 * Read elf's subprograms and what `want` (IMAGE_LINES, ...) asks for;
 * supplement is its supplementary file or NULL.  Damaged parts are left out,
 * and a remark says so.
 */
void debug_read(struct reading *r, struct elf *elf, struct elf *supplement,
		unsigned want);

/*
 * Append the functions that .eh_frame knows to r->frames, and the parts
 * split off functions to image->parts.
 */
void debug_read_frames(struct reading *r, struct elf *elf);

/*
 * The *n ranges of code that .eh_frame has entries for, by ascending lo;
 * owned by the caller.
 */
struct range *debug_read_tabled(struct elf *elf, size_t *n);

/* Find out whether the image's frames can be walked; set image->untabled. */
void debug_read_unwinds(struct reading *r, struct elf *elf);

/*
 * Fill in image->pads: every address at which an exception thrown through a
 * function, or a panic of Go from which it recovers, may continue in that
 * function.
 */
void debug_read_pads(struct reading *r, struct elf *elf);

#endif
