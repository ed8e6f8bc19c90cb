/*
 * Limits what is read of a file in proportion to the file's size.  Knows no
 * file format.
 */
#include "symtab/effort.h"

#include <inttypes.h>

/* Smaller files are treated as if they had this size. */
static const uint64_t size_least = 1 << 20;

static const struct {
	const char *name;
	unsigned times;		/* limit, in multiples of the file's size */
} parts[EFFORT_PARTS] = {
	[EFFORT_NAMES] = { "names of symbols (.strtab)", 16 },
	[EFFORT_ABBREV] = { "abbreviations (.debug_abbrev)", 16 },
	[EFFORT_INFO] = { "entries (.debug_info)", 16 },
	[EFFORT_STR] = { "names in DWARF (.debug_str)", 16 },
	/* Rows and ranges take more memory than they take in the file. */
	[EFFORT_LINE] = { "line tables (.debug_line)", 4 },
	[EFFORT_RANGES] = { "ranges (.debug_ranges, .debug_rnglists)", 4 },
};

struct effort
effort_begin(struct reading *r, const struct elf *elf)
{
	return (struct effort){
		.r = r,
		.path = elf_path(elf),
		.size = elf_size(elf),
	};
}

bool
effort_spend(struct effort *effort, enum effort_part part, uint64_t n)
{
	uint64_t *spent = &effort->spent[part];
	uint64_t size = effort->size > size_least ? effort->size : size_least;
	unsigned times = parts[part].times;

	if (effort->over)
		return false;
	if (__builtin_add_overflow(*spent, n, spent))
		*spent = UINT64_MAX;
	if (*spent / times < size)
		return reading_goes_on(effort->r, n);
	effort->over = true;
	reading_remark(effort->r,
		       "%s: pmon did not read its %s to the end: "
		       "they take more than %" PRIu64 " bytes, and the file "
		       "has %" PRIu64,
		       effort->path, parts[part].name, size * times,
		       effort->size);
	return false;
}
