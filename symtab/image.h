/*
 * An image is what an ELF file and its DWARF say of a program or library: its
 * text, functions, inlined functions and source lines.  All addresses are
 * those that the linker gave.  An image is immutable once opened, but for
 * its name, and never touches a process.
 */
#ifndef SYMTAB_IMAGE_H
#define SYMTAB_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "symtab/parts.h"

struct image {
	char *path;		/* of the file that runs */
	struct file_id file;	/* which file path was, when it was read */
	char *debug_path;	/* separate debug file used, or NULL */
	uid_t owner;		/* of the files that name the source files; if
				   they are several users', one who is not
				   root */
	gid_t group;
	const struct arch *arch;
	bool dyn;		/* ET_DYN: has a bias when loaded */
	bool has_dwarf;		/* there are line rows */
	bool protects, maps;	/* imports functions that can make text
				   writable, or that can replace text */
	bool stripped;		/* no .symtab and no DWARF: functions are
				   from .dynsym, .eh_frame and .gopclntab */
	bool untabled;		/* with IMAGE_FLOW: .eh_frame lacks much of the
				   code that makes calls */
	uint64_t entry;
	char *interp;		/* PT_INTERP or NULL */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	struct segment *segments;	/* PT_LOADs in file order */
	size_t nsegments;
	struct hint *hints;	/* ascending addr */
	size_t nhints;
	bool unsearched;	/* by image_calls: there are no hints */
	struct func *funcs;	/* ascending addr, one per address */
	size_t nfuncs;
	struct inlined *inlines;	/* ascending addr */
	size_t ninlines;
	struct row *rows;	/* ascending addr; a sequence's order kept */
	size_t nrows;
	struct data *data;	/* ascending addr; without IMAGE_FLOW, only
				   what the dynamic linker does not change */
	size_t ndata;
	uint64_t *refs;		/* ascending: code addresses in data; only
				   with IMAGE_FLOW, like pads and imports */
	size_t nrefs;
	bool ocaml;		/* it has OCaml's frame tables */
	uint64_t *frames;	/* those of refs that nothing but these tables
				   has: return addresses, they say */
	size_t nframes;
	struct range *parts;	/* ascending: code split off functions, from
				   .eh_frame where symbols do not tell */
	size_t nparts;
	struct range *plts;	/* ascending, apart: the linker's stubs */
	size_t nplts;
	struct range *sequences;	/* ascending: restartable ones (rseq), and a
				   byte of the store in front of each */
	size_t nsequences;
	uint64_t *pads;		/* ascending: landing pads of exceptions, and
				   of Go's panics */
	size_t npads;
	struct import *imports;	/* ascending slot */
	size_t nimports;
	char **files;		/* full paths of source files */
	size_t nfiles;
	char **remarks;		/* what the user should know of the symbols */
	size_t nremarks;
	void *priv;		/* struct image_priv, private to symtab/ */
};

/* What to read beyond functions; lines take the longest. */
enum {
	IMAGE_LINES = 1,
	IMAGE_INLINES = 2,
	IMAGE_FLOW = 4,		/* what flow/ needs: data, refs, pads */
	IMAGE_BARE = 8,		/* only functions of the file's own symbols and
				   of .eh_frame, and constants: quick */
	IMAGE_SPARSE = 16,	/* of those, only functions near hints:
				   quicker, and most bytes are not kept */
};

/*
 * A sparse image leaves out a function only if there is no hint in it and
 * none within SPARSE_REACH bytes before or behind it.  SPARSE_TEXT bytes of
 * its text and data are read at a time; no table is as long as SPARSE_DATA.
 */
enum { SPARSE_REACH = 64 << 10, SPARSE_TEXT = 4096, SPARSE_DATA = 512 << 10 };

/*
 * Open the ELF file `path` and read its functions, and what `want` asks for.
 * real_path, if not NULL, is opened in its place (/proc/PID/exe).  progress,
 * if not NULL, is called now and then and returns false to stop the reading.
 * NULL with the message set if the reading was stopped or the file cannot be
 * used (not ELF, truncated, another machine).  Damaged DWARF is no error: the
 * rest is kept and a remark says so.  Release the image with image_close.
 */
struct image *image_open(const char *path, const char *real_path, unsigned want,
			 bool (*progress)(void *), void *arg);

/*
 * What the opening of an image calls, with arg, and where else it looks; each
 * may be NULL.
 */
struct image_calls {
	bool (*progress)(void *arg);	/* as image_open's */
	/*
	 * Whether nobody will look for anything in the text: then it is not
	 * searched for hints, and a sparse image has no functions.  The image
	 * has its segments, file and build_id already.
	 */
	bool (*unsearched)(void *arg, const struct image *image);
	void *arg;
	/* Directories with debug files, by build-id, before /usr/lib/debug. */
	const char **debug_dirs;
	size_t ndebug_dirs;
	/*
	 * Finds a debug file that is nowhere else by its build-id: its path,
	 * owned by the caller, or NULL.
	 */
	char *(*debug_find)(const uint8_t *id, size_t n);
};

/* The same with more calls. */
struct image *image_open_with(const char *path, const char *real_path,
			      unsigned want, const struct image_calls *calls);
void image_close(struct image *image);

/*
 * Call the image by the path of another file with the same contents, and its
 * remarks, too, where they begin with the path.
 */
void image_rename(struct image *image, const char *path);

/* The last part of the image's path. */
const char *image_name(const struct image *image);

/*
 * The bytes from addr to the end of its executable segment, owned by the
 * image; *avail is set to their number.  A sparse image gives SPARSE_TEXT
 * bytes at most.  NULL if addr is in no such segment, or a sparse image's file
 * cannot be read.
 */
const uint8_t *image_text(const struct image *image, uint64_t addr,
			  size_t *avail);

/* The same, but a sparse image gives the bytes in [lo, hi). */
const uint8_t *image_text_range(const struct image *image, uint64_t lo,
				uint64_t hi, size_t *avail);

/*
 * The bytes from addr to the end of its section of constant data; if addr is
 * in none, of its executable segment.  A sparse image gives SPARSE_DATA bytes
 * at most.  NULL as image_text.
 */
const uint8_t *image_data(const struct image *image, uint64_t addr,
			  size_t *avail);

/*
 * Whether the ranges have (part of) a restartable sequence, which must stay where
 * it is, without a trap.
 */
bool image_restarts(const struct image *image, const struct range *ranges,
		    size_t n);

/* Whether a part of a sparse image's file could not be read when needed. */
bool image_lost(const struct image *image);

/* How many bytes its segments have in the file, without those not read. */
uint64_t image_size(const struct image *image);

/* Is addr in a section of constant data? */
bool image_is_data(const struct image *image, uint64_t addr);

/* The index of the first hint at or behind addr; nhints if there is none. */
size_t image_hint(const struct image *image, uint64_t addr);

/* The name of the symbol whose address the pointer at slot gets, or NULL. */
const char *image_import(const struct image *image, uint64_t slot);

/* The function whose ranges contain addr, or NULL. */
const struct func *image_func(const struct image *image, uint64_t addr);

/*
 * Check quickly, before a program is run, that pmon can monitor it.  Returns
 * its arch, or NULL with the message that says why not.
 */
const struct arch *image_probe(const char *path);

#endif
