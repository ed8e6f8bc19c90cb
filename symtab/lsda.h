/*
 * Language specific data areas: where exceptions continue in a function.
 * Private to symtab/.
 */
#ifndef SYMTAB_LSDA_H
#define SYMTAB_LSDA_H

#include "symtab/dwarf_lines.h"

/* A piece of the program's memory being read; addr is of bytes.p. */
struct lsda_section {
	struct bytes bytes;
	uint64_t addr;
	bool big_endian;
	bool narrow;		/* addresses have 32 bits */
};

/*
 * Read a value encoded as `encoding` (DW_EH_PE_...) at *offset of the
 * section, which goes on behind it.  false if it is not there or not of a
 * kind that a file can say (indirect).  Linux Standard Base Core, 10.5.1.
 */
bool lsda_value(const struct lsda_section *section, uint64_t *offset,
		uint8_t encoding, uint64_t *value);

/*
 * Append to *pads the landing pads that the area at address `lsda` says of
 * the function (or part) that begins at start.  false if it is damaged: pads
 * found before that are kept.
 */
bool lsda_pads(const struct lsda_section *section, uint64_t lsda,
	       uint64_t start, uint64_t **pads, size_t *npads);

#endif
