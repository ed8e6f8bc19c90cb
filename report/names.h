/*
 * The names of functions and addresses as reports show them.
 */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "probe/plan.h"

/*
 * The name, demangled if that is asked for and possible; "?" for NULL.  Owned
 * by the caller.
 */
char *name_shown(const char *name, bool demangled);

/*
 * The name of an address: "f", "f+12" (hexadecimal) within f's code, "f@plt"
 * for a stub that only jumps to the imported f, or the address alone.  Owned by
 * the caller.
 */
char *name_of_addr(const struct plan *plan, uint64_t addr, bool demangled);

/* "f@plt" for such a stub, owned by the caller; or NULL. */
char *name_of_stub(const struct plan *plan, uint64_t addr, bool demangled);

/*
 * The name of a function plan: its function's, without aliases; of nameless code
 * that of its stub, or "code at 401136".  Owned by the caller.
 */
char *name_of_fplan(const struct plan *plan, const struct func_plan *fplan,
		    bool demangled);

/* The function that is entered at addr, or NULL. */
const struct func *func_entered(const struct image *image, uint64_t addr);

/* The import that the stub at addr jumps to, or NULL.  Lent by the image. */
const char *stub_import(const struct image *image, uint64_t addr);

/*
 * The imported name of the pointer that an indirect jump or call reads, or
 * NULL.  Lent by the image.
 */
const char *name_imported(const struct image *image, const struct insn *insn);

/* The function's name with its aliases, "f (= g)"; owned by the caller. */
char *name_with_aliases(const struct func *func, bool demangled);

/*
 * The name; if it is wider than `width` columns, with "..." in place of the
 * text in brackets: "std::map<...>::find(...)".  The result may still be wider
 * than that.  Owned by the caller.
 */
char *name_shorten(const char *name, size_t width);

/*
 * Print the name where `used` columns of a line of so many are taken: shortened,
 * and then cut, so that it fits.
 */
void name_fit(FILE *out, const char *name, size_t columns, size_t used);

/*
 * Is it a function that compilers and C libraries add to every program?  There
 * are so many.
 */
enum { NAMES_ADDED = 7 };
bool name_added(const char *name);

#endif
