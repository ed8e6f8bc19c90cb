/*
 * How much is read of a file.  Parts of ELF and DWARF may be referred to any
 * number of times, so that a small file could take for ever, or all memory.
 * Private to symtab/.
 */
#ifndef SYMTAB_EFFORT_H
#define SYMTAB_EFFORT_H

#include "symtab/elf.h"

enum effort_part {
	EFFORT_NAMES,		/* of symbols */
	EFFORT_ABBREV,		/* tables of abbreviations, for each unit */
	EFFORT_INFO,		/* DIEs, also those that are passed over */
	EFFORT_STR,		/* names in DWARF */
	EFFORT_LINE,		/* line tables */
	EFFORT_RANGES,		/* lists of ranges */
	EFFORT_PARTS,
};

/*
 * What was read of a file.  No part of a real program's is read more often
 * than a few times the size of the file: names are shared by some functions,
 * DIEs passed over once for each of those that they are in.
 */
struct effort {
	struct reading *r;
	const char *path;
	uint64_t size;		/* the file's */
	uint64_t spent[EFFORT_PARTS];
	bool over;		/* it was too much: no more is read */
};

/* Begin with elf, which must outlive the effort. */
struct effort effort_begin(struct reading *r, const struct elf *elf);

/*
 * n bytes are read of that part, or were.  False if that is too much, which
 * a remark says the first time, if it was too much before, or if reading is
 * to stop: then no more is to be read.
 */
bool effort_spend(struct effort *effort, enum effort_part part, uint64_t n);

#endif
