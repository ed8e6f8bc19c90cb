/*
 * Limits how much is read of a file.  Parts of ELF and DWARF may be referred
 * to any number of times, so a small file could take for ever to read, or all
 * memory.  Private to symtab/.
 */
#ifndef SYMTAB_EFFORT_H
#define SYMTAB_EFFORT_H

#include "symtab/elf.h"

enum effort_part {
	EFFORT_NAMES,		/* of symbols */
	EFFORT_ABBREV,		/* tables of abbreviations, for each unit */
	EFFORT_INFO,		/* DIEs, skipped ones included */
	EFFORT_STR,		/* names in DWARF */
	EFFORT_LINE,		/* line tables */
	EFFORT_RANGES,		/* lists of ranges */
	EFFORT_PARTS,
};

/*
 * How much was read of a file.  Reading any part of a real program takes no
 * more than a few times the size of its file: some functions share a name, and
 * a DIE is skipped once for each DIE around it.
 */
struct effort {
	struct reading *r;
	const char *path;
	uint64_t size;		/* the file's */
	uint64_t spent[EFFORT_PARTS];
	bool over;		/* too much was read: read no more */
};

/* The effort of reading elf, which must outlive it. */
struct effort effort_begin(struct reading *r, const struct elf *elf);

/*
 * Note that n bytes of a part are read.  False if the caller must read no
 * more: too much was read (a remark says so the first time), or the user has
 * stopped the reading.
 */
bool effort_spend(struct effort *effort, enum effort_part part, uint64_t n);

#endif
