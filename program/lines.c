/*
 * Source lines: decides which instructions belong to which line, and which rows
 * of the line table cannot be counted.  How entries into a line are counted is
 * decided in flow/entries.h.
 */
#include "program/lines.h"

#include <stdlib.h>

#include "program/code.h"
#include "symtab/pool.h"
#include "util/mem.h"

static const char not_at_insn[] = "not at the start of an instruction";
static const char not_insn[] = "no valid instruction";

enum { INDEX_MIN = 1 << 10, ROW_NONE = -1 };

/* Which lines of a file of the image are chosen. */
enum choice {
	CHOICE_NONE,
	CHOICE_ALL,
	CHOICE_SOME,		/* ask for each line */
};

static bool
line_chosen(const struct unit_table *table, uint32_t file, uint32_t line)
{
	if (!line || file >= table->image->nfiles)
		return false;
	switch (table->choices[file]) {
	case CHOICE_NONE:
		return false;
	case CHOICE_ALL:
		return true;
	default:
		return select_file_line(table->sel, table->image->files[file],
					line);
	}
}

static uint32_t *
line_slot(const struct unit_table *table, uint32_t file, uint32_t line)
{
	size_t mask = table->line_index_size - 1;
	size_t i = ((uint64_t)file << 32 | line) * 0x9e3779b97f4a7c15u >> 20;

	for (;; i++) {
		uint32_t *slot = &table->line_index[i & mask];
		const struct unit *unit;

		if (*slot == UNIT_NONE)
			return slot;
		unit = &table->units[*slot];
		if (unit->ref == file && unit->line == line)
			return slot;
	}
}

static void
line_index_grow(struct unit_table *table)
{
	uint32_t *old = table->line_index;
	size_t i, old_size = table->line_index_size;

	table->line_index_size = old_size ? 2 * old_size : INDEX_MIN;
	table->line_index = mem_grow(NULL, table->line_index_size,
				     sizeof(*old));
	for (i = 0; i < table->line_index_size; i++)
		table->line_index[i] = UNIT_NONE;
	for (i = 0; i < old_size; i++) {
		const struct unit *unit;

		if (old[i] == UNIT_NONE)
			continue;
		unit = &table->units[old[i]];
		*line_slot(table, unit->ref, unit->line) = old[i];
	}
	free(old);
}

/*
 * The unit of a chosen line.  unit->func becomes the first function that has
 * code of the line, whatever the order in which functions are looked at.
 */
static uint32_t
line_unit(struct unit_table *table, uint32_t file, uint32_t line)
{
	struct unit *unit;
	uint32_t *slot;

	if (2 * table->nlines >= table->line_index_size)
		line_index_grow(table);
	slot = line_slot(table, file, line);
	if (*slot == UNIT_NONE) {
		*slot = unit_add(table, UNIT_LINE, file, line);
		table->nlines++;
	}
	unit = &table->units[*slot];
	if (table->func < unit->func)
		unit->func = table->func;
	return *slot;
}

void
unit_lines_open(struct unit_table *table)
{
	const struct image *image = table->image;
	int64_t last = ROW_NONE;
	size_t i;

	line_index_grow(table);
	table->choices = mem_alloc(image->nfiles);
	for (i = 0; i < image->nfiles; i++)
		if (select_file_some(table->sel, image->files[i]))
			table->choices[i] = table->sel->lines.n ? CHOICE_SOME :
								  CHOICE_ALL;
	table->stmts = mem_alloc(image->nrows * sizeof(*table->stmts));
	for (i = 0; i < image->nrows; i++) {
		if (i && image->rows[i - 1].end < image->rows[i].addr)
			last = ROW_NONE;
		if (image->rows[i].is_stmt)
			last = (int64_t)i;
		table->stmts[i] = (uint32_t)last;
	}
}

/* The rows that begin in a range. */
static void
range_rows(const struct image *image, const struct range *range, size_t *from,
	   size_t *to)
{
	*from = code_row(image, range->lo);
	*to = code_row(image, range->hi);
}

