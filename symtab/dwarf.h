/*
 * What dwarf.c and dwarf_die.c share: the DWARF of one file, and the facts
 * that a DIE states.  Private to symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_H
#define SYMTAB_DWARF_H

#include "symtab/dwarf_lib.h"
#include "symtab/dwarf_lines.h"
#include "symtab/dwarf_ranges.h"
#include "symtab/dwarf_tree.h"
#include "symtab/effort.h"

/* A unit of .debug_info. */
struct unit {
	struct tree_unit tree;
	size_t number;		/* of its header, from 0 */
	struct range_unit ranges;
	bool has_lines, has_code;
	uint64_t line_offset;	/* if has_lines: DW_AT_stmt_list */
	const char *comp_dir;	/* owned by libdwarf, or NULL */
	struct line_table *lines;	/* one of debug->opened, or NULL */
};

/* A function's name and declaration. */
struct origin {
	const char *name, *linkage;	/* in the pool, or NULL */
	uint32_t file, line;
};

/* One file's DWARF. */
struct debug {
	struct reading *r;
	unsigned want;
	struct effort effort;
	struct lib lib;
	struct tree tree;	/* of the unit that is being read */
	Dwarf_Debug dbg;
	Dwarf_Error err;
	struct line_sections lines;
	struct range_sections ranges;
	struct debug *alt;	/* the supplementary file's, or NULL */
	struct unit *units;	/* ascending */
	size_t nunits;
	size_t nheaders;	/* that libdwarf has passed, see unit_enter */
	bool headers_bad;	/* libdwarf cannot pass all of them */
	struct origin *origins;
	size_t norigins;
	struct map origin_at;	/* offset of a DIE -> origins */
	struct map entries;	/* entries of the subprograms seen */
	struct map tables;	/* offsets of line tables seen */
	struct line_table **opened;	/* the units' tables, each once */
	size_t nopened;
	struct map opened_at;	/* offset and directory -> opened */
	char optimised[8];	/* an option like "-O2" of a unit, or "" */
	size_t nameless;	/* inlined copies left out */
	size_t damages;
	char *damage;		/* the first one */
};

/* What a DIE states itself, without the DIEs that it refers to. */
struct facts {
	uint64_t lo, hi, entry;
	bool has_lo, has_hi, has_entry;
	bool hi_offset, entry_offset;	/* hi counts from lo, entry from the
					   first range */
	bool declaration;
	bool has_ranges, indexed_ranges;
	uint64_t ranges;	/* an offset or an index */
	uint64_t addr_base, rnglists_base;
	const char *name, *linkage, *comp_dir;	/* owned by libdwarf */
	const char *producer;	/* likewise: the compiler and its options */
	uint64_t file, line, call_file, call_line;
	uint64_t line_offset;
	bool has_file, has_line, has_call_file, has_line_offset;
	Dwarf_Attribute origin;	/* the DIE referred to, or NULL */
};

/* Is the result of a libdwarf call DW_DLV_OK?  Notes an error as damage. */
bool debug_ok(struct debug *d, int result);

/* Note damage; the first one noted is the one reported. */
void debug_damage(struct debug *d, const char *what);

/*
 * Open a file's sections of those names; d must be zero but for r and effort.
 * False if the file has none of them, or libdwarf refuses them.
 */
bool debug_open(struct debug *d, struct elf *elf, const char *const *names);
void debug_close(struct debug *d);

/* The unit that holds the DIE at offset, or NULL. */
struct unit *debug_unit(struct debug *d, Dwarf_Off offset);

/* dwarf_die.c: read the facts of a DIE; release them with facts_free. */
void facts_read(struct debug *d, Dwarf_Die die, struct facts *f);
void facts_free(struct facts *f);

/*
 * The *n ranges of a DIE's code, owned by the caller; ranges outside the
 * file's text are left out.  *entry is set to the address at which the code
 * is entered, or to 0 if the DIE does not say.
 */
struct range *facts_ranges(struct debug *d, const struct unit *unit,
			   const struct facts *f, size_t *n, uint64_t *entry);

/* A DIE's name and declaration, completed from the DIEs it refers to. */
struct origin facts_origin(struct debug *d, struct unit *unit,
			   const struct facts *f);

/* Index in image->files of a unit's file number, or FILE_NONE. */
uint32_t debug_file(struct debug *d, struct unit *unit, uint64_t number);

#endif
