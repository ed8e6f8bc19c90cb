/*
 * Reads lists of address ranges.  Does not use libdwarf: version 20210528
 * ignores a unit's own base address, and frees memory twice if such a section
 * is damaged.
 */
#include "symtab/dwarf_ranges.h"

#include <libdwarf/dwarf.h>

#include "util/mem.h"

void
range_add(struct range_list *list, const struct reading *r, uint64_t lo,
	  uint64_t hi)
{
	if (!list->any)
		list->first = lo;
	list->any = true;
	if (reading_is_code(r, lo, hi))
		*vec_push(list->ranges, list->n) = (struct range){ lo, hi };
}

/* .debug_ranges: DWARF 2 to 4. */
static int
pairs_read(struct range_list *list, const struct reading *r,
	   struct range_sections *s, const struct range_unit *unit,
	   struct cursor *c)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * unit->addr_size);
	uint64_t base = unit->base;

	while (!c->bad &&
	       effort_spend(s->effort, EFFORT_RANGES, sizeof(struct range))) {
		uint64_t lo = cursor_take(c, unit->addr_size);
		uint64_t hi = cursor_take(c, unit->addr_size);

		if (lo == 0 && hi == 0)
			return c->bad ? -1 : 0;
		if (lo == max)
			base = hi;
		else
			range_add(list, r, (base + lo) & max,
				  (base + hi) & max);
	}
	return -1;
}

/* The address of that index in .debug_addr; c goes bad if there is none. */
static uint64_t
addr_at(struct cursor *c, struct range_sections *s,
	const struct range_unit *unit, uint64_t index)
{
	struct cursor at = { .bad = true };
	uint64_t offset;

	if (!__builtin_mul_overflow(index, unit->addr_size, &offset) &&
	    !__builtin_add_overflow(offset, unit->addr_base, &offset))
		at = cursor_at(&s->addr, offset, s->big_endian);
	offset = at.bad ? 0 : cursor_take(&at, unit->addr_size);
	c->bad |= at.bad;
	return offset;
}

/* Read an entry, which may change *base; false at the end of the list. */
static bool
entry_read(struct range_list *list, const struct reading *r,
	   struct range_sections *s, const struct range_unit *unit,
	   struct cursor *c, uint64_t *base)
{
	uint8_t code = (uint8_t)cursor_take(c, 1);
	uint64_t lo, hi;

	switch (code) {
	case DW_RLE_base_addressx:
		*base = addr_at(c, s, unit, cursor_uleb(c));
		return true;
	case DW_RLE_base_address:
		*base = cursor_take(c, unit->addr_size);
		return true;
	case DW_RLE_startx_endx:
		lo = addr_at(c, s, unit, cursor_uleb(c));
		hi = addr_at(c, s, unit, cursor_uleb(c));
		break;
	case DW_RLE_startx_length:
		lo = addr_at(c, s, unit, cursor_uleb(c));
		hi = lo + cursor_uleb(c);
		break;
	case DW_RLE_offset_pair:
		lo = *base + cursor_uleb(c);
		hi = *base + cursor_uleb(c);
		break;
	case DW_RLE_start_end:
		lo = cursor_take(c, unit->addr_size);
		hi = cursor_take(c, unit->addr_size);
		break;
	case DW_RLE_start_length:
		lo = cursor_take(c, unit->addr_size);
		hi = lo + cursor_uleb(c);
		break;
	default:
		c->bad |= code != DW_RLE_end_of_list;
		return false;
	}
	if (!c->bad)
		range_add(list, r, lo, hi);
	return true;
}

/* .debug_rnglists: DWARF 5. */
static int
entries_read(struct range_list *list, const struct reading *r,
	     struct range_sections *s, const struct range_unit *unit,
	     struct cursor *c)
{
	uint64_t base = unit->base;

	while (!c->bad &&
	       effort_spend(s->effort, EFFORT_RANGES, sizeof(struct range)))
		if (!entry_read(list, r, s, unit, c, &base))
			return c->bad ? -1 : 0;
	return -1;
}

/* The offset of the list of that index, or UINT64_MAX. */
static uint64_t
list_offset(struct range_sections *s, const struct range_unit *unit,
	    uint64_t index)
{
	struct cursor c;
	uint64_t offset;

	if (__builtin_mul_overflow(index, unit->offset_size, &offset) ||
	    __builtin_add_overflow(offset, unit->rnglists_base, &offset))
		return UINT64_MAX;
	c = cursor_at(&s->rnglists, offset, s->big_endian);
	if (c.bad)
		return UINT64_MAX;
	offset = cursor_take(&c, unit->offset_size);
	return c.bad ? UINT64_MAX : unit->rnglists_base + offset;
}

int
ranges_read(struct range_list *list, const struct reading *r,
	    struct range_sections *sections, const struct range_unit *unit,
	    uint64_t value, bool indexed)
{
	struct cursor c;

	if (indexed)
		value = list_offset(sections, unit, value);
	c = cursor_at(unit->version < 5 ? &sections->ranges :
					  &sections->rnglists,
		      value, sections->big_endian);
	if (c.bad || (unit->addr_size != 4 && unit->addr_size != 8))
		return -1;
	if (unit->version < 5)
		return pairs_read(list, r, sections, unit, &c);
	return entries_read(list, r, sections, unit, &c);
}
