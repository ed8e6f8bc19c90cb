/*
 * Line tables: the source files and rows that .debug_line has for a unit.
 * Private to symtab/.
 */
#ifndef SYMTAB_DWARF_LINES_H
#define SYMTAB_DWARF_LINES_H

#include "symtab/effort.h"
#include "util/fail.h"

/* The sections that line tables are read from; they outlive the tables. */
struct line_sections {
	struct bytes line, line_str, str;
	bool big_endian;
	struct effort *effort;
};

struct line_table;

/*
 * Read the header of the table at offset.  comp_dir is the directory in which
 * the compiler ran, or NULL; it must outlive the table.  NULL if the header is
 * damaged.
 */
struct line_table *lines_open(const struct line_sections *sections,
			      uint64_t offset, const char *comp_dir);
void lines_close(struct line_table *table);

/* Index in image->files of one of the table's file numbers, or FILE_NONE. */
uint32_t lines_file(struct line_table *table, struct reading *r,
		    uint64_t number);

/*
 * Append the table's rows (DWARF 5, 6.2) to the image's, without the rows of
 * code that the linker has dropped.  0, or -1 if the table is damaged: then
 * some rows may be missing.
 */
MUST_CHECK int lines_read(struct line_table *table, struct reading *r);

#endif
