/*
 * A page to be browsed, while it is made; for report/html/html*.c only, but for
 * html_write.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/callees.h"
#include "report/html/html_diff.h"
#include "report/html/html_script.h"
#include "report/work.h"

/* A function, or code without a name, by its number on the page. */
struct html_func {
	const struct func_entry *entry;	/* NULL: its calls were not counted */
	char *name;		/* owned; NULL: the entry's */
	uint32_t plan;		/* index into report_input->plans */
	uint32_t file, line;	/* of table->files; FILE_NONE */
	bool coded;		/* its instructions were counted: work */
	bool ran;		/* and are in the data file `pack` */
	uint32_t pack;
	struct work work;
};

/* A line has instructions of a function. */
struct html_share {
	uint32_t line;		/* index into table->lines */
	uint32_t func;
};

/* A branch of a line, by the line table. */
struct html_branch {
	uint32_t line, func;
	uint64_t addr;
	struct figure taken, fall;
};

/* From a function to another, or to what is no function of the page. */
struct html_call {
	uint32_t from, to;	/* to: or FUNC_NONE, then it has a name only */
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
	uint32_t **ids; /* per plan, per function plan: index into funcs */
	struct totals (*totals)[UNIT_KINDS];	/* per plan */
	bool insns;		/* instructions were counted */
	/* Ascending line. */
	struct html_share *shares;
	size_t nshares;
	struct html_branch *branches;
	size_t nbranches;
	struct work *works;	/* per line; NULL without insns */
	struct html_calls calls;
	/* What it is compared with, or NULL. */
	const struct html_before *before;
	struct table *before_table;
};

/* html_funcs.c: find the functions; write their code to data files. */
void html_funcs_write(struct html *html);

/* html_calls.c: gather the calls of each function; then write them. */
void html_calls_add(struct html *html, const struct view *view, uint32_t id);
void html_calls_write(struct html *html);
void html_calls_free(struct html_calls *calls);

/* html_files.c: a data file for each source file. */
void html_files_write(struct html *html);

/* html_index.c: what the page begins with; last, as it has the reasons. */
void html_index_write(struct html *html);

/* html_diff.c: what changed, if it is compared with something. */
void html_changes_write(struct html *html);

/* Make what has its table, and may have what it is compared with. */
int html_make(struct html *html, const char *path);

/* Make a page in the directory; 0, or -1 with the message. */
int html_write(struct table *table, const char *path);

#endif
