/*
 * Keeps the files mapped into an address space as libdw's modules, and reads
 * their text.  Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_FILES_H
#define MONITOR_UNWIND_STACK_FILES_H

#include <elfutils/libdwfl.h>

#include "host/host.h"
#include "monitor/unwind/stack_memory.h"
#include "util/fail.h"

enum { HEAD_SIZE = 1024 };

/* One ELF file, mapped from `lo` on. */
struct mapped_file {
	uint64_t lo;
	uint64_t entry;		/* its entry point, a va; 0: none */
	unsigned checked;	/* number of the last walk that compared the
				   head */
	bool has_head;
	uint8_t head[HEAD_SIZE];	/* read from memory; as a rule it
					   contains the build-id */
};

struct stack_files {
	const struct host *host;
	Dwfl *dwfl;		/* NULL: nothing mapped, or not yet read */
	struct mapping *maps;
	size_t nmaps;
	struct mapped_file **files;
	size_t nfiles;
	/*
	 * The file of the text that was read last, mapped from text_lo on; or -1.
	 * Frames without tables read a few bytes of it each.
	 */
	int text_fd;
	uint64_t text_lo;
};

/* Without a map.  The host is lent. */
struct stack_files files_none(const struct host *host);

/*
 * Read the memory map again: true if text is mapped otherwise than before.  Then
 * *now has that map, and files_read makes its modules.
 */
bool files_changed(struct stack_files *files, pid_t tid,
		   struct stack_files *now);
void files_read(struct stack_files *files, pid_t tid);
/* Free the modules and the map, not *files. */
void files_free(struct stack_files *files);

/*
 * The module at va, or NULL.  *stale is set if its file is no longer what is
 * mapped there; each walk, known by its number, checks a file once.
 */
Dwfl_Module *files_module(struct stack_files *files,
			  const struct stack_memory *memory, uint64_t va,
			  bool *stale);
/* The module's file. */
const struct mapped_file *files_of(Dwfl_Module *module);

/* See stack_text. */
int files_text(struct stack_files *files, pid_t tid, uint64_t va, void *buf,
	       size_t n) MUST_CHECK;

#endif
