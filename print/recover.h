/*
 * Data files of runs whose pmon was killed.
 */
#ifndef PRINT_RECOVER_H
#define PRINT_RECOVER_H

/*
 * Rename the newest of the files FILE.PID.part, which pmon saved while it
 * counted, to `path`, the name FILE of the data file.  A file at `path` is
 * replaced only if it is an older data file, or empty.  Returns 0, and *said,
 * owned by the caller, says what was done; or -1 with the message.
 */
int data_recover(const char *path, char **said);

#endif
