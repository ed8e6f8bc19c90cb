/*
 * The counts of all plans as reports want them: by source line, summed over
 * objects, and by function.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/report.h"
#include "report/source.h"

/* A count, or the reason why it is not known. */
struct figure {
	uint64_t n;		/* of a sum, what of it is known */
	const char *why;	/* NULL: n is known */
};

/* A figure is known and not zero. */
static inline bool
figure_ran(const struct figure *figure)
{
	return !figure->why && figure->n;
}

/* A source file that has units. */
struct file_entry {
	const char *path;	/* in full, lent by an image */
	char *shown;		/* as short as is clear */
	size_t line, nlines;	/* table->lines[line .. line + nlines) */
	const struct plan *plan;	/* the first that has it, or NULL */
	struct source *source;	/* see table_source */
	char *source_fault;	/* why there is none */
	bool source_tried;
};

struct line_entry {
	uint32_t file;		/* index into table->files */
	uint32_t line;
	struct figure count;
	uint32_t plan;		/* index into report_input->plans */
	uint32_t func;		/* one there that has the line, or FUNC_NONE */
};

/* A function or an inlined function. */
struct func_entry {
	char *name;		/* as it is shown, aliases behind it */
	uint32_t file;		/* index into table->files, or FILE_NONE */
	uint32_t line;
	struct figure count;
	uint32_t plan;
	uint32_t ref;		/* of the unit */
};

struct func_table {
	struct func_entry *entries;	/* calls descending, then name */
	size_t n;
};

/* How many units there are, by what became of them. */
struct totals {
	size_t all, run, never, unknown;
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
	uint32_t **maps;	/* per plan: its image's files in files */
	struct file_entry *files;	/* ascending path */
	size_t nfiles;
	struct line_entry *lines;	/* ascending file, line */
	size_t nlines;
	struct func_table funcs, inlines;
};

struct table *table_make(const struct report_options *opts,
			 const struct report_input *report_input);
void table_free(struct table *table);

/* The file's text, NULL if there is none; lent until dropped. */
struct source *table_source(struct table *table, struct file_entry *file);
void table_source_drop(struct file_entry *file);
/* Whether the text, which is there, was changed after the program was. */
bool table_source_newer(const struct file_entry *file);

/* The line's entry, or NULL. */
const struct line_entry *table_line(const struct table *table, uint32_t file,
				    uint32_t line);

/* What the image's file is in table->files; FILE_NONE stays that. */
uint32_t table_file(const struct table *table, uint32_t plan, uint32_t file);

struct figure figure_of(const struct count *count);
/* A sum is unknown if any of its summands is, for the first one's reason. */
void figure_add(struct figure *to, const struct figure *count);
/* The number, or "?", at the right of the width. */
void figure_write(FILE *out, const struct figure *count, size_t width);
/* "12" or "at least 12"; owned by the caller. */
char *figure_words(const struct figure *count);
/* Make the width such that it fits. */
void figure_widen(size_t *width, const struct figure *count);

void totals_add(struct totals *totals, const struct figure *count);

/* Width of the largest known count, at least min. */
size_t table_lines_digits(const struct table *table, size_t min);

/* "FILE:LINE", or "" without a file; owned by the caller. */
char *table_place(const struct table *table, uint32_t file, uint32_t line);

/* The last component of the object's path. */
const char *table_object(const struct table *table, uint32_t plan);

/* paths.c: give every file its shown name. */
void paths_shorten(struct file_entry *files, size_t n);

#endif
