/*
 * The report of blocks: those of each function, with their lines and counts.
 */
#include "report/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/printable.h"

enum { COUNT_MIN = 9, ADDR_MIN = 7 };

struct widths {
	size_t count, addr;
};

static void
block_write(const struct view *view, uint32_t b, const struct widths *widths,
	    FILE *out)
{
	const struct block *block = &view->fplan->cfg->blocks[b];
	struct figure count = view_block(view, b);
	size_t columns = view->table->columns;
	size_t used = widths->count + 2 + widths->addr + 8;
	char *lines = view_lines(view, block->first,
				 block->first + block->count);

	figure_write(out, &count, widths->count);
	fprintf(out, "  %*" PRIx64 " %5u", (int)widths->addr,
		view->fplan->cfg->insns[block->first].addr, block->count);
	if (*lines) {
		fputs("  ", out);
		text_print(out, lines, strlen(lines),
			   columns > used ? columns - used : 0);
	}
	putc('\n', out);
	free(lines);
}

static void
fplan_write(const struct view *view, const struct widths *widths, FILE *out)
{
	const struct cfg *cfg = view->fplan->cfg;

	putc('\n', out);
	view_heading_write(view, out);
	if (view_idle_write(view, UNIT_BLOCK, out))
		return;
	fprintf(out, "%*s  %*s INSNS  LINES\n", (int)widths->count, "COUNT",
		(int)widths->addr, "ADDRESS");
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (!view->padding[b])
			block_write(view, b, widths, out);
}

void
blocks_write(struct table *table, FILE *out)
{
	struct widths widths = { COUNT_MIN, ADDR_MIN };
	struct totals totals = { 0 };
	struct reasons reasons = { 0 };
	struct view *view = NULL;

	title_write(table, out, "Blocks");
	if (!units_present(table, out, UNIT_BLOCK))
		return;
	while ((view = view_next(table, view, VIEW_BLOCKS))) {
		view_totals(view, UNIT_BLOCK, &totals, &reasons);
		view_widen(view, &widths.count, &widths.addr);
	}
	totals_line_write(&totals, UNIT_BLOCK, out);
	while ((view = view_next(table, view, VIEW_BLOCKS)))
		fplan_write(view, &widths, out);
	reasons_write(&reasons, out);
}
