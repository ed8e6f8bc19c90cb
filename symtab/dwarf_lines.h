/*
 * Line tables: the files and the rows of one unit, from the bytes of
 * .debug_line.  Private to symtab/.
 */
#ifndef SYMTAB_DWARF_LINES_H
#define SYMTAB_DWARF_LINES_H

#include "symtab/effort.h"

/* The sections that line tables are in; they outlive the tables. */
struct line_sections {
	struct bytes line, line_str, str;
	bool big_endian;
	struct effort *effort;
};

struct line_table;

/*
 * Read the header of the table at offset; comp_dir, which must outlive the
 * table, is where the compiler ran, or NULL.  NULL if it is damaged.
 */
struct line_table *lines_open(const struct line_sections *sections,
			      uint64_t offset, const char *comp_dir);
void lines_close(struct line_table *table);

/* Index in image->files of a file number of the unit's, or FILE_NONE. */
uint32_t lines_file(struct line_table *table, struct reading *r,
		    uint64_t number);

/*
 * Append the rows to the image's, without those of code that the linker has
 * left out: DWARF 5, 6.2.  0, or -1 if the table is damaged: then some rows
 * may be missing.
 */
int lines_read(struct line_table *table, struct reading *r);

#endif
