/*
 * Takes DW_AT_sibling out of abbreviations.  libdwarf then finds siblings by
 * reading on, and always terminates.  Never changes a table's size.
 */
#include "symtab/dwarf_abbrev.h"

#include <libdwarf/dwarf.h>

#include "symtab/pool.h"

enum {
	AT_NOTHING = 0x04,	/* no attribute has this number */
	WORK_FACTOR = 4,	/* how often overlapping tables may be read */
};

/* Treat one attribute of an abbreviation; false after the last. */
static bool
attribute_tame(uint8_t *abbrev, const struct bytes *all, struct cursor *c)
{
	size_t at = (size_t)(c->p - all->p);
	uint64_t attr = cursor_uleb(c);
	uint64_t form = cursor_uleb(c);

	if (form == DW_FORM_implicit_const)
		cursor_sleb(c);
	if (attr == DW_AT_sibling && !c->bad)
		abbrev[at] = (abbrev[at] & 0x80) | AT_NOTHING;
	return !c->bad && (attr || form);
}

/* Treat the table at offset; returns its size in bytes. */
static uint64_t
table_tame(uint8_t *abbrev, const struct bytes *all, uint64_t offset)
{
	struct cursor c = cursor_at(all, offset, false);
	const uint8_t *start = c.p;

	while (!c.bad && cursor_uleb(&c)) {
		cursor_uleb(&c);		/* tag */
		cursor_skip(&c, 1);		/* has children */
		while (attribute_tame(abbrev, all, &c))
			;
	}
	return start ? (uint64_t)(c.p - start) : 0;
}

/* The offset of a unit's table; moves c on to the next unit. */
static uint64_t
unit_table(struct cursor *c)
{
	uint64_t length = cursor_take(c, 4), offset;
	size_t offset_size = 4;
	struct cursor unit;

	if (length == 0xffffffff) {
		length = cursor_take(c, 8);
		offset_size = 8;
	}
	unit = *c;
	cursor_skip(c, length);
	if (cursor_take(&unit, 2) >= 5)
		cursor_skip(&unit, 2);	/* type of unit, size of address */
	offset = cursor_take(&unit, offset_size);
	c->bad |= unit.bad;
	return offset;
}

int
abbrevs_tame(uint8_t *abbrev, size_t n, const struct bytes *info,
	     bool big_endian, struct effort *effort)
{
	const struct bytes all = { abbrev, n };
	struct cursor c = cursor_at(info, 0, big_endian);
	struct map seen = { 0 };
	uint64_t work = 0;
	bool good = true;

	while (good && !c.bad && c.p < c.end) {
		uint64_t offset = unit_table(&c);
		uint32_t size = 0;

		/* Even if the unit is cut off: libdwarf may look at it. */
		if (!map_get(&seen, offset, &size)) {
			uint64_t bytes = table_tame(abbrev, &all, offset);

			size = bytes < UINT32_MAX ? (uint32_t)bytes :
						    UINT32_MAX;
			map_put(&seen, offset, size);
			work += bytes;
		}
		/* libdwarf reads the table again for each unit. */
		good = effort_spend(effort, EFFORT_ABBREV, size) &&
		       work / WORK_FACTOR <= n;
	}
	map_free(&seen);
	return good ? 0 : -1;
}
