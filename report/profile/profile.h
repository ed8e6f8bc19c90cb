/*
 * A profile: the content of one data file (pmon.out), or of several merged:
 * runs, objects, and per function its blocks and edges with their counts.
 * Never looks at the program or its DWARF.
 */
#ifndef REPORT_PROFILE_PROFILE_H
#define REPORT_PROFILE_PROFILE_H

#include "flow/propagate.h"
#include "symtab/image.h"
#include "report/profile/profile_many.h"
#include "report/profile/profile_data.h"
#include "util/fail.h"

void profile_free(struct profile *profile);

/*
 * Which of the rules in profile_data.h a profile breaks; NULL if none.
 * profile_read checks this; profiles that are written must pass.
 */
const char *profile_fault(const struct profile *profile);

/* How often a function was called. */
struct count profile_calls(const struct profile_func *func);

/*
 * The number of instructions executed.  Sets *known to whether it is known.  If
 * the function is in doubt, some block's count is not known, or the sum does
 * not fit in 64 bits, it is not, and the result is 0.
 */
uint64_t profile_executed(const struct profile_func *func, bool *known);

/* Set the path, the machine, and the build-id or text_size and text_crc. */
void profile_identify(struct profile_object *object, const struct image *image);

/*
 * Compare by identity: 0 if a and b are the same file, that is have the same
 * machine and the same build-id or, if neither has one, the same path, size and
 * CRC.  Otherwise less or greater than 0, in a total order.
 */
int profile_object_compare(const struct profile_object *a,
			   const struct profile_object *b);

/* ---- files: profile_file.c; see man/pmon.out.5 */

/*
 * Write a data file, in whole or not at all: the old file stays if this fails.
 * A target that cannot be replaced (/dev/stdout, a pipe) is written directly.
 * 0, or -1 with the message set.
 */
MUST_CHECK int profile_write(const struct profile *profile, const char *path);

/* Whether a file begins as a data file does. */
bool profile_is(const char *path);

/* Read a data file.  NULL with the message set, which names the file. */
struct profile *profile_read(const char *path);

/*
 * The same with the file's bytes in memory: profile_write.c, profile_read.c.  The
 * caller owns the result.  `path` is for messages.
 */
uint8_t *profile_encode(const struct profile *profile, size_t *size);
struct profile *profile_decode(const char *path, const uint8_t *bytes,
			       size_t size);

#endif
