/*
 * The selection, what the user asked to count: kinds of units, and globs that
 * choose among functions, files, lines and objects.  Knows no image and no
 * process.
 */
#ifndef PROGRAM_SELECT_H
#define PROGRAM_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/command_line.h"

enum unit_kind {
	UNIT_FUNC,
	UNIT_LINE,
	UNIT_INLINE,
	UNIT_BLOCK,
	UNIT_EDGE,
	UNIT_INSN,
	UNIT_CALL,		/* from one caller to one callee */
	UNIT_KINDS,
};

/* func (unless lines were selected) and, where there is DWARF, line. */
enum { UNITS_DEFAULT = 0 };

struct glob {
	char *pattern;		/* owned; without the '!' */
	bool negated;
	uint32_t lo, hi;	/* --line=FILE:LO-HI; 0, UINT32_MAX if all */
};

struct globs {
	struct glob *globs;
	size_t n;
};

struct selection {
	unsigned units;		/* 1 << enum unit_kind, or UNITS_DEFAULT */
	bool places;		/* line rows are needed, counted or not */
	struct globs funcs, files, lines, objects;
};

/* Options that fill a selection: --units, --func, --file, --line, --object. */
enum { SELECT_OPTIONS = 5 };
extern const struct option_entry select_entries[SELECT_OPTIONS];

/*
 * Parse "func,line" and add its units to the selection.  0, or -1 with the
 * message set.
 */
int select_units(struct selection *sel, const char *arg) MUST_CHECK;

/* The units that UNITS_DEFAULT stands for. */
unsigned select_units_default(const struct selection *sel);

/* Add one argument of --func, --file, --object ("!glob" negates). */
void select_glob(struct globs *globs, const char *arg);

/*
 * Add one argument of --line, FILE:LO[-HI], where FILE is a glob ("!" negates).
 * 0, or -1 with the message set.
 */
int select_line(struct selection *sel, const char *arg) MUST_CHECK;

/* Free what the selection holds, not the selection itself. */
void select_free(struct selection *sel);

/*
 * Whether something is chosen: no negated glob matches and, if there are globs
 * that are not negated, one of those does.  A file or object matches by its
 * whole path or by its last components (src/x.c, x.c); a function by its
 * linkage name, an alias, either of them demangled, or that without its
 * parameters.
 */
bool select_func(const struct selection *sel, const char *name,
		 const char *const *aliases, size_t naliases);
bool select_file(const struct selection *sel, const char *path);
bool select_file_line(const struct selection *sel, const char *path,
		      uint32_t line);
/* Whether a path, or its last components, match the pattern. */
bool select_path(const char *pattern, const char *path);
/* Whether any line of the file may be chosen. */
bool select_file_some(const struct selection *sel, const char *path);
/* Without any --object glob only the main object is chosen. */
bool select_object(const struct selection *sel, const char *path,
		   bool main_object);

#endif
