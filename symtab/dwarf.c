/*
 * Reads DWARF: the units of a file, and the functions and inlined copies in
 * them, which dwarf_tree.c finds and libdwarf reads.  Leaves out what is damaged
 * and keeps the rest.  Knows nothing of symbols.
 */
#include "symtab/dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/debug.h"
#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

enum {
	DEPTH_MAX = 200,	/* of nested DIEs */
	ROWS_MAX = 4096,	/* at one address */
	UNIT_STEP = 1 << 18,	/* bytes that a unit counts as, for progress */
};

bool
debug_ok(struct debug *d, int result)
{
	if (result != DW_DLV_ERROR)
		return result == DW_DLV_OK;
	debug_damage(d, dwarf_errmsg(d->err));
	dwarf_dealloc_error(d->dbg, d->err);
	d->err = NULL;
	return false;
}

void
debug_damage(struct debug *d, const char *what)
{
	if (d->effort.over)
		return;		/* a remark has said so */
	if (!d->damages++)
		d->damage = mem_strdup(what);
}

/*
 * Note the option that has the compiler change code so much that lines tell
 * less: the last of those that gcc's DW_AT_producer names.
 */
static void
optimised_note(struct debug *d, const char *producer)
{
	const char *option = NULL;
	size_t len;

	for (const char *s = producer; s && (s = strstr(s, " -O")); s++)
		option = s + 1;
	len = option ? strcspn(option, " ") : 0;
	if (!len || len >= sizeof(d->optimised) ||
	    (len == 3 && (option[2] == '0' || option[2] == 'g')))
		return;
	memcpy(d->optimised, option, len);
	d->optimised[len] = '\0';
}

/* Add the unit of a root DIE; the tree's `die` is set here. */
static void
unit_add(struct debug *d, Dwarf_Die die, struct tree_unit tree)
{
	struct facts f;
	Dwarf_Half tag;
	Dwarf_Off at;

	/* debug_unit needs units in ascending order. */
	if (!debug_ok(d, dwarf_dieoffset(die, &at, &d->err)) ||
	    !debug_ok(d, dwarf_tag(die, &tag, &d->err)) ||
	    (d->nunits && at <= d->units[d->nunits - 1].tree.die))
		return;
	facts_read(d, die, &f);
	tree.die = at;
	*vec_push(d->units, d->nunits) = (struct unit){
		.tree = tree,
		.number = d->nheaders - 1,
		.ranges = {
			.version = tree.sizes.version,
			.offset_size = tree.sizes.offset,
			.addr_size = tree.sizes.addr,
			.base = f.lo,
			.addr_base = f.addr_base,
			.rnglists_base = f.rnglists_base,
		},
		/* Partial units and type units have none. */
		.has_code = tag == DW_TAG_compile_unit ||
			    tag == DW_TAG_skeleton_unit,
		.has_lines = f.has_line_offset,
		.line_offset = f.line_offset,
		.comp_dir = f.comp_dir,
	};
	if (f.has_line_offset)
		optimised_note(d, f.producer);
	facts_free(&f);
}

/*
 * Go on to the next unit, whose header is where tree->end was; false if there
 * is none.
 */
static bool
header_next(struct debug *d, struct tree_unit *tree)
{
	Dwarf_Unsigned length, type_offset, end;
	Dwarf_Half version, address, offset, extension, type;
	Dwarf_Off abbrev;
	Dwarf_Sig8 signature;
	int result = dwarf_next_cu_header_d(d->dbg, 1, &length, &version,
					    &abbrev, &address, &offset,
					    &extension, &signature,
					    &type_offset, &end, &type, &d->err);

	d->headers_bad |= result == DW_DLV_ERROR;
	if (!debug_ok(d, result))
		return false;
	d->nheaders++;
	*tree = (struct tree_unit){
		.header = tree->end,
		.end = end,
		.abbrevs = abbrev,
		.sizes = { (uint8_t)address, (uint8_t)offset, version },
	};
	return true;
}

