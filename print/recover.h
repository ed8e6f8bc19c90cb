/*
 * Data files of runs whose pmon was killed.
 */
#ifndef PRINT_RECOVER_H
#define PRINT_RECOVER_H

/*
 * Give the newest of the files FILE.PID.part, which pmon saved while it
 * counted, the name `path`, that of the data file.  What is at `path` is
 * replaced if it is an older data file.  0, and *said, owned by the caller,
 * says what was done; or -1 with the message.
 */
int data_recover(const char *path, char **said);

#endif
