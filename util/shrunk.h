/*
 * Keeps pmon alive when mapped files become shorter.
 */
#ifndef UTIL_SHRUNK_H
#define UTIL_SHRUNK_H

#include <stdbool.h>

/*
 * Handle SIGBUS from now on: pages of a mapped file that are lost, because the
 * file has become shorter or memory has run out, read as 0.
 */
void shrunk_catch(void);
/* Has a page been lost? */
bool shrunk_met(void);

#endif