/* Find all units, without going into them. */
static void
units_find(struct debug *d)
{
	struct tree_unit tree = { 0 };
	Dwarf_Die die;

	while (effort_spend(&d->effort, EFFORT_INFO, 1) &&
	       header_next(d, &tree) && tree_enter(&d->tree, &tree) == 0)
		if (debug_ok(d, dwarf_siblingof_b(d->dbg, NULL, 1, &die,
						  &d->err))) {
			unit_add(d, die, tree);
			dwarf_dealloc_die(die);
		}
	d->nheaders = 0;
}

/*
 * Let libdwarf go on to the header of this unit.  libdwarf searches for a
 * DIE's unit from the header it has reached, or from the first one if the DIE
 * lies before that.  Going through the headers along with the units keeps
 * these searches short.
 */
static void
unit_enter(struct debug *d, const struct unit *unit)
{
	struct tree_unit tree = { 0 };

	while (!d->headers_bad && d->nheaders <= unit->number)
		if (!header_next(d, &tree))
			d->headers_bad = true;
}

struct unit *
debug_unit(struct debug *d, Dwarf_Off offset)
{
	size_t lo = search_first(d->nunits, i, d->units[i].tree.die > offset);

	return lo ? &d->units[lo - 1] : NULL;
}

static void walk(struct debug *d, struct unit *unit, uint64_t at, bool code,
		 int depth);

static void
children_walk(struct debug *d, struct unit *unit, const struct tree_die *die,
	      bool code, int depth)
{
	if (die->has_children)
		walk(d, unit, die->behind, code, depth + 1);
}

/* What the DIE says; false if libdwarf does not take it.  See facts_free. */
static bool
facts_at(struct debug *d, const struct tree_die *at, struct facts *f)
{
	Dwarf_Die die;

	if (!debug_ok(d, dwarf_offdie_b(d->dbg, at->offset, 1, &die, &d->err)))
		return false;
	facts_read(d, die, f);
	dwarf_dealloc_die(die);
	return true;
}

static void
subprogram_read(struct debug *d, struct unit *unit, const struct tree_die *die,
		int depth)
{
	struct subprogram sub = { 0 };
	struct origin origin;
	struct facts f;

	if (!die->has_code || !facts_at(d, die, &f))
		return;
	if (!f.declaration && (f.has_lo || f.has_ranges))
		sub.ranges = facts_ranges(d, unit, &f, &sub.nranges,
					  &sub.entry);
	/* The DWARF of copies that the linker dropped has the same entry. */
	if (sub.nranges &&
	    map_put(&d->entries, sub.entry ? sub.entry : sub.ranges[0].lo, 0)) {
		origin = facts_origin(d, unit, &f);
		sub.name = origin.linkage ? origin.linkage : origin.name;
		sub.file = origin.file;
		sub.line = origin.line;
		*vec_push(d->r->subs, d->r->nsubs) = sub;
		if (d->want & IMAGE_INLINES)
			children_walk(d, unit, die, true, depth);
	} else {
		free(sub.ranges);
	}
	facts_free(&f);
}

static void
inlined_read(struct debug *d, struct unit *unit, const struct tree_die *die)
{
	struct image *image = d->r->image;
	struct origin origin;
	struct range *ranges;
	struct facts f;
	uint64_t entry;
	size_t n;

	if (!die->has_code || !facts_at(d, die, &f))
		return;
	ranges = facts_ranges(d, unit, &f, &n, &entry);
	origin = facts_origin(d, unit, &f);
	if (n && !origin.linkage && !origin.name) {
		d->nameless++;
	} else if (n) {
		struct inlined *in = vec_push(image->inlines, image->ninlines);

		*in = (struct inlined){
			.addr = entry ? entry : ranges[0].lo,
			.name = origin.linkage ? origin.linkage : origin.name,
			.file = origin.file,
			.line = origin.line,
			.call_file = f.has_call_file ?
					     debug_file(d, unit, f.call_file) :
					     FILE_NONE,
			.call_line = (uint32_t)f.call_line,
			.ranges = pool_alloc(d->r->pool, n * sizeof(*ranges)),
			.nranges = n,
		};
		for (size_t i = 0; i < n; i++)
			in->ranges[i] = ranges[i];
	}
	free(ranges);
	facts_free(&f);
}

