/*
 * Language-specific data areas (LSDA): where exceptions continue in a
 * function.  Private to symtab/.
 */
#ifndef SYMTAB_LSDA_H
#define SYMTAB_LSDA_H

#include "symtab/dwarf_lines.h"

/* A section of the file, and its byte order. */
struct lsda_section {
	struct bytes bytes;
	uint64_t addr;		/* of the first byte */
	bool big_endian;
	bool narrow;		/* addresses have 32 bits */
};

/*
 * Read a value encoded as `encoding` (DW_EH_PE_...) at *offset of the section,
 * and move *offset behind it.  False if the section ends before, or if the
 * encoding is neither absolute nor relative to the pc.  Linux Standard Base
 * Core, 10.5.1.
 */
bool lsda_value(const struct lsda_section *section, uint64_t *offset,
		uint8_t encoding, uint64_t *value);

/*
 * Append to *pads the landing pads that the area at address `lsda` has for
 * the function, or part of one, that begins at start.  False if the area is
 * damaged; pads found before the damage are kept.
 */
bool lsda_pads(const struct lsda_section *section, uint64_t lsda,
	       uint64_t start, uint64_t **pads, size_t *npads);

#endif
