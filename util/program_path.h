/*
 * Finds programs as execvp(3) does.
 */
#ifndef UTIL_PROGRAM_PATH_H
#define UTIL_PROGRAM_PATH_H

/*
 * The path of the program of that name in $PATH, or the name itself if it has a
 * '/'; owned by the caller.  NULL with the message set if $PATH has none.
 */
char *program_path(const char *name);

#endif
