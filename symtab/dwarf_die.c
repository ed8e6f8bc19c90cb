/*
 * Reads what one DIE says: addresses, ranges, names, where it is declared;
 * names and declarations also from the DIEs that it refers to.  Never walks
 * a tree of DIEs.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/dwarf.h"
#include "util/mem.h"

enum { CHAIN_MAX = 16 };	/* of DIEs referring to each other */

static bool
attr_number(struct debug *d, Dwarf_Attribute attr, uint64_t *value)
{
	Dwarf_Unsigned number;
	Dwarf_Signed constant;
	Dwarf_Half form;

	if (!debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return false;
	if (form == DW_FORM_implicit_const || form == DW_FORM_sdata) {
		if (!debug_ok(d, dwarf_formsdata(attr, &constant, &d->err)))
			return false;
		*value = (uint64_t)constant;
		return constant >= 0;
	}
	if (!debug_ok(d, dwarf_formudata(attr, &number, &d->err)))
		return false;
	*value = number;
	return true;
}

/* An attribute that is an offset in another section. */
static bool
attr_offset(struct debug *d, Dwarf_Attribute attr, uint64_t *value)
{
	Dwarf_Off offset;

	if (!debug_ok(d, dwarf_global_formref(attr, &offset, &d->err)))
		return false;
	*value = offset;
	return true;
}

/* An address; or, with *offset set, a number to be added to an address. */
static bool
attr_addr(struct debug *d, Dwarf_Attribute attr, uint64_t *value, bool *offset)
{
	Dwarf_Half form;
	Dwarf_Addr addr;

	if (!debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return false;
	switch (form) {
	case DW_FORM_addr:
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		if (!debug_ok(d, dwarf_formaddr(attr, &addr, &d->err)))
			return false;
		*value = addr;
		return true;
	}
	*offset = true;
	return attr_number(d, attr, value);
}

static const char *
attr_string(struct debug *d, Dwarf_Attribute attr)
{
	Dwarf_Half form;
	Dwarf_Off offset;
	Dwarf_Signed len;
	char *s;

	if (d->effort.over ||
	    !debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return NULL;
	if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup) {
		if (d->alt &&
		    debug_ok(d, dwarf_global_formref(attr, &offset, &d->err)) &&
		    debug_ok(d->alt, dwarf_get_str(d->alt->dbg, offset, &s,
						   &len, &d->alt->err)) &&
		    effort_spend(&d->effort, EFFORT_STR, strlen(s)))
			return s;
		return NULL;
	}
	if (debug_ok(d, dwarf_formstring(attr, &s, &d->err)) &&
	    effort_spend(&d->effort, EFFORT_STR, strlen(s)))
		return s;
	return NULL;
}

/* Note an attribute that tells where the code is. */
static void
fact_place(struct debug *d, Dwarf_Half what, Dwarf_Half form,
	   Dwarf_Attribute attr, struct facts *f)
{
	bool offset = false;

	switch (what) {
	case DW_AT_low_pc:
		f->has_lo = attr_addr(d, attr, &f->lo, &offset);
		break;
	case DW_AT_high_pc:
		f->has_hi = attr_addr(d, attr, &f->hi, &f->hi_offset);
		break;
	case DW_AT_entry_pc:
		f->has_entry = attr_addr(d, attr, &f->entry, &f->entry_offset);
		break;
	case DW_AT_ranges:
		f->indexed_ranges = form == DW_FORM_rnglistx;
		f->has_ranges = f->indexed_ranges ?
					attr_number(d, attr, &f->ranges) :
					attr_offset(d, attr, &f->ranges);
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		attr_offset(d, attr, &f->addr_base);
		break;
	case DW_AT_rnglists_base:
		attr_offset(d, attr, &f->rnglists_base);
		break;
	}
}

/* Note one attribute; true if f now owns it. */
static bool
fact_note(struct debug *d, Dwarf_Half what, Dwarf_Attribute attr,
	  struct facts *f)
{
	Dwarf_Half form = 0;
	Dwarf_Bool flag;

	if (!debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return false;
	fact_place(d, what, form, attr, f);
	switch (what) {
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		if (f->origin)
			break;
		f->origin = attr;
		return true;
	case DW_AT_name:
		f->name = attr_string(d, attr);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		f->linkage = attr_string(d, attr);
		break;
	case DW_AT_comp_dir:
		f->comp_dir = attr_string(d, attr);
		break;
	case DW_AT_producer:
		f->producer = attr_string(d, attr);
		break;
	case DW_AT_stmt_list:
		f->has_line_offset = attr_offset(d, attr, &f->line_offset);
		break;
	case DW_AT_decl_file:
		f->has_file = attr_number(d, attr, &f->file);
		break;
	case DW_AT_decl_line:
		f->has_line = attr_number(d, attr, &f->line);
		break;
	case DW_AT_call_file:
		f->has_call_file = attr_number(d, attr, &f->call_file);
		break;
	case DW_AT_call_line:
		attr_number(d, attr, &f->call_line);
		break;
	case DW_AT_declaration:
		f->declaration = debug_ok(d, dwarf_formflag(attr, &flag,
							    &d->err)) &&
				 flag;
		break;
	}
	return false;
}

void
facts_read(struct debug *d, Dwarf_Die die, struct facts *f)
{
	Dwarf_Attribute *attrs;
	Dwarf_Signed n;
	Dwarf_Half what;

	*f = (struct facts){ 0 };
	if (!debug_ok(d, dwarf_attrlist(die, &attrs, &n, &d->err)))
		return;
	for (Dwarf_Signed i = 0; i < n; i++)
		if (!debug_ok(d, dwarf_whatattr(attrs[i], &what, &d->err)) ||
		    !fact_note(d, what, attrs[i], f))
			dwarf_dealloc_attribute(attrs[i]);
	dwarf_dealloc(d->dbg, attrs, DW_DLA_LIST);
}

void
facts_free(struct facts *f)
{
	if (f->origin)
		dwarf_dealloc_attribute(f->origin);
}

struct range *
facts_ranges(struct debug *d, const struct unit *unit, const struct facts *f,
	     size_t *n, uint64_t *entry)
{
	struct range_list list = { 0 };

	if (f->has_lo && f->has_hi)
		range_add(&list, d->r, f->lo,
			  f->hi_offset ? f->lo + f->hi : f->hi);
	else if (f->has_ranges &&
		 ranges_read(&list, d->r, &d->ranges, &unit->ranges, f->ranges,
			     f->indexed_ranges) < 0)
		debug_damage(d, "a list of ranges");
	*n = list.n;
	*entry = 0;
	if (f->has_entry)
		*entry = f->entry_offset ? list.first + f->entry : f->entry;
	for (size_t i = 0; *entry && i < list.n; i++)
		if (*entry >= list.ranges[i].lo && *entry < list.ranges[i].hi)
			return list.ranges;
	*entry = 0;
	return list.ranges;
}

static struct origin describe(struct debug *d, struct unit *unit,
			      const struct facts *f, int depth);

/* Count the units that libdwarf passes to find this one (see unit_enter). */
static bool
search_spend(struct debug *d, const struct unit *unit)
{
	size_t i = (size_t)(unit - d->units);

	if (unit->number + 1 == d->nheaders && !d->headers_bad)
		i = 0;
	return effort_spend(&d->effort, EFFORT_INFO, i);
}

/* What the DIE at offset says; each DIE is read once. */
static struct origin
origin_at(struct debug *d, Dwarf_Off offset, int depth)
{
	struct origin origin = { .file = FILE_NONE };
	struct unit *unit = debug_unit(d, offset);
	uint32_t i = (uint32_t)d->norigins;
	struct facts f;
	Dwarf_Die die;

	if (map_get(&d->origin_at, offset, &i))
		return d->origins[i];
	if (!unit || depth > CHAIN_MAX || !search_spend(d, unit))
		return origin;
	/* Cached first, so that a DIE that refers to itself ends here. */
	*vec_push(d->origins, d->norigins) = origin;
	map_put(&d->origin_at, offset, i);
	if (!debug_ok(d, dwarf_offdie_b(d->dbg, offset, 1, &die, &d->err)))
		return origin;
	facts_read(d, die, &f);
	origin = describe(d, unit, &f, depth);
	facts_free(&f);
	dwarf_dealloc_die(die);
	d->origins[i] = origin;
	return origin;
}

/* What the DIE that attr refers to says. */
static struct origin
origin_of(struct debug *d, Dwarf_Attribute attr, int depth)
{
	struct origin none = { .file = FILE_NONE };
	Dwarf_Half form;
	Dwarf_Off offset;

	if (!debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return none;
	if (form == DW_FORM_ref_sig8 || form == DW_FORM_ref_sup4 ||
	    form == DW_FORM_ref_sup8)
		return none;
	if (form == DW_FORM_GNU_ref_alt && !d->alt)
		return none;
	if (!debug_ok(d, dwarf_global_formref(attr, &offset, &d->err)))
		return none;
	return origin_at(form == DW_FORM_GNU_ref_alt ? d->alt : d, offset,
			 depth);
}

static const char *
keep(struct debug *d, const char *s)
{
	return s && *s ? pool_string(d->r->pool, s, strlen(s)) : NULL;
}

static struct origin
describe(struct debug *d, struct unit *unit, const struct facts *f, int depth)
{
	struct origin origin = { .file = FILE_NONE };

	if (f->origin)
		origin = origin_of(d, f->origin, depth + 1);
	if (f->name)
		origin.name = keep(d, f->name);
	if (f->linkage)
		origin.linkage = keep(d, f->linkage);
	if (f->has_file)
		origin.file = debug_file(d, unit, f->file);
	if (f->has_line)
		origin.line = (uint32_t)f->line;
	return origin;
}

struct origin
facts_origin(struct debug *d, struct unit *unit, const struct facts *f)
{
	return describe(d, unit, f, 0);
}
