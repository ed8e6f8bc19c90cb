/*
 * The files mapped into an address space, as libdw's modules, and their text.
 * Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_FILES_H
#define MONITOR_UNWIND_STACK_FILES_H

#include <elfutils/libdwfl.h>

#include "host/host.h"

enum { HEAD_SIZE = 1024 };

/* One ELF file, mapped from `lo` on. */
struct mapped_file {
	uint64_t lo;
	uint64_t entry;		/* its entry point, a va; 0: none */
	unsigned checked;	/* in this walk its head was found unchanged */
	bool has_head;
	uint8_t head[HEAD_SIZE];	/* of what is mapped: it has the
					   build-id, as a rule */
};

struct stack_files {
	const struct host *host;
	Dwfl *dwfl;		/* NULL: nothing mapped, or not yet read */
	struct mapping *maps;
	size_t nmaps;
	struct mapped_file **files;
	size_t nfiles;
};

/*
 * Read the map again: true if text is mapped otherwise than before.  Then
 * the modules are to be made anew, but not while one is in use.
 */
bool files_changed(struct stack_files *files, pid_t tid);
void files_renew(struct stack_files *files, pid_t tid);
void files_free(struct stack_files *files);

/*
 * The module at va, or NULL.  *stale is set if it is no more what is mapped
 * there; `walk` is a number for each walk, in which that is looked at once.
 */
Dwfl_Module *files_module(struct stack_files *files, pid_t tid, uint64_t va,
			  unsigned walk, bool *stale);
/* What was found of the module's file. */
const struct mapped_file *files_of(Dwfl_Module *module);

/* See stack_text. */
int files_text(const struct stack_files *files, pid_t tid, uint64_t va,
	       void *buf, size_t n);

#endif
