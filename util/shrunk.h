/*
 * Mapped files that become shorter.
 */
#ifndef UTIL_SHRUNK_H
#define UTIL_SHRUNK_H

#include <stdbool.h>

/*
 * From now on memory of a mapped file that is not there any more, because the
 * file has become shorter, or memory has run out, reads as 0.
 */
void shrunk_catch(void);
/* Has that happened? */
bool shrunk_met(void);

#endif
