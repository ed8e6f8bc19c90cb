/*
 * Reads tables of abbreviations, and passes over the attributes of DIEs by
 * them.  Knows forms (DWARF 5, 7.5.6), not what attributes mean, but for the
 * three by which symtab/dwarf_tree.c chooses DIEs.
 */
#include "symtab/dwarf_abbrev.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>

#include "symtab/pool.h"
#include "util/mem.h"

enum { SIZE_NONE = -1, FORMS_MAX = 4 };

/* The size of a form that has always the same, or SIZE_NONE. */
static int
form_size(uint64_t form, struct abbrev_sizes sizes)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return sizes.addr;
	case DW_FORM_ref_addr:
		return sizes.version <= 2 ? sizes.addr : sizes.offset;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return sizes.offset;
	}
	return SIZE_NONE;
}

/* Move the cursor past an attribute of that form. */
static void
form_pass(uint64_t form, struct abbrev_sizes sizes, struct cursor *c)
{
	int size, indirect = 0;

	while (form == DW_FORM_indirect && indirect++ < FORMS_MAX && !c->bad)
		form = cursor_uleb(c);
	size = form_size(form, sizes);
	if (size != SIZE_NONE) {
		cursor_skip(c, (uint64_t)size);
		return;
	}
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		cursor_uleb(c);
		break;
	case DW_FORM_string:
		cursor_string(c);
		break;
	case DW_FORM_block1:
		cursor_skip(c, cursor_take(c, 1));
		break;
	case DW_FORM_block2:
		cursor_skip(c, cursor_take(c, 2));
		break;
	case DW_FORM_block4:
		cursor_skip(c, cursor_take(c, 4));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_skip(c, cursor_uleb(c));
		break;
	default:
		c->bad = true;
	}
}

/* A reference within the unit, or 0 if the form is another one. */
static uint64_t
reference_take(uint64_t form, struct abbrev_sizes sizes, struct cursor *c)
{
	switch (form) {
	case DW_FORM_ref1:
		return cursor_take(c, 1);
	case DW_FORM_ref2:
		return cursor_take(c, 2);
	case DW_FORM_ref4:
		return cursor_take(c, 4);
	case DW_FORM_ref8:
		return cursor_take(c, 8);
	case DW_FORM_ref_udata:
		return cursor_uleb(c);
	}
	form_pass(form, sizes, c);
	return 0;
}

/* Add an attribute to the last abbreviation; false after the last one. */
static bool
attribute_read(struct abbrevs *abbrevs, struct abbrev *abbrev, struct cursor *c)
{
	uint64_t attr = cursor_uleb(c), form = cursor_uleb(c);
	int size = form_size(form, abbrevs->sizes);
	struct abbrev_part *last =
		abbrev->n ? &abbrevs->parts[abbrevs->nparts - 1] : NULL;

	if (form == DW_FORM_implicit_const)
		cursor_sleb(c);
	if (c->bad || (!attr && !form))
		return false;
	abbrev->has_code |= attr == DW_AT_low_pc || attr == DW_AT_ranges;
	if (size != SIZE_NONE && attr != DW_AT_sibling && last && !last->form &&
	    last->size + size <= UINT16_MAX) {
		last->size = (uint16_t)(last->size + size);
		return true;
	}
	abbrev->n++;
	*vec_push(abbrevs->parts, abbrevs->nparts) = (struct abbrev_part){
		.form = size != SIZE_NONE && attr != DW_AT_sibling ? 0 :
			form > UINT16_MAX ? UINT16_MAX :
					    (uint16_t)form,
		.size = (uint16_t)(size == SIZE_NONE ? 0 : size),
		.sibling = attr == DW_AT_sibling,
	};
	return true;
}

/* Read one abbreviation; false after the last one. */
static bool
abbrev_read(struct abbrevs *abbrevs, struct cursor *c)
{
	struct abbrev abbrev = { .code = cursor_uleb(c),
				 .first = (uint32_t)abbrevs->nparts };
	size_t at = abbrevs->n;

	if (c->bad || !abbrev.code)
		return false;
	abbrev.tag = (uint16_t)cursor_uleb(c);
	abbrev.has_children = cursor_take(c, 1) != 0;
	while (attribute_read(abbrevs, &abbrev, c))
		;
	*vec_push(abbrevs->abbrevs, abbrevs->n) = abbrev;
	/* The first of a code is the one that counts. */
	if (abbrevs->by_code.n || abbrev.code != at + 1) {
		for (size_t i = abbrevs->by_code.n ? at : 0; i <= at; i++)
			map_put(&abbrevs->by_code, abbrevs->abbrevs[i].code,
				(uint32_t)i);
	}
	return !c->bad;
}

static void
table_read(struct abbrevs *abbrevs, const struct bytes *section)
{
	struct cursor c = cursor_at(section, abbrevs->offset, false);
	const uint8_t *start = c.p;

	while (!c.bad && abbrev_read(abbrevs, &c))
		;
	abbrevs->size = start ? (uint64_t)(c.p - start) : 0;
	abbrevs->read = true;
}

int
abbrevs_read(struct abbrevs *abbrevs, const struct bytes *section,
	     uint64_t offset, struct abbrev_sizes sizes, struct effort *effort)
{
	if (!abbrevs->read || abbrevs->offset != offset ||
	    abbrevs->sizes.addr != sizes.addr ||
	    abbrevs->sizes.offset != sizes.offset ||
	    abbrevs->sizes.version != sizes.version) {
		abbrevs_free(abbrevs);
		abbrevs->offset = offset;
		abbrevs->sizes = sizes;
		table_read(abbrevs, section);
	}
	/* libdwarf reads the table again for each unit. */
	return effort_spend(effort, EFFORT_ABBREV, abbrevs->size) ? 0 : -1;
}

void
abbrevs_free(struct abbrevs *abbrevs)
{
	free(abbrevs->abbrevs);
	free(abbrevs->parts);
	map_free(&abbrevs->by_code);
	*abbrevs = (struct abbrevs){ 0 };
}

const struct abbrev *
abbrevs_find(const struct abbrevs *abbrevs, uint64_t code)
{
	uint32_t i;

	if (!abbrevs->by_code.n)
		return code && code <= abbrevs->n ?
			       &abbrevs->abbrevs[code - 1] :
			       NULL;
	return map_get(&abbrevs->by_code, code, &i) ? &abbrevs->abbrevs[i] :
						      NULL;
}

uint64_t
abbrev_pass(const struct abbrevs *abbrevs, const struct abbrev *abbrev,
	    struct cursor *c)
{
	uint64_t sibling = 0;

	for (uint32_t i = 0; i < abbrev->n && !c->bad; i++) {
		const struct abbrev_part *part =
			&abbrevs->parts[abbrev->first + i];

		if (part->sibling)
			sibling = reference_take(part->form, abbrevs->sizes, c);
		else if (part->form)
			form_pass(part->form, abbrevs->sizes, c);
		else
			cursor_skip(c, part->size);
	}
	return c->bad ? 0 : sibling;
}