static void
visit(struct debug *d, struct unit *unit, const struct tree_die *die, bool code,
      int depth)
{
	switch (die->tag) {
	case DW_TAG_subprogram:
		subprogram_read(d, unit, die, depth);
		break;
	case DW_TAG_inlined_subroutine:
		if (!code)
			break;
		inlined_read(d, unit, die);
		children_walk(d, unit, die, true, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		if (code)
			children_walk(d, unit, die, true, depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		if (!code)
			children_walk(d, unit, die, false, depth);
		break;
	}
}

/*
 * Visit the DIE at `at` and its siblings.  `code` tells that they are in a
 * function.  What is read to find a sibling counts as effort.
 */
static void
walk(struct debug *d, struct unit *unit, uint64_t at, bool code, int depth)
{
	struct tree_die die;
	uint64_t next = at;
	int got = 0;

	for (; next && depth <= DEPTH_MAX; at = next) {
		got = tree_die(&d->tree, at, &die);
		if (got <= 0)
			break;
		next = tree_next(&d->tree, &die);
		if (!next || !effort_spend(&d->effort, EFFORT_INFO, next - at))
			break;
		visit(d, unit, &die, code, depth);
	}
	if (got < 0 || !next)
		debug_damage(d, "an entry of .debug_info");
}

/* The line table that a unit names, opened once for all its units; or NULL. */
static struct line_table *
lines_at(struct debug *d, const struct unit *unit)
{
	const char *dir = unit->comp_dir ? unit->comp_dir : "";
	uint64_t key = map_hash(dir, strlen(dir)) ^
		       unit->line_offset * (uint64_t)0x9e3779b97f4a7c15;
	uint32_t i;

	if (!effort_spend(&d->effort, EFFORT_STR, strlen(dir)))
		return NULL;
	if (map_get(&d->opened_at, key, &i))
		return d->opened[i];
	i = (uint32_t)d->nopened;
	*vec_push(d->opened, d->nopened) = lines_open(&d->lines,
						      unit->line_offset,
						      unit->comp_dir);
	map_put(&d->opened_at, key, i);
	if (!d->opened[i])
		debug_damage(d, "the head of a line table");
	return d->opened[i];
}

/* The unit's line table, or NULL; damage to it is noted once. */
static struct line_table *
unit_lines(struct debug *d, struct unit *unit)
{
	if (!unit->lines && unit->has_lines) {
		unit->lines = lines_at(d, unit);
		unit->has_lines = unit->lines != NULL;
	}
	return unit->lines;
}

uint32_t
debug_file(struct debug *d, struct unit *unit, uint64_t number)
{
	struct line_table *lines = unit_lines(d, unit);

	return lines ? lines_file(lines, d->r, number) : FILE_NONE;
}

static void
unit_read(struct debug *d, struct unit *unit)
{
	struct line_table *lines;
	struct tree_die die;
	int got;

	if (!unit->has_code || d->effort.over)
		return;
	/* Units may share a table: read its rows once. */
	if (unit->has_lines && map_put(&d->tables, unit->line_offset, 0) &&
	    d->want & IMAGE_LINES) {
		lines = unit_lines(d, unit);
		if (lines && lines_read(lines, d->r) < 0)
			debug_damage(d, "a line table");
	}
	unit_enter(d, unit);
	if (tree_enter(&d->tree, &unit->tree) < 0)
		return;
	got = tree_die(&d->tree, unit->tree.die, &die);
	if (got < 0)
		debug_damage(d, "an entry of .debug_info");
	else if (got)
		children_walk(d, unit, &die, false, 0);
}

bool
debug_open(struct debug *d, struct elf *elf, const char *const *names)
{
	if (debug_ok(d, lib_open(&d->lib, elf, names, &d->dbg, &d->err)))
		return true;
	d->dbg = NULL;
	return false;
}

/* Open the DWARF of a file and find its units. */
static bool
debug_begin(struct debug *d, struct elf *elf)
{
	static const char *const names[] = {
		".debug_info",
		".debug_abbrev",
		".debug_str",
		".debug_line_str",
		".debug_str_offsets",
		".debug_addr",
		NULL,
	};

	d->effort = effort_begin(d->r, elf);
	if (!debug_open(d, elf, names)) {
		if (!d->damages && !d->effort.over)
			debug_damage(d, "it cannot be opened");
		return false;
	}
	d->tree = (struct tree){
		.info = elf_section(elf, ".debug_info", NULL),
		.abbrev = elf_section(elf, ".debug_abbrev", NULL),
		.big_endian = elf_big_endian(elf),
		.effort = &d->effort,
	};
	d->lines = (struct line_sections){
		.line = elf_section(elf, ".debug_line", NULL),
		.line_str = elf_section(elf, ".debug_line_str", NULL),
		.str = elf_section(elf, ".debug_str", NULL),
		.big_endian = elf_big_endian(elf),
		.effort = &d->effort,
	};
	d->ranges = (struct range_sections){
		.ranges = elf_section(elf, ".debug_ranges", NULL),
		.rnglists = elf_section(elf, ".debug_rnglists", NULL),
		.addr = elf_section(elf, ".debug_addr", NULL),
		.big_endian = elf_big_endian(elf),
		.effort = &d->effort,
	};
	units_find(d);
	return true;
}

void
debug_close(struct debug *d)
{
	lib_close(d->dbg);
	tree_close(&d->tree);
	for (size_t i = 0; i < d->nopened; i++)
		lines_close(d->opened[i]);
	free(d->opened);
	free(d->units);
	free(d->origins);
	map_free(&d->origin_at);
	map_free(&d->entries);
	map_free(&d->tables);
	map_free(&d->opened_at);
	free(d->damage);
}

static void
debug_remarks(struct debug *d)
{
	const char *path = d->r->image->path;

	if (d->damages)
		reading_remark(d->r,
			       "%s: damaged DWARF: pmon ignored part of "
			       "it (%zu times: %s)",
			       path, d->damages, d->damage);
	if (*d->optimised && d->want & IMAGE_LINES && d->r->image->nrows)
		reading_remark(d->r,
			       "%s: compiled with %s, which merges, moves and "
			       "removes code of lines; with -Og or -O0 counts "
			       "are those of the lines as written",
			       path, d->optimised);
	if (d->nameless)
		reading_remark(d->r,
			       "%s: its DWARF does not name %zu inlined "
			       "copies, which were left out",
			       path, d->nameless);
}

/*
 * Keep the last ROWS_MAX rows of each address.  Control passes the line of
 * every row at an address, and the code belongs to the last one.  Real
 * programs have some dozens of rows at one address.
 */
static void
rows_thin(struct debug *d)
{
	struct image *image = d->r->image;
	size_t kept = 0, left = 0, i, end;

	for (i = 0; i < image->nrows; i = end) {
		for (end = i; end < image->nrows &&
			      image->rows[end].addr == image->rows[i].addr;
		     end++)
			;
		if (end - i > ROWS_MAX) {
			left += end - i - ROWS_MAX;
			i = end - ROWS_MAX;
		}
		memmove(image->rows + kept, image->rows + i,
			(end - i) * sizeof(*image->rows));
		kept += end - i;
	}
	image->nrows = kept;
	if (left)
		reading_remark(d->r,
			       "%s: %zu rows of .debug_line are left "
			       "out: pmon uses only the last %d rows at one "
			       "address",
			       d->effort.path, left, ROWS_MAX);
}

void
debug_read(struct reading *r, struct elf *elf, struct elf *supplement,
	   unsigned want)
{
	struct image *image = r->image;
	struct debug alt = { .r = r };
	struct debug d = { .r = r, .want = want };

	if (supplement && debug_begin(&alt, supplement))
		d.alt = &alt;
	if (debug_begin(&d, elf)) {
		for (size_t i = 0; i < d.nunits; i++) {
			unit_read(&d, &d.units[i]);
			reading_goes_on(r, UNIT_STEP);
		}
		sort_by_addr(image->rows, image->nrows, sizeof(*image->rows));
		rows_thin(&d);
		sort_by_addr(image->inlines, image->ninlines,
			     sizeof(*image->inlines));
		r->dwarf = d.nunits > 0;
		image->has_dwarf = image->nrows ||
				   (!(want & IMAGE_LINES) && d.tables.n);
	}
	debug_remarks(&d);
	debug_close(&d);
	debug_close(&alt);
}
