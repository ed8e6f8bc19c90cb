/*
 * The fence around libdwarf: it gets sections in memory, never a file, and
 * only the sections that it needs.  Hides what differs between its versions
 * 20210528 and 0.11.  Private to symtab/dwarf*.c.
 */
#ifndef SYMTAB_DWARF_LIB_H
#define SYMTAB_DWARF_LIB_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

#include "symtab/effort.h"
#include "util/fail.h"

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Interface_a lib_interface;
#else
typedef Dwarf_Obj_Access_Interface lib_interface;
#endif

enum { LIB_SECTIONS_MAX = 8 };

struct lib_section {
	const char *name;
	uint64_t addr;
	struct bytes bytes;
};

/* What libdwarf sees of a file.  Section 0 is empty, as in ELF. */
struct lib {
	struct lib_section sections[LIB_SECTIONS_MAX];
	size_t nsections;
	bool big_endian;
	bool wide;		/* 64 bits */
	lib_interface interface;
};

/*
 * Open the sections of those names; returns libdwarf's result.  lib must not
 * move, and elf not be closed, before lib_close.
 */
MUST_CHECK int lib_open(struct lib *lib, struct elf *elf,
			const char *const *names, Dwarf_Debug *dbg,
			Dwarf_Error *err);
void lib_close(Dwarf_Debug dbg);

#endif
