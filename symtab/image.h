/*
 * An image: what an ELF file and its DWARF say of a program or library: its
 * text, functions, inlined functions and source lines.  Link addresses only;
 * immutable once opened.  Never touches a process.
 */
#ifndef SYMTAB_IMAGE_H
#define SYMTAB_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"

enum { BUILD_ID_MAX = 64 };
static const uint32_t FILE_NONE = UINT32_MAX;

struct range {
	uint64_t lo, hi;	/* [lo, hi) */
};

/* A loadable segment, or the executable part of one. */
struct segment {
	uint64_t addr;		/* p_vaddr */
	uint64_t filesz, memsz;
	uint64_t offset;
	uint32_t flags;		/* PF_R | PF_W | PF_X */
	const uint8_t *bytes;	/* filesz bytes, owned by the image; NULL
				   if not executable */
	bool *there;		/* the readers' own; NULL: all bytes are */
};

/* Where the knowledge of a function came from, best first. */
enum func_origin {
	FUNC_SYMTAB,
	FUNC_DYNSYM,
	FUNC_DWARF,
	FUNC_EH_FRAME,		/* name made up: func_401136 */
};

/*
 * A function: one entry address.  Its code is `ranges`, the first of which
 * begins with the entry; the others are parts that the compiler split off
 * (foo.cold).  No two functions share code.  All names of one address are
 * aliases of one function.
 */
struct func {
	uint64_t addr;		/* as the symbol says; see arch->first */
	uint64_t size;		/* of the first range */
	uint64_t end;		/* its code is said to end there, whatever
				   functions begin before */
	const char *name;	/* linkage name, not demangled */
	const char **aliases;	/* the other names */
	size_t naliases;
	struct range *ranges;
	size_t nranges;
	uint32_t file;		/* declared there, or FILE_NONE */
	uint32_t line;
	uint8_t origin;		/* enum func_origin */
	bool local;		/* its name is a local symbol's */
};

/* One inlined copy of a function. */
struct inlined {
	uint64_t addr;		/* entry of the copy */
	const char *name;	/* linkage name of the inlined function */
	uint32_t file, line;	/* where that is declared */
	uint32_t call_file, call_line;
	struct range *ranges;
	size_t nranges;
};

/*
 * One row of the line table: from addr on code belongs to file:line, up to
 * `end`, where the next row of its sequence stands.  line 0 is code without
 * a line.  Several rows may begin at one address (then all but the last are
 * empty).  End-of-sequence rows are not kept.
 */
struct row {
	uint64_t addr, end;
	uint32_t file, line;
	bool is_stmt;
};

/* Constant data: a section, its pointers relocated by those to itself. */
struct data {
	uint64_t addr, size;
	uint8_t *bytes;		/* owned by the image */
};

/* Where in text there may be something of interest. */
struct hint {
	uint64_t addr;
	uint8_t kind;		/* enum hint_kind */
};

/* A pointer that the dynamic linker sets to a symbol's address. */
struct import {
	uint64_t slot;		/* where the pointer is */
	const char *name;
};

struct image {
	char *path;		/* of the file that runs */
	char *debug_path;	/* separate debug file used, or NULL */
	uid_t owner;		/* whose files say which source files there
				   are: if not all are one user's, that of
				   one that is not root's */
	gid_t group;
	const struct arch *arch;
	bool dyn;		/* ET_DYN: has a bias when loaded */
	bool has_dwarf;		/* there are line rows */
	bool protects, maps;	/* it imports functions that can make text
				   writable, or put other text in its place */
	bool stripped;		/* no .symtab and no DWARF: functions are
				   from .dynsym and .eh_frame */
	bool untabled;		/* with IMAGE_FLOW: the unwinder's table leaves
				   out much of the code that calls */
	uint64_t entry;
	char *interp;		/* PT_INTERP or NULL */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	struct segment *segments;	/* PT_LOADs in file order */
	size_t nsegments;
	struct hint *hints;	/* ascending addr */
	size_t nhints;
	struct func *funcs;	/* ascending addr, one per address */
	size_t nfuncs;
	struct inlined *inlines;	/* ascending addr */
	size_t ninlines;
	struct row *rows;	/* ascending addr; a sequence's order kept */
	size_t nrows;
	struct data *data;	/* ascending; with IMAGE_FLOW, as the next */
	size_t ndata;
	uint64_t *refs;		/* ascending: code addresses that data has */
	size_t nrefs;
	struct range *parts;	/* ascending: code split off functions, where
				   no symbol says of which (stripped) */
	size_t nparts;
	uint64_t *pads;		/* ascending: landing pads of exceptions */
	size_t npads;
	struct import *imports;	/* ascending slot */
	size_t nimports;
	char **files;		/* full paths of source files */
	size_t nfiles;
	char **remarks;		/* what the user should know of the symbols */
	size_t nremarks;
	void *priv;		/* the readers' own */
};

/* What to read beyond functions: reading lines is what takes long. */
enum {
	IMAGE_LINES = 1,
	IMAGE_INLINES = 2,
	IMAGE_FLOW = 4,		/* what flow/ needs: data, refs, pads */
	IMAGE_BARE = 8,		/* nothing but where the code of the file's
				   own symbols and of .eh_frame is: quick */
	IMAGE_SPARSE = 16,	/* of that, what is near hints: quicker, and
				   most of the text is not even kept */
};

/*
 * How near: a function is left out of a sparse image only if so many bytes
 * before it and behind it, and it itself, have no hint.
 */
enum { SPARSE_REACH = 64 << 10, SPARSE_TEXT = 4096 };

/*
 * Open the ELF file `path` and read its functions, and what `want` says.
 * real_path, if not NULL, is what is opened in its place (/proc/PID/exe).
 * progress, if not NULL, is called now and then while reading, and false if
 * that is to stop.  NULL with the message set if it did, or the file cannot be
 * used (not ELF, truncated, another machine).  Damaged DWARF is no error: what
 * could be read is kept and a remark says so.
 */
struct image *image_open(const char *path, const char *real_path,
			 unsigned want, bool (*progress)(void *), void *arg);
void image_close(struct image *image);

/*
 * The bytes from addr on to the end of its executable segment; *avail is set
 * to how many.  NULL if addr is in none.  Of a sparse image they are no more
 * than SPARSE_TEXT; NULL if the file cannot be read.
 */
const uint8_t *image_text(const struct image *image, uint64_t addr,
			  size_t *avail);

/* The same, but of a sparse image those in [lo, hi). */
const uint8_t *image_text_range(const struct image *image, uint64_t lo,
				uint64_t hi, size_t *avail);

/*
 * The bytes from addr on to the end of its section of constant data (or of
 * its executable segment), likewise.
 */
const uint8_t *image_data(const struct image *image, uint64_t addr,
			  size_t *avail);

/* addr is in a section of constant data. */
bool image_is_data(const struct image *image, uint64_t addr);

/* The first of image->hints at or behind addr. */
size_t image_hint(const struct image *image, uint64_t addr);

/* Name of the symbol that the pointer at slot is set to, or NULL. */
const char *image_import(const struct image *image, uint64_t slot);

/* The function whose ranges contain addr, or NULL. */
const struct func *image_func(const struct image *image, uint64_t addr);

/*
 * A quick look before a program is run: its arch, or NULL with the message
 * saying why pmon cannot monitor it.
 */
const struct arch *image_probe(const char *path);

#endif
