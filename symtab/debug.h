/*
 * DWARF: functions, inlined copies, lines, unwind entries.  Private to
 * symtab/.
 */
#ifndef SYMTAB_DEBUG_H
#define SYMTAB_DEBUG_H

#include "symtab/reading.h"

/*
 * Read the subprograms, and what `want` (IMAGE_LINES, ...) says, of the file
 * open at fd; alt_fd is that of its supplementary file or -1.  What is
 * damaged is left out and told in a remark.
 */
void debug_read(struct reading *r, int fd, int alt_fd, unsigned want);

/* Append to r->frames what .eh_frame says. */
void debug_read_frames(struct reading *r, int fd);

#endif
