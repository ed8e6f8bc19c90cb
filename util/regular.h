/*
 * Opens files whose names somebody else has chosen.
 */
#ifndef UTIL_REGULAR_H
#define UTIL_REGULAR_H

#include <sys/stat.h>

/*
 * Open a regular file for reading and fill in *st.  Anything but a regular file
 * is not opened even for a moment: opening a pipe could block, and opening a
 * device could have effects.  Returns the descriptor, or -1 with the message
 * and errno set; errno is 0 if it is not a regular file.  The message calls
 * the file `name`, or `path` if name is NULL.
 */
int regular_open(const char *path, const char *name, struct stat *st);
/*
 * The same, but if pmon is root and the user is not, with no more rights than
 * that user and group have.
 */
int regular_open_as(uid_t user, gid_t group, const char *path, struct stat *st);
/*
 * Open for reading the file that an O_PATH handle stands for; returns the
 * descriptor, or -1 with errno set.
 */
int handle_reopen(int handle);

#endif