bool
unit_lines_wanted(const struct unit_table *table, const struct unit_code *code)
{
	size_t i, row, end;

	for (i = 0; i < code->nranges; i++) {
		range_rows(table->image, &code->ranges[i], &row, &end);
		for (; row < end; row++) {
			const struct row *r = &table->image->rows[row];

			if (r->is_stmt && line_chosen(table, r->file, r->line))
				return true;
		}
	}
	return false;
}

void
unit_lines_leaders(const struct unit_table *table, const struct unit_code *code,
		   uint64_t **leaders, size_t *n)
{
	const struct row *rows = table->image->rows;
	size_t i, row, end;

	for (i = 0; i < code->nranges; i++) {
		range_rows(table->image, &code->ranges[i], &row, &end);
		for (; row < end; row++)
			if (rows[row].is_stmt &&
			    (!*n || (*leaders)[*n - 1] != rows[row].addr))
				*vec_push(*leaders, *n) = rows[row].addr;
	}
}

/* An empty row's line, which control passes on its way to the instruction. */
struct passing {
	uint32_t unit;
	uint32_t insn;
};

/* One range being divided among lines. */
struct division {
	struct unit_table *table;
	const struct cfg *cfg;
	uint32_t *owner;	/* unit of each instruction */
	struct passing *points;
	size_t npoints;
	struct map passed;	/* each point's unit and instruction */
	size_t insn;		/* the next one to be given an owner */
	uint64_t end;		/* how far the rows so far reach */
	const struct row *row;	/* that has put a line in force, or NULL */
	uint32_t unit;		/* of that line */
};

/*
 * Where a row's code begins: for a row at the function's symbol, at the
 * function's first instruction.
 */
static uint64_t
row_begin(const struct division *div, const struct row *row)
{
	const struct image *image = div->table->image;

	if (div->table->func == FUNC_NONE ||
	    row->addr != image->funcs[div->table->func].addr)
		return row->addr;
	return image->arch->first(row->addr);
}

static uint32_t
row_unit(struct unit_table *table, const struct row *row)
{
	if (!line_chosen(table, row->file, row->line))
		return UNIT_NONE;
	return line_unit(table, row->file, row->line);
}

static void
force_begin(struct division *div, const struct row *row)
{
	div->row = row;
	div->unit = row_unit(div->table, row);
}

static void
force_end(struct division *div)
{
	div->row = NULL;
	div->unit = UNIT_NONE;
}

/* Give the instructions up to addr to the line in force. */
static void
division_advance(struct division *div, uint64_t addr)
{
	const struct insn *insns = div->cfg->insns;

	for (; div->insn < div->cfg->ninsns && insns[div->insn].addr < addr;
	     div->insn++)
		div->owner[div->insn] = insns[div->insn].addr < div->end ?
						div->unit :
						UNIT_NONE;
}

static void
point_add(struct division *div, uint32_t unit)
{
	uint64_t key = (uint64_t)div->insn << 32 | unit;

	if (!map_put(&div->passed, key, 0))
		return;
	*vec_push(div->points, div->npoints) = (struct passing){
		.unit = unit,
		.insn = div->insn,
	};
}

bool
line_row_apart(const struct cfg *cfg, uint64_t addr)
{
	long insn = cfg_insn(cfg, addr);

	return insn >= 0 && (!insn || !cfg_proven(cfg, (size_t)insn - 1) ||
			     !cfg_falls(cfg, (size_t)insn - 1));
}

/*
 * The is_stmt rows at one address, [row, end): the last owns the code, the
 * others are points unless they are of the same line.
 */
static void
rows_at(struct division *div, size_t row, size_t end)
{
	const struct row *rows = div->table->image->rows;
	uint32_t unit;
	size_t i;

	for (i = row; i < end; i++)
		if (rows[i].is_stmt)
			force_begin(div, &rows[i]);
	for (i = row; i < end; i++) {
		if (!rows[i].is_stmt)
			continue;
		unit = row_unit(div->table, &rows[i]);
		if (unit != UNIT_NONE && unit != div->unit)
			point_add(div, unit);
	}
}

