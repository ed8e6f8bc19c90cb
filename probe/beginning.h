/*
 * Beginnings: the first instructions of a function, enough for a patch at its
 * entry.  Where it is certain that the function's calls alone lead there, they
 * are counted without a graph of the rest.  For probe/ only.
 */
#ifndef PROBE_BEGINNING_H
#define PROBE_BEGINNING_H

#include <stdbool.h>
#include <stdint.h>

struct build;

/*
 * Whether the function plan, which waits, can be counted at its beginning
 * alone; *end is the address behind the beginning then.  Only calls may be
 * wanted, and no call may be redirected to the relocated function: that needs
 * to know the function's own calls.
 *
 * All of the function's code, decoded in a line, is shown not to lead behind
 * the first byte of the beginning, nor to jump to that byte, nor to jump to the
 * middle of another function.  A jump with more than one target shows nothing,
 * and neither does code that cannot be decoded.
 */
bool beginning_find(const struct build *build, uint32_t fplan, uint64_t *end);

#endif
