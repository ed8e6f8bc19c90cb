/*
 * Directories that are the user's alone.
 */
#ifndef UTIL_USER_DIR_H
#define UTIL_USER_DIR_H

#include <sys/stat.h>

#include "util/fail.h"

/*
 * The path "$VARIABLE/pmon" or, if that variable of the XDG base directory
 * specification holds no absolute path, "$HOME/FALLBACK/pmon"; owned by the
 * caller.  NULL if there is no absolute path at all.
 */
char *user_path(const char *variable, const char *fallback);

/*
 * Does the directory belong to that user, and is it closed to all others?  0, or
 * -1 with the message.
 */
MUST_CHECK int user_dir_check(const char *dir, const struct stat *st,
			      uid_t uid);

/*
 * Open the directory of this user, after making it if need be.  The descriptor,
 * or -1 with the message.
 */
MUST_CHECK int user_dir_open(const char *dir);

#endif
