/*
 * The table of a report input: the counts of all plans by source line, summed
 * over objects, and by function.  Never prints a report.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/figure.h"
#include "report/report.h"
#include "report/source.h"

/* A source file that has units. */
struct file_entry {
	const char *path;	/* in full, lent by an image */
	char *shown;		/* the shortest clear name */
	size_t line, nlines;	/* table->lines[line .. line + nlines) */
	const struct plan *plan;	/* one that has the file */
	struct source *source;	/* see table_source */
	char *source_fault;	/* why there is no source */
	bool source_tried;
	bool foreign;		/* the system's or the compiler's: foreign.c */
	bool excluded;		/* by --exclude-path */
	bool left;		/* its lines are left out */
	size_t nleft;		/* how many, of each object */
};

struct line_entry {
	uint32_t file;		/* index into table->files */
	uint32_t line;
	struct figure count;
	uint32_t plan;		/* index into report_input->plans */
	uint32_t func;		/* a function of it that has the line, or
				   FUNC_NONE */
};

/* A function or an inlined function. */
struct func_entry {
	char *name;		/* as shown, with aliases; or NULL: see
				   table_names */
	uint32_t file;		/* index into table->files, or FILE_NONE */
	uint32_t line;
	struct figure count;
	uint32_t plan;
	uint32_t ref;		/* the unit's: index into funcs or inlines of
				   the image */
};

struct func_table {
	struct func_entry *entries;	/* calls descending, unknown ones last,
					   then name: see table_names */
	size_t n;
};

/* The sums of one function, or of nameless code. */
struct event_func {
	uint32_t plan, fplan;	/* indices, as a view has them */
	char *name;		/* as shown; owned */
	struct figure *sums;	/* per event, if event_in_funcs */
};

/* What the events of the options sum up to. */
struct event_sums {
	struct figure *all;	/* per event */
	struct figure outside;	/* how often functions went to code of their
				   object that is neither in a function nor a
				   stub that is counted */
	size_t by;		/* the first event that event_in_funcs, or as
				   many as there are events */
	struct event_func *funcs;	/* that have part in event `by`; the
					   most first */
	size_t nfuncs;
};

/* The units of one plan. */
struct units {
	struct unit *units;
	size_t n;
};

struct table {
	const struct report_options *opts;
	const struct report_input *report_input;
	struct units *units;	/* per plan */
	uint32_t **maps;	/* per plan, per file of its image: index into
				   files, or FILE_NONE */
	struct file_entry *files;	/* ascending path */
	size_t nfiles;
	struct line_entry *lines;	/* ascending file, line */
	size_t nlines;
	struct func_table funcs, inlines;
	size_t columns;		/* of the output that is written to */
	struct event_sums *event_sums;	/* NULL: not made yet; see event_sums */
};

/* Never NULL.  The options and the report input must outlive the table. */
struct table *table_make(const struct report_options *opts,
			 const struct report_input *report_input);
void table_free(struct table *table);

/*
 * Give the first n functions of one of the table's lists their names, by which
 * those with the same count are then in order.  To make a name takes long, and
 * most reports show few.
 */
void table_names(const struct table *table, const struct func_table *funcs,
		 size_t n);

/*
 * The file's text, read at the first call and lent until table_source_drop;
 * NULL, with file->source_fault set, if it cannot be read.
 */
struct source *table_source(struct table *table, struct file_entry *file);
void table_source_drop(struct file_entry *file);
/* Whether the text, which must be read, is newer than the object's file. */
bool table_source_newer(const struct file_entry *file);

/* The entry of a line, or NULL. */
const struct line_entry *table_line(const struct table *table, uint32_t file,
				    uint32_t line);

/* Is the unit a line of a file that reports leave out? */
bool table_leaves(const struct table *table, uint32_t plan,
		  const struct unit *unit);

/* Index into table->files of a file of the plan's image, or FILE_NONE. */
uint32_t table_file(const struct table *table, uint32_t plan, uint32_t file);

/* The number of digits of the largest line count, at least min. */
size_t table_lines_digits(const struct table *table, size_t min);

/*
 * The most columns of places or objects, which are usually so many: more where
 * the output is wide.
 */
size_t table_widest(const struct table *table, size_t usual);

/* "FILE:LINE", or "" for FILE_NONE; owned by the caller. */
char *table_place(const struct table *table, uint32_t file, uint32_t line);

/* The last component of the object's path; lent. */
const char *table_object(const struct table *table, uint32_t plan);

/* paths.c: give every file its shown name.  The files ascend by path. */
void paths_shorten(struct file_entry *files, size_t n);

/*
 * foreign.c: mark the files that are the system's or the compiler's, unless the
 * user has chosen files, and those of which lines are left out: these, unless
 * there are no others or --system-headers is given, and what --exclude-path
 * matches.
 */
void foreign_mark(struct table *table);
/* Are the file's lines left out? */
bool foreign_left(const struct table *table, uint32_t file);
/* Say what was left out of the table's lines, if anything was. */
void foreign_write(const struct table *table, const char *indent, FILE *out);

/* "never called", as far as is known of what was attached to. */
const char *report_input_never(const struct report_input *report_input);
/* Whether some plan knows only what ran, not how often (--once). */
bool report_input_once(const struct report_input *report_input);

#endif
