/*
 * Sets of strings that number their members.
 */
#ifndef REPORT_EXPORT_INTERNED_H
#define REPORT_EXPORT_INTERNED_H

#include <stddef.h>
#include <stdint.h>

/* An empty set is zeroed. */
struct interned {
	char **strings;		/* by number */
	size_t n;
	uint32_t *slots;	/* a hash: number + 1, or 0 */
	size_t nslots;		/* a power of two */
};

/*
 * The string's number, from 0 on; a copy of a new string is added.  A string
 * was new if its number is the n from before the call.
 */
uint32_t intern(struct interned *interned, const char *string);
void interned_free(struct interned *interned);

#endif
