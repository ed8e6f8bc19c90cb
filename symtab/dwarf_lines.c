/*
 * Line tables: the rows of a unit, as intervals of addresses, without those
 * of code that the linker has left out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "symtab/dwarf.h"
#include "util/mem.h"

/* Rows of one sequence, the first of which is image->rows[first]. */
struct sequence {
	struct debug *d;
	struct unit *unit;
	size_t first;
};

/* Close the sequence, which ends at addr; rows that are no code go. */
static void
sequence_end(struct sequence *seq, uint64_t addr)
{
	struct debug *d = seq->d;
	struct image *image = d->r->image;
	struct row *rows = image->rows + seq->first;
	size_t n = image->nrows - seq->first, kept = 0;
	const struct text *text = n ? reading_text(d->r, rows->addr) : NULL;
	uint64_t key;

	image->nrows = seq->first;
	if (!text || !rows->addr)
		return;
	/* A linker that keeps one copy of many leaves the others' rows. */
	key = rows->addr * (uint64_t)0x9e3779b97f4a7c15 ^ addr;
	if (!map_put(&d->sequences, key, 0))
		return;
	for (size_t i = 0; i < n; i++) {
		struct row row = rows[i];

		row.end = i + 1 < n ? rows[i + 1].addr : addr;
		if (row.addr < text->lo || row.addr >= text->hi)
			continue;
		if (row.end < row.addr)
			row.end = row.addr;
		if (row.end > text->hi)
			row.end = text->hi;
		rows[kept++] = row;
	}
	image->nrows += kept;
	seq->first = image->nrows;
}

static void
line_add(struct sequence *seq, Dwarf_Line line)
{
	struct debug *d = seq->d;
	struct image *image = d->r->image;
	Dwarf_Unsigned number, file;
	Dwarf_Bool end, is_stmt;
	Dwarf_Addr addr;

	if (!debug_ok(d, dwarf_lineaddr(line, &addr, &d->err)) ||
	    !debug_ok(d, dwarf_lineendsequence(line, &end, &d->err)))
		return;
	if (end) {
		sequence_end(seq, addr);
		return;
	}
	if (!debug_ok(d, dwarf_lineno(line, &number, &d->err)) ||
	    !debug_ok(d, dwarf_line_srcfileno(line, &file, &d->err)) ||
	    !debug_ok(d, dwarf_linebeginstatement(line, &is_stmt, &d->err)))
		return;
	*vec_push(image->rows, image->nrows) = (struct row){
		.addr = addr,
		.file = debug_file(d, seq->unit, file),
		.line = (uint32_t)number,
		.is_stmt = is_stmt,
	};
}

static void
table_read(struct debug *d, struct unit *unit, Dwarf_Die die)
{
	struct sequence seq = { d, unit, d->r->image->nrows };
	Dwarf_Line_Context context;
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Signed n = 0;
	Dwarf_Line *lines;

	if (!debug_ok(d, dwarf_srclines_b(die, &version, &tables, &context,
					  &d->err)))
		return;
	unit->file_base = version < 5;
	if (tables && debug_ok(d, dwarf_srclines_from_linecontext(context,
						&lines, &n, &d->err)))
		for (Dwarf_Signed i = 0; i < n; i++)
			line_add(&seq, lines[i]);
	/* A sequence that does not end is damaged. */
	d->r->image->nrows = seq.first;
	dwarf_srclines_dealloc_b(context);
}

void
debug_lines(struct debug *d, struct unit *unit, Dwarf_Die die)
{
	Dwarf_Attribute attr;
	Dwarf_Off offset;
	bool fresh;

	if (!debug_ok(d, dwarf_attr(die, DW_AT_stmt_list, &attr, &d->err)))
		return;
	fresh = debug_ok(d, dwarf_global_formref(attr, &offset, &d->err)) &&
		map_put(&d->tables, offset, 0);
	dwarf_dealloc_attribute(attr);
	if (fresh && d->want & IMAGE_LINES)
		table_read(d, unit, die);
}
