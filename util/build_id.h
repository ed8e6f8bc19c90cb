/*
 * Build-ids: what they look like as text, and where files are found by them.
 */
#ifndef UTIL_BUILD_ID_H
#define UTIL_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/* The id's n bytes in hexadecimal, "" if n is 0; owned by the caller. */
char *build_id_text(const uint8_t *id, size_t n);

/*
 * "DIR/.build-id/ab/cdefENDING", where a file with the id abcdef is looked for
 * (GDB manual, "Debugging Information in Separate Files"); owned by the caller.
 * NULL if the id is too short to be a directory's name and a file's.
 */
char *build_id_path(const char *dir, const uint8_t *id, size_t n,
		    const char *ending);

#endif
