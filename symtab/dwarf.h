/*
 * What dwarf.c and dwarf_die.c share: one file's DWARF, what a DIE says.
 * Private to symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_H
#define SYMTAB_DWARF_H

#include "symtab/dwarf_lib.h"
#include "symtab/dwarf_lines.h"
#include "symtab/dwarf_ranges.h"
#include "symtab/effort.h"

/* A unit of .debug_info. */
struct unit {
	Dwarf_Off die, end;	/* of its first DIE, of the unit */
	Dwarf_Die root;		/* the first DIE */
	size_t number;		/* of its header, from 0 */
	struct range_unit ranges;
	bool has_lines, has_code;
	uint64_t line_offset;	/* if has_lines: DW_AT_stmt_list */
	const char *comp_dir;	/* libdwarf's, or NULL */
	struct line_table *lines;	/* once it is read; of the debug's */
};

/* A function's name and declaration. */
struct origin {
	const char *name, *linkage;	/* of the pool, or NULL */
	uint32_t file, line;
};

/* One file's DWARF. */
struct debug {
	struct reading *r;
	unsigned want;
	struct effort effort;
	struct lib lib;
	Dwarf_Debug dbg;
	Dwarf_Error err;
	struct line_sections lines;
	struct range_sections ranges;
	struct debug *alt;	/* of the supplementary file, or NULL */
	struct unit *units;	/* ascending */
	size_t nunits;
	size_t nheaders;	/* gone through by libdwarf, see unit_enter */
	bool headers_bad;	/* not all of them can be */
	struct origin *origins;
	size_t norigins;
	struct map origin_at;	/* offset of a DIE -> origins */
	struct map entries;	/* of subprograms seen */
	struct map tables;	/* offsets of line tables seen */
	struct line_table **opened;	/* those of units, each once */
	size_t nopened;
	struct map opened_at;	/* offset and directory -> opened */
	size_t nameless;	/* inlined copies left out */
	size_t damages;
	char *damage;		/* the first one */
};

/* What a DIE itself says. */
struct facts {
	uint64_t lo, hi, entry;
	bool has_lo, has_hi, has_entry;
	bool hi_offset, entry_offset;	/* from lo, from the first range */
	bool declaration;
	bool has_ranges, indexed_ranges;
	uint64_t ranges;	/* an offset or an index */
	uint64_t addr_base, rnglists_base;
	const char *name, *linkage, *comp_dir;	/* libdwarf's, or NULL */
	uint64_t file, line, call_file, call_line;
	uint64_t line_offset;
	bool has_file, has_line, has_call_file, has_line_offset;
	Dwarf_Attribute origin;	/* or NULL */
};

/* The libdwarf call went well; else remembers what it said. */
bool debug_ok(struct debug *d, int result);
void debug_damage(struct debug *d, const char *what);

/*
 * Open a file's sections of those names, d being zero but for r; false if it
 * has none, or libdwarf refuses them.
 */
bool debug_open(struct debug *d, struct elf *elf, const char *const *names);
void debug_close(struct debug *d);

/* The unit that the DIE at offset is of, or NULL. */
struct unit *debug_unit(struct debug *d, Dwarf_Off offset);

/* dwarf_die.c: read the facts of a DIE; facts_free them afterwards. */
void facts_read(struct debug *d, Dwarf_Die die, struct facts *f);
void facts_free(struct facts *f);

/*
 * The code that a DIE with these facts has, *n ranges to be freed with
 * free(); code that is not in the file's text is left out.  *entry is set to
 * where it is entered, or 0 if the DIE does not say.
 */
struct range *facts_ranges(struct debug *d, const struct unit *unit,
			   const struct facts *f, size_t *n, uint64_t *entry);

/* The name and declaration, completed from the DIEs referred to. */
struct origin facts_origin(struct debug *d, struct unit *unit,
			   const struct facts *f);

/* Index in image->files of a unit's file number, or FILE_NONE. */
uint32_t debug_file(struct debug *d, struct unit *unit, uint64_t number);

#endif
