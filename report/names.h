/*
 * Names of functions as they are shown.
 */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include <stdbool.h>

#include "plan/plan.h"

/* Demangled, if wanted and possible; owned by the caller. */
char *name_shown(const char *name, bool demangled);

/*
 * What is at an address: "f", "f+12" (hexadecimal) within f's code, "f@plt" for
 * a stub that only jumps to the imported f, or the address alone.  Owned by
 * the caller.
 */
char *name_of_addr(const struct plan *plan, uint64_t addr, bool demangled);

/*
 * The imported name that the pointer has which an indirect jump or call goes
 * by, or NULL.
 */
const char *name_imported(const struct image *image, const struct insn *insn);

/* The same of all its names, "f (= g)". */
char *name_with_aliases(const struct func *func, bool demangled);

/*
 * If the name is wider than `width` columns, without what is in brackets:
 * "std::map<...>::find(...)".  It may still be wider.  Owned by the caller.
 */
char *name_shorten(const char *name, size_t width);

#endif
