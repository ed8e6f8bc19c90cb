/*
 * The page to be browsed, while it is made.  Only report/html/html*.c use this.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/callees.h"
#include "report/html/html_diff.h"
#include "report/html/html_script.h"
#include "report/inline_work.h"
#include "report/work.h"
#include "util/fail.h"

/*
 * A function, or code without a name.  Its index in html->funcs is its number
 * on the page.
 */
struct html_func {
	const struct func_entry *entry;	/* NULL: its calls were not counted */
	char *name;		/* owned; NULL: the entry's */
	uint32_t plan;		/* index into report_input->plans */
	uint32_t file, line;	/* file: index into table->files, or
				   FILE_NONE */
	bool coded;		/* instructions were counted: work is set */
	bool ran;		/* its code is in the data file `pack` */
	uint32_t pack;
	struct work work;
};

/* A line and a function that has instructions on it. */
struct html_share {
	uint32_t line;		/* index into table->lines */
	uint32_t func;
};

/* A branch instruction, and the line that the line table gives it. */
struct html_branch {
	uint32_t line, func;
	uint64_t addr;
	struct figure taken, fall;
};

/* Calls from one function to another, or to code outside the page. */
struct html_call {
	uint32_t from, to;	/* numbers; to FUNC_NONE: only the name */
	uint32_t plan, fplan;	/* of the callee; or FPLAN_NONE */
	char *name;		/* owned */
	const char *how;	/* "indirect", ...; "" */
	struct figure count;
};

struct html_calls {
	bool counted;
	struct html_call *calls;
	size_t n;
	struct callees callees;
};

struct html {
	struct table *table;
	struct html_dir *dir;
	struct script_reasons reasons;
	struct html_func *funcs;
	size_t nfuncs;
	uint32_t **ids;		/* per plan, per function plan: index into
				   funcs */
	struct totals (*totals)[UNIT_KINDS];	/* per plan */
	bool insns;		/* instructions were counted */
	/* Ascending line. */
	struct html_share *shares;
	size_t nshares;
	struct html_branch *branches;
	size_t nbranches;
	struct work *works;	/* per line; NULL without insns */
	struct inline_work inlines;
	struct html_calls calls;
	/* The earlier run that the page is compared with, or NULL. */
	const struct html_before *before;
	struct table *before_table;
};

/* html_funcs.c: number the functions; write their code to data files. */
void html_funcs_write(struct html *html);

/*
 * html_calls.c: add the calls of one function; when all functions are
 * numbered, write them.
 */
void html_calls_add(struct html *html, const struct view *view, uint32_t id);
void html_calls_write(struct html *html);
void html_calls_free(struct html_calls *calls);

/* html_files.c: write a data file for each source file. */
void html_files_write(struct html *html);

/* html_index.c: write the page's overview; last, as it has the reasons. */
void html_index_write(struct html *html);

/* html_diff.c: write the changes, if the page compares two runs. */
void html_changes_write(struct html *html);

/*
 * Make a page in the directory, and free what html owns.  The caller sets the
 * table, and `before` and before_table if the page compares two runs, and frees
 * them.  0, or -1 with the message set.
 */
MUST_CHECK int html_make(struct html *html, const char *path);

#endif
