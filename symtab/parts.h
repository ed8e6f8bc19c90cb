/*
 * What an image consists of: ranges, segments, functions, line rows, hints.
 */
#ifndef SYMTAB_PARTS_H
#define SYMTAB_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_ID_MAX = 64 };
static const uint32_t FILE_NONE = UINT32_MAX;

struct range {
	uint64_t lo, hi;	/* [lo, hi) */
};

/*
 * Which file an image was read from, and what changes with its content.  Times
 * are in nanoseconds.
 */
struct file_id {
	uint64_t dev, ino, size, mtime, ctime;
	bool settled;		/* was not changed so lately that a further
				   change might leave all of these alike */
};

/* A loadable segment, or the executable part of one. */
struct segment {
	uint64_t addr;		/* p_vaddr */
	uint64_t filesz, memsz;
	uint64_t offset;
	uint32_t flags;		/* PF_R | PF_W | PF_X */
	const uint8_t *bytes;	/* filesz bytes, owned by the image; NULL
				   if not executable */
	bool *there;		/* private to symtab/text.c: which blocks of
				   a sparse image are read; NULL: all are */
};

/* How a function was found, best first. */
enum func_origin {
	FUNC_SYMTAB,
	FUNC_DYNSYM,
	FUNC_DWARF,
	FUNC_GO,		/* .gopclntab */
	FUNC_EH_FRAME,		/* name made up: func_401136 */
};

/*
 * A function has one entry address.  Its code is `ranges`, the first of which
 * begins with the entry; the others are parts that the compiler split off
 * (foo.cold).  No two functions share code.  All names of one address are
 * aliases of one function.
 */
struct func {
	uint64_t addr;		/* as the symbol says; see arch->first */
	uint64_t size;		/* of the first range */
	uint64_t end;		/* where its code is said to end, even if other
				   functions begin before that */
	const char *name;	/* linkage name, not demangled */
	const char **aliases;	/* the other names */
	size_t naliases;
	struct range *ranges;
	size_t nranges;
	uint32_t file;		/* of its declaration, or FILE_NONE */
	uint32_t line;
	uint8_t origin;		/* enum func_origin */
	bool local;		/* `name` is a local symbol */
};

/* One inlined copy of a function. */
struct inlined {
	uint64_t addr;		/* entry of the copy */
	const char *name;	/* linkage name of the inlined function */
	uint32_t file, line;	/* of that function's declaration */
	uint32_t call_file, call_line;
	struct range *ranges;
	size_t nranges;
};

/*
 * One row of the line table: code in [addr, end) belongs to file:line; the
 * next row of the sequence begins at `end`.  Line 0 is code without a line.
 * Several rows may begin at one address; then all but the last are empty.
 * End-of-sequence rows are not kept.
 */
struct row {
	uint64_t addr, end;
	uint32_t file, line;
	bool is_stmt;
};

/* A section of constant data; pointers into the same image are relocated. */
struct data {
	uint64_t addr, size;
	uint8_t *bytes;		/* owned by the image */
	uint64_t offset;	/* in the file, of a sparse image's */
	bool *there;		/* as a segment's */
};

/* A place in text whose bytes may be an instruction of interest. */
struct hint {
	uint64_t addr;
	uint8_t kind;		/* enum hint_kind */
};

/* A pointer that the dynamic linker sets to a symbol's address. */
struct import {
	uint64_t slot;		/* where the pointer is */
	const char *name;
};

#endif
