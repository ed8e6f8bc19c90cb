/*
 * Inlined functions: makes one unit of all copies of a function, and emits what
 * counts it: arrivals at each copy's entry from outside that copy.
 */
#include "program/lines.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

static const struct image *sort_image;

static int
copies_compare(const struct inlined *a, const struct inlined *b)
{
	int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");

	if (order)
		return order;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int
by_function(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int order = copies_compare(&sort_image->inlines[a],
				   &sort_image->inlines[b]);

	return order ? order : a < b ? -1 : a > b;
}

static bool
copy_chosen(const struct unit_table *table, const struct inlined *copy)
{
	const struct image *image = table->image;

	return select_func(table->sel, copy->name, NULL, 0) &&
	       select_file(table->sel, copy->file < image->nfiles ?
					       image->files[copy->file] :
					       NULL);
}

/* Make one unit for all copies of a function; it refers to the first copy. */
void
unit_inlines_open(struct unit_table *table, unsigned units)
{
	const struct image *image = table->image;
	uint32_t unit = UNIT_NONE, *order;
	size_t i, n = image->ninlines;

	if (!(units & 1U << UNIT_INLINE))
		return;
	table->copy_units = mem_alloc(n * sizeof(*table->copy_units));
	order = mem_alloc(n * sizeof(*order));
	for (i = 0; i < n; i++)
		order[i] = i;
	sort_image = image;
	sort(order, n, sizeof(*order), by_function);
	for (i = 0; i < n; i++) {
		const struct inlined *copy = &image->inlines[order[i]];

		if (!i || copies_compare(&image->inlines[order[i - 1]], copy))
			unit = copy_chosen(table, copy) ?
				       unit_add(table, UNIT_INLINE, order[i],
						copy->line) :
				       UNIT_NONE;
		table->copy_units[order[i]] = unit;
	}
	free(order);
}

/* The next chosen copy, from index *i on, whose entry is in the range. */
static const struct inlined *
copy_next(const struct unit_table *table, const struct range *range, size_t *i)
{
	const struct image *image = table->image;

	for (; *i < image->ninlines; ++*i) {
		const struct inlined *copy = &image->inlines[*i];

		if (copy->addr >= range->hi)
			return NULL;
		if (table->copy_units[*i] != UNIT_NONE)
			return copy;
	}
	return NULL;
}

static size_t
copy_first(const struct unit_table *table, const struct range *range)
{
	return search_first(table->image->ninlines, i,
			    table->image->inlines[i].addr >= range->lo);
}

bool
unit_inlines_wanted(const struct unit_table *table,
		    const struct unit_code *code)
{
	size_t i, j;

	for (i = 0; i < code->nranges; i++) {
		j = copy_first(table, &code->ranges[i]);
		if (copy_next(table, &code->ranges[i], &j))
			return true;
	}
	return false;
}

static bool
copy_has(const struct inlined *copy, uint64_t addr)
{
	size_t i;

	for (i = 0; i < copy->nranges; i++)
		if (addr >= copy->ranges[i].lo && addr < copy->ranges[i].hi)
			return true;
	return false;
}

/*
 * Mark the copy's own instructions among those that lead to its entry.  Marking
 * all instructions of every copy would take long where copies are nested.
 */
static void
copy_mark(const struct cfg *cfg, const struct inlined *copy, size_t insn,
	  uint32_t *owner, uint32_t unit)
{
	uint32_t block = cfg_block_of(cfg, insn);

	if (cfg->blocks[block].first != insn) {
		if (copy_has(copy, cfg->insns[insn - 1].addr))
			owner[insn - 1] = unit;
		return;
	}
	for (uint32_t i = cfg->in[block]; i < cfg->in[block + 1]; i++) {
		const struct block *from = &cfg->blocks[cfg->edges[i].from];
		uint32_t last = from->first + from->count - 1;

		if (copy_has(copy, cfg->insns[last].addr))
			owner[last] = unit;
	}
}

/* Emit a copy's entries.  Leaves `owner` as it was. */
static void
copy_emit(struct unit_table *table, const struct unit_code *code,
	  uint32_t *owner, size_t index, entries_emit *emit, void *ctx)
{
	const struct inlined *copy = &table->image->inlines[index];
	uint32_t unit = table->copy_units[index];
	const struct regions regions = { code->cfg, code->flow, owner };
	long insn = cfg_insn(code->cfg, copy->addr);

	if (insn < 0) {
		unit_skip(table, unit, copy->addr,
			  "not at the start of an "
			  "instruction");
		return;
	}
	if (table->keeping)
		unit_found(&table->units[unit]);
	if (code->mid_entered) {
		emit(ctx, unit,
		     arc_of_block(code->flow,
				  FLOW_BLOCK + cfg_block_of(code->cfg,
							    (size_t)insn)),
		     (uint32_t)insn);
		return;
	}
	copy_mark(code->cfg, copy, (size_t)insn, owner, unit);
	entries_of_point(&regions, unit, (uint32_t)insn, emit, ctx);
	copy_mark(code->cfg, copy, (size_t)insn, owner, UNIT_NONE);
}

void
unit_inlines_emit(struct unit_table *table, const struct unit_code *code,
		  entries_emit *emit, void *ctx)
{
	uint32_t *owner = mem_alloc(code->cfg->ninsns * sizeof(*owner));
	size_t i, j;

	for (i = 0; i < code->cfg->ninsns; i++)
		owner[i] = UNIT_NONE;
	for (i = 0; i < code->nranges; i++) {
		j = copy_first(table, &code->ranges[i]);
		for (; copy_next(table, &code->ranges[i], &j); j++)
			copy_emit(table, code, owner, j, emit, ctx);
	}
	free(owner);
}
