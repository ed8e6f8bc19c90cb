/*
 * Names of functions as they are shown.
 */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include <stdbool.h>

#include "symtab/image.h"

/* Demangled, if wanted and possible; owned by the caller. */
char *name_shown(const char *name, bool demangled);

/* The same of all its names, "f (= g)". */
char *name_with_aliases(const struct func *func, bool demangled);

/*
 * If the name is wider than `width` columns, without what is in brackets:
 * "std::map<...>::find(...)".  It may still be wider.  Owned by the caller.
 */
char *name_shorten(const char *name, size_t width);

#endif
