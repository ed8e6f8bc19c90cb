/*
 * What ran of source files, as the formats of coverage tools have it: files,
 * their functions, lines and branches, with what exclusion markers in the
 * source leave out left out, and paths as --source-path maps them.
 */
#ifndef REPORT_COVER_H
#define REPORT_COVER_H

#include "report/view.h"

/*
 * A function with all its relocated functions, inlined ones too: its count is
 * how often it was called, in whatever way.
 */
struct cover_func {
	const char *name;	/* linkage name, lent */
	uint32_t line;		/* where it is declared */
	uint32_t end;		/* the last line that has code of it */
	struct figure count;
	size_t blocks, run;	/* of it where it is not inlined */
};

/* One way that control can go from the end of a block. */
struct cover_branch {
	uint32_t line;
	uint32_t branch;	/* the branches of a line, from 0 on */
	uint32_t way;		/* the ways of a branch, from 0 on */
	bool falls;		/* to the next instruction */
	struct figure count;
	struct figure begun;	/* how often the branch was */
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
	struct cover_file *files;	/* as table->files; those without
					   anything are empty */
	size_t nfiles;
};

/*
 * Functions, lines and branches that were not counted, and those whose source
 * file is not known, are not there.  A function's first line, if no code
 * belongs to it (the brace may be on a later one), has the function's count,
 * as gcov has it.
 */
struct cover *cover_make(struct table *table);
void cover_free(struct cover *cover);
void cover_file_free(struct cover_file *file);

/* How much there is and how much of it ran. */
struct cover_totals {
	struct totals funcs, lines, branches;
};

void cover_totals_add(struct cover_totals *totals,
		      const struct cover_file *file);

/* ---- markers.c */

enum { MARK_LINE = 1, MARK_BRANCH = 2 };

/*
 * Per line of a source file, from 1 on, what of it markers exclude: those of
 * geninfo(1), LCOV_EXCL_LINE, LCOV_EXCL_START and LCOV_EXCL_STOP, and the same
 * with BR_ for branches only.  A region without an end goes to the end of the
 * file.  *n is set to how many there are; owned by the caller.
 */
uint8_t *markers_read(const struct source *source, size_t *n);

#endif
