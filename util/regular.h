/*
 * Files whose names somebody else has chosen.
 */
#ifndef UTIL_REGULAR_H
#define UTIL_REGULAR_H

#include <sys/stat.h>

/*
 * Open a regular file for reading, and nothing else: what is no file is not
 * opened even for a moment, which could wait, or mean something to a device.
 * The descriptor and *st, or -1 with the message, which calls the file `name`
 * (NULL: as its path does), and errno, 0 if it is no regular file.
 */
int regular_open(const char *path, const char *name, struct stat *st);
/*
 * The same if pmon is root: what that user and group might open.  Who is not
 * root opens what he can.
 */
int regular_open_as(uid_t user, gid_t group, const char *path,
		    struct stat *st);
/*
 * Open for reading what a handle (O_PATH) is of; the descriptor, or -1 with
 * errno.
 */
int handle_reopen(int handle);

#endif
