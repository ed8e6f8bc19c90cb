/*
 * Source coverage in the shape that the formats of coverage tools share: files
 * with their functions, lines and branches.  Leaves out what exclusion markers
 * in the source exclude, and maps paths by --source-path.  Never prints.
 */
#ifndef REPORT_COVER_H
#define REPORT_COVER_H

#include "report/table.h"

/*
 * A function and its inlined copies.  The count has all calls, inlined or
 * not.
 */
struct cover_func {
	const char *name;	/* linkage name, lent */
	uint32_t line;		/* where it is declared */
	uint32_t end;		/* the last line with its code */
	struct figure count;
	size_t blocks, run;	/* not of inlined copies */
};

/* One way that control can go from the end of a block. */
struct cover_branch {
	uint32_t line;
	uint32_t branch;	/* number within the line, from 0 on */
	uint32_t way;		/* number within the branch, from 0 on */
	bool falls;		/* to the next instruction */
	struct figure count;
	struct figure begun;	/* how often the branch was executed */
	uint32_t func;		/* index into funcs, or FUNC_NONE */
};

struct cover_line {
	uint32_t line;
	struct figure count;
	uint32_t func;		/* index into funcs, or FUNC_NONE */
	bool idle;		/* a block that begins with it never ran */
	size_t branch, nbranches;	/* file->branches[branch ..] */
};

struct cover_file {
	char *path;		/* in full, mapped */
	struct cover_func *funcs;	/* ascending line, name; no two of one
					   name */
	size_t nfuncs;
	struct cover_line *lines;	/* ascending */
	size_t nlines;
	struct cover_branch *branches;	/* ascending line, branch, way */
	size_t nbranches;
};

struct cover {
	struct cover_file *files;	/* as table->files; some may be
					   empty */
	size_t nfiles;
};

/*
 * Make the coverage of a table, which must outlive it.  Never NULL.
 * Functions, lines and branches that were not counted, or whose source file is
 * not known, are left out.  If no code belongs to a function's first line (the
 * brace may be on a later one), the line has the function's count, as in gcov.
 */
struct cover *cover_make(struct table *table);
void cover_free(struct cover *cover);
/* Free what one file owns; cover_free does this for all. */
void cover_file_free(struct cover_file *file);

/* Numbers of functions, lines and branches: all, and those that ran. */
struct cover_totals {
	struct totals funcs, lines, branches;
};

void cover_totals_add(struct cover_totals *totals,
		      const struct cover_file *file);

/* ---- markers.c */

enum { MARK_LINE = 1, MARK_BRANCH = 2 };

/*
 * What markers exclude, per line of a source file, indexed from 1 on: a set of
 * MARK_ bits.  The markers are those of geninfo(1), LCOV_EXCL_LINE,
 * LCOV_EXCL_START and LCOV_EXCL_STOP, and the same with BR_ for branches only.
 * A region without an end goes to the end of the file.  Sets *n to the length
 * of the array, which the caller owns.
 */
uint8_t *markers_read(const struct source *source, size_t *n);

#endif
