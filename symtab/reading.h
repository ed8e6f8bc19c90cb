/*
 * An image while it is being read: what the readers of ELF and DWARF find,
 * before funcs.c makes functions of it.  Private to symtab/.
 */
#ifndef SYMTAB_READING_H
#define SYMTAB_READING_H

#include "symtab/image.h"
#include "symtab/pool.h"

enum symbol_rank { RANK_GLOBAL, RANK_WEAK, RANK_LOCAL, RANK_IFUNC };

/* A function symbol, whose address lies in text. */
struct symbol {
	uint64_t addr, size;
	const char *name;
	uint32_t group;		/* number of a local symbol's source file */
	uint8_t rank;		/* enum symbol_rank */
	uint8_t origin;		/* enum func_origin */
};

/* A function as DWARF describes it. */
struct subprogram {
	uint64_t entry;		/* 0: the start of one of the ranges */
	struct range *ranges;	/* in the order given, at least one */
	size_t nranges;
	const char *name;	/* or NULL */
	uint32_t file, line;
};

/* A part of the text, from section headers where there are any. */
struct text {
	uint64_t lo, hi;
	bool plt;		/* the linker's stubs */
};

struct reading {
	struct image *image;
	struct pool *pool;	/* the image's */
	struct text *texts;	/* ascending */
	size_t ntexts;
	uint64_t texts_end;	/* the highest of their ends */
	struct symbol *symbols;
	size_t nsymbols;
	struct subprogram *subs;
	size_t nsubs;
	struct range *frames;	/* FDEs that begin a function */
	size_t nframes;
	bool sparse;		/* see IMAGE_SPARSE */
	bool symtab;		/* a .symtab was read */
	bool dwarf;		/* DWARF was read */
	struct map paths;	/* hash of a path -> image->files */
	struct map sequences;	/* sequences of rows seen */
	bool (*progress)(void *);
	void *arg;
	const char **debug_dirs;	/* as image_calls's */
	size_t ndebug_dirs;
	char *(*debug_find)(const uint8_t *id, size_t n);
	uint64_t since;		/* bytes read since progress was called */
	bool stopped;		/* progress returned false */
};

/* The text that contains addr, or NULL. */
const struct text *reading_text(const struct reading *r, uint64_t addr);

/* Does [lo, hi) lie in one text?  False if it is empty or lo is 0. */
bool reading_is_code(const struct reading *r, uint64_t lo, uint64_t hi);

/* The index of a path in image->files; normalises path in place. */
uint32_t reading_file(struct reading *r, char *path);

void reading_remark(struct reading *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Bytes from one call of progress to the next. */
enum { PROGRESS_STEP = 1 << 18 };

/* Note that n more bytes were read.  False if the reading must stop. */
bool reading_goes_on(struct reading *r, uint64_t n);

/*
 * Make image->funcs, and image_priv's ranges, of symbols, subprograms and
 * frames.  No two ranges overlap.
 */
void funcs_make(struct reading *r);

/* One range of one function. */
struct func_range {
	uint64_t lo, hi;
	uint32_t func;
};

/* What image->priv points to. */
struct image_priv {
	struct pool pool;
	int fd;			/* of a sparse image's file, or -1 */
	bool lost;		/* some of it could not be read when needed */
	const struct segment *asked;	/* whose text was asked for last, or
					   NULL */
	struct func_range *ranges;	/* of all functions, ascending */
	size_t nranges;
};

#endif
