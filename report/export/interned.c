/*
 * Numbers strings, with a hash table of open addressing.
 */
#include "report/export/interned.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/pool.h"
#include "util/mem.h"

static void
slots_grow(struct interned *in)
{
	free(in->slots);
	in->nslots = in->nslots ? 2 * in->nslots : 64;
	in->slots = mem_alloc(in->nslots * sizeof(*in->slots));
	for (uint32_t i = 0; i < in->n; i++) {
		size_t at = map_hash(in->strings[i], strlen(in->strings[i]));

		while (in->slots[at &= in->nslots - 1])
			at++;
		in->slots[at] = i + 1;
	}
}

uint32_t
intern(struct interned *in, const char *string)
{
	size_t at = map_hash(string, strlen(string));

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
