/*
 * What one DIE says: addresses, ranges, names, where it is declared, and the
 * same of the DIEs that it refers to.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/dwarf.h"
#include "util/mem.h"

enum {
	CHAIN_MAX = 16,		/* of DIEs referring to each other */
	RANGES_MAX = 1 << 16,	/* of one DIE */
};

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

/* An address; or, *offset, what must be added to one. */
static bool
attr_addr(struct debug *d, Dwarf_Attribute attr, uint64_t *value,
	  bool *offset)
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

	if (!debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return NULL;
	if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup) {
		if (d->alt && debug_ok(d, dwarf_global_formref(attr, &offset,
							       &d->err)) &&
		    debug_ok(d->alt, dwarf_get_str(d->alt->dbg, offset, &s,
						   &len, &d->alt->err)))
			return s;
		return NULL;
	}
	return debug_ok(d, dwarf_formstring(attr, &s, &d->err)) ? s : NULL;
}

/* Note one attribute; true if it is kept. */
static bool
fact_note(struct debug *d, Dwarf_Half what, Dwarf_Attribute attr,
	  struct facts *f)
{
	bool offset = false;
	Dwarf_Off number = 0;
	Dwarf_Bool flag;

	switch (what) {
	case DW_AT_low_pc:
		f->has_lo = attr_addr(d, attr, &f->lo, &offset);
		break;
	case DW_AT_high_pc:
		f->has_hi = attr_addr(d, attr, &f->hi, &f->hi_offset);
		break;
	case DW_AT_entry_pc:
		f->has_entry = attr_addr(d, attr, &f->entry,
					 &f->entry_offset);
		break;
	case DW_AT_ranges:
		f->ranges = attr;
		return true;
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
	case DW_AT_stmt_list:
		f->has_line_offset = debug_ok(d, dwarf_global_formref(attr,
							&number, &d->err));
		f->line_offset = number;
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
							    &d->err)) && flag;
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
	if (f->ranges)
		dwarf_dealloc_attribute(f->ranges);
	if (f->origin)
		dwarf_dealloc_attribute(f->origin);
}

/* Ranges being gathered. */
struct gathered {
	struct range *ranges;
	size_t n;
	uint64_t first;		/* the first address given, code or not */
	bool any;
};

static void
range_add(struct debug *d, struct gathered *g, uint64_t lo, uint64_t hi)
{
	if (!g->any)
		g->first = lo;
	g->any = true;
	if (g->n < RANGES_MAX && reading_is_code(d->r, lo, hi))
		*vec_push(g->ranges, g->n) = (struct range){ lo, hi };
}

/* .debug_ranges: DWARF 2 to 4. */
static void
ranges_old(struct debug *d, const struct unit *unit, Dwarf_Die die,
	   Dwarf_Attribute attr, struct gathered *g)
{
	uint64_t base = unit->base;
	Dwarf_Ranges *list;
	Dwarf_Signed n;
	Dwarf_Unsigned bytes;
	Dwarf_Off offset, real;

	if (!debug_ok(d, dwarf_global_formref(attr, &offset, &d->err)) ||
	    !debug_ok(d, dwarf_get_ranges_b(d->dbg, offset, die, &real, &list,
					    &n, &bytes, &d->err)))
		return;
	for (Dwarf_Signed i = 0; i < n; i++)
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else if (list[i].dwr_type == DW_RANGES_ENTRY)
			range_add(d, g, base + list[i].dwr_addr1,
				  base + list[i].dwr_addr2);
	lib_ranges_free(d->dbg, list, n);
}

/*
 * .debug_rnglists: DWARF 5.  Bases are added here: libdwarf 20210528 misses
 * the unit's.
 */
static void
ranges_new(struct debug *d, const struct unit *unit, Dwarf_Attribute attr,
	   struct gathered *g)
{
	uint64_t base = unit->base;
	Dwarf_Unsigned value, n, offset, raw1, raw2, lo, hi;
	Dwarf_Rnglists_Head head;
	Dwarf_Bool no_addr;
	unsigned len, code;
	Dwarf_Half form;
	int result;

	if (!debug_ok(d, dwarf_whatform(attr, &form, &d->err)))
		return;
	if (form == DW_FORM_rnglistx)
		result = dwarf_formudata(attr, &value, &d->err);
	else
		result = dwarf_global_formref(attr, &value, &d->err);
	if (!debug_ok(d, result) ||
	    !debug_ok(d, dwarf_rnglists_get_rle_head(attr, form, value, &head,
						     &n, &offset, &d->err)))
		return;
	for (Dwarf_Unsigned i = 0; i < n && i < RANGES_MAX; i++) {
		if (!debug_ok(d, dwarf_get_rnglists_entry_fields_a(head, i,
				&len, &code, &raw1, &raw2, &no_addr, &lo, &hi,
				&d->err)))
			break;
		switch (code) {
		case DW_RLE_base_address:
		case DW_RLE_base_addressx:
			base = no_addr ? 0 : lo;
			break;
		case DW_RLE_offset_pair:
			range_add(d, g, base + raw1, base + raw2);
			break;
		case DW_RLE_startx_endx:
		case DW_RLE_startx_length:
		case DW_RLE_start_end:
		case DW_RLE_start_length:
			if (!no_addr)
				range_add(d, g, lo, hi);
			break;
		}
	}
	dwarf_dealloc_rnglists_head(head);
}

struct range *
facts_ranges(struct debug *d, const struct unit *unit, Dwarf_Die die,
	     const struct facts *f, size_t *n, uint64_t *entry)
{
	struct gathered g = { 0 };

	if (f->has_lo && f->has_hi)
		range_add(d, &g, f->lo, f->hi_offset ? f->lo + f->hi : f->hi);
	else if (f->ranges && unit->version < 5)
		ranges_old(d, unit, die, f->ranges, &g);
	else if (f->ranges)
		ranges_new(d, unit, f->ranges, &g);
	*n = g.n;
	*entry = 0;
	if (f->has_entry)
		*entry = f->entry_offset ? g.first + f->entry : f->entry;
	for (size_t i = 0; *entry && i < g.n; i++)
		if (*entry >= g.ranges[i].lo && *entry < g.ranges[i].hi)
			return g.ranges;
	*entry = 0;
	return g.ranges;
}

static struct origin describe(struct debug *d, struct unit *unit,
			      const struct facts *f, int depth);

/* What the DIE at offset says, from the cache where it was read before. */
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
	if (!unit || depth > CHAIN_MAX)
		return origin;
	/* A DIE that refers to itself finds this. */
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
