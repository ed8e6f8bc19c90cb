/*
 * Writes build-ids as text and as paths.  Never looks for a file.
 */
#include "util/build_id.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/mem.h"

char *
build_id_text(const uint8_t *id, size_t n)
{
	char *text = mem_alloc(2 * n + 1);

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text;
}

char *
build_id_path(const char *dir, const uint8_t *id, size_t n, const char *ending)
{
	char *text, *path;

	if (n < 2)
		return NULL;
	text = build_id_text(id, n);
	path = mem_printf("%s/.build-id/%.2s/%s%s", dir, text, text + 2,
			  ending);
	free(text);
	return path;
}
