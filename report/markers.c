/*
 * Reads the markers in source files that exclude lines or branches from
 * coverage exports.
 */
#include "report/cover.h"

#include <string.h>

#include "util/mem.h"

static bool
line_has(const char *line, size_t len, const char *marker)
{
	return memmem(line, len, marker, strlen(marker)) != NULL;
}

uint8_t *
markers_read(const struct source *source, size_t *n)
{
	uint8_t *marks = mem_alloc(source->nlines + 1), on = 0;

	for (uint32_t i = 1; i <= source->nlines; i++) {
		size_t len;
		const char *line = source_line(source, i, &len);

		marks[i] = on;
		if (!line_has(line, len, "LCOV_EXCL_"))
			continue;
		if (line_has(line, len, "LCOV_EXCL_STOP"))
			on &= (uint8_t)~MARK_LINE;
		else if (line_has(line, len, "LCOV_EXCL_START"))
			on |= MARK_LINE;
		if (line_has(line, len, "LCOV_EXCL_BR_STOP"))
			on &= (uint8_t)~MARK_BRANCH;
		else if (line_has(line, len, "LCOV_EXCL_BR_START"))
			on |= MARK_BRANCH;
		marks[i] = on;
		if (line_has(line, len, "LCOV_EXCL_LINE"))
			marks[i] |= MARK_LINE;
		if (line_has(line, len, "LCOV_EXCL_BR_LINE"))
			marks[i] |= MARK_BRANCH;
	}
	*n = source->nlines + 1;
	return marks;
}