/* Note that these rows cannot be counted, as no instruction begins there. */
static void
rows_skip(struct division *div, size_t row, size_t end)
{
	const struct cfg *cfg = div->cfg;
	const struct row *rows = div->table->image->rows;
	const char *why = cfg->bad && rows[row].addr >= cfg->bad ? not_insn :
								   not_at_insn;

	for (; row < end; row++) {
		uint32_t unit;

		if (!rows[row].is_stmt)
			continue;
		unit = row_unit(div->table, &rows[row]);
		if (unit == UNIT_NONE)
			continue;
		unit_skip(div->table, unit, rows[row].addr, why);
	}
}

/* Begin a range with the line that a row before it has put in force. */
static void
division_begin(struct division *div, const struct range *range, size_t row)
{
	const struct image *image = div->table->image;
	uint32_t stmt;

	div->insn = cfg_insn_from(div->cfg, range->lo);
	div->end = 0;
	force_end(div);
	if (!row)
		return;
	stmt = div->table->stmts[row - 1];
	div->end = image->rows[row - 1].end;
	if (stmt != (uint32_t)ROW_NONE && div->end > range->lo)
		force_begin(div, &image->rows[stmt]);
}

static void
range_divide(struct division *div, const struct range *range)
{
	const struct row *rows = div->table->image->rows;
	size_t row, next, end, i;
	uint64_t begin;

	range_rows(div->table->image, range, &row, &end);
	division_begin(div, range, row);
	for (; row < end; row = next) {
		bool stmt = false;

		begin = row_begin(div, &rows[row]);
		for (next = row;
		     next < end && (rows[next].addr == rows[row].addr ||
				    rows[next].addr == begin);
		     next++)
			stmt |= rows[next].is_stmt;
		division_advance(div, begin);
		if (div->end < rows[row].addr)
			force_end(div);
		for (i = row; i < next; i++)
			if (div->end < rows[i].end)
				div->end = rows[i].end;
		if (!stmt && div->row &&
		    (rows[next - 1].line != div->row->line ||
		     rows[next - 1].file != div->row->file) &&
		    line_row_apart(div->cfg, begin))
			force_end(div);
		if (!stmt)
			continue;
		if (cfg_insn(div->cfg, begin) < 0)
			rows_skip(div, row, next);
		else
			rows_at(div, row, next);
	}
	division_advance(div, range->hi);
}

/*
 * Emit each instruction for its line and each point for its own, however
 * control comes there.
 */
static void
owners_emit(const struct division *div, const struct unit_code *code,
	    entries_emit *emit, void *ctx)
{
	for (uint32_t i = 0; i < div->cfg->ninsns; i++)
		if (div->owner[i] != UNIT_NONE)
			emit(ctx, div->owner[i],
			     arc_of_block(code->flow,
					  FLOW_BLOCK +
						  cfg_block_of(div->cfg, i)),
			     i);
	for (size_t i = 0; i < div->npoints; i++)
		emit(ctx, div->points[i].unit,
		     arc_of_block(code->flow,
				  FLOW_BLOCK +
					  cfg_block_of(div->cfg,
						       div->points[i].insn)),
		     div->points[i].insn);
}

/*
 * If the function is mid-entered it is not known which arcs enter a line, so
 * all instructions of the line are emitted.
 */
void
unit_lines_emit(struct unit_table *table, const struct unit_code *code,
		entries_emit *emit, void *ctx)
{
	const struct cfg *cfg = code->cfg;
	struct division div = { .table = table, .cfg = cfg };
	struct regions regions;
	size_t i;

	table->func = code->func;
	div.owner = mem_alloc(cfg->ninsns * sizeof(*div.owner));
	for (i = 0; i < cfg->ninsns; i++)
		div.owner[i] = UNIT_NONE;
	for (i = 0; i < code->nranges; i++)
		range_divide(&div, &code->ranges[i]);
	regions = (struct regions){ cfg, code->flow, div.owner };
	if (code->mid_entered)
		owners_emit(&div, code, emit, ctx);
	else
		entries_of_regions(&regions, emit, ctx);
	for (i = 0; i < div.npoints && !code->mid_entered; i++)
		entries_of_point(&regions, div.points[i].unit,
				 div.points[i].insn, emit, ctx);
	free(div.points);
	map_free(&div.passed);
	free(div.owner);
}
