/*
 * Numbers strings, with a hash table of open addressing.
 */
#include "report/export/interned.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* FNV-1a: Fowler, Noll and Vo. */
static size_t
string_hash(const char *s)
{
	size_t hash = 14695981039346656037U;

	while (*s)
		hash = (hash ^ (unsigned char)*s++) * 1099511628211U;
	return hash;
}

static void
slots_grow(struct interned *in)
{
	free(in->slots);
	in->nslots = in->nslots ? 2 * in->nslots : 64;
	in->slots = mem_alloc(in->nslots * sizeof(*in->slots));
	for (uint32_t i = 0; i < in->n; i++) {
		size_t at = string_hash(in->strings[i]);

		while (in->slots[at &= in->nslots - 1])
			at++;
		in->slots[at] = i + 1;
	}
}

uint32_t
intern(struct interned *in, const char *string)
{
	size_t at = string_hash(string);

	if (2 * in->n >= in->nslots)
		slots_grow(in);
	while (in->slots[at &= in->nslots - 1]) {
		uint32_t number = in->slots[at] - 1;

		if (!strcmp(in->strings[number], string))
			return number;
		at++;
	}
	*vec_push(in->strings, in->n) = mem_strdup(string);
	in->slots[at] = (uint32_t)in->n;
	return in->slots[at] - 1;
}

void
interned_free(struct interned *in)
{
	for (size_t i = 0; i < in->n; i++)
		free(in->strings[i]);
	free(in->strings);
	free(in->slots);
}
