/*
 * ELF files in the memory of a process, and what its dynamic linker tells
 * debuggers.
 */
#ifndef HOST_DYNAMIC_H
#define HOST_DYNAMIC_H

#include "host/host.h"

/*
 * The va of the dynamic linker's struct r_debug (System V, link.h), or 0.  Once
 * it is known it stays until the program executes another.
 */
uint64_t dynamic_debug(const struct host *host, pid_t tid);
/*
 * The va that the dynamic linker calls when libraries have come or gone
 * (r_brk), or 0; debug: from dynamic_debug.
 */
uint64_t dynamic_brk(const struct host *host, pid_t tid, uint64_t debug);
/*
 * Whether the dynamic linker is about to load or unload libraries, and will tell
 * once more when that is done.
 */
bool dynamic_changes(const struct host *host, pid_t tid, uint64_t debug);

/*
 * How many bytes of the mapping belong to the ELF file that begins there: to
 * its section headers or a segment; 0 if none does.  mem: from host->mem_open.
 */
uint64_t dynamic_file_size(const struct host *host, int mem, pid_t tid,
			   const struct mapping *map);

#endif
