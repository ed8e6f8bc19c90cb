/*
 * Adds up the instructions and blocks that were executed.  Never prints.
 */
#include "report/work.h"

#include <stdlib.h>

#include "util/mem.h"

void
work_add_insn(struct work *work, const struct figure *count)
{
	figure_add(&work->ie, count);
	work->i++;
	work->ine += !count->why && !count->n;
}

void
work_add_block(struct work *work, const struct figure *count)
{
	figure_add(&work->bbe, count);
	work->bb++;
	work->bbne += !count->why && !count->n;
}

void
work_add(struct work *to, const struct work *work)
{
	figure_add(&to->ie, &work->ie);
	to->i += work->i;
	to->ine += work->ine;
	figure_add(&to->bbe, &work->bbe);
	to->bb += work->bb;
	to->bbne += work->bbne;
}

/* Returns the work that an instruction is added to. */
typedef struct work *work_owner(void *ctx, const struct view *view,
				uint32_t insn);

static void
fplan_divide(const struct view *view, work_owner *owner, void *ctx)
{
	const struct cfg *cfg = view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		struct figure count = view_block(view, b);

		if (view->padding[b])
			continue;
		work_add_block(owner(ctx, view, block->first), &count);
		for (uint32_t i = block->first; i < block->first + block->count;
		     i++) {
			count = view_insn(view, i);
			work_add_insn(owner(ctx, view, i), &count);
		}
	}
}

static struct work *
owner_fplan(void *ctx, const struct view *view, uint32_t insn)
{
	return ctx;
}

struct work
work_of_fplan(const struct view *view)
{
	struct work work = { 0 };

	fplan_divide(view, owner_fplan, &work);
	return work;
}

struct division {
	struct work *works;
	struct work *rest;
};

static struct work *
owner_file(void *ctx, const struct view *view, uint32_t insn)
{
	const struct division *division = ctx;
	const struct row *row = view->owners[insn];
	uint32_t file = row ? table_file(view->table, view->plan_index,
					 row->file) :
			      FILE_NONE;

	return file == FILE_NONE ? division->rest : &division->works[file];
}

static struct work *
owner_line(void *ctx, const struct view *view, uint32_t insn)
{
	const struct division *division = ctx;
	const struct row *row = view->owners[insn];
	const struct line_entry *line = NULL;

	if (row)
		line = table_line(view->table,
				  table_file(view->table, view->plan_index,
					     row->file),
				  row->line);
	return line ? &division->works[line - view->table->lines] :
		      division->rest;
}

static struct work *
divide(struct table *table, size_t n, work_owner *owner, struct work *rest)
{
	struct division division = { mem_alloc(n * sizeof(struct work)), rest };
	struct view *view = NULL;

	*rest = (struct work){ 0 };
	while ((view = view_next(table, view, VIEW_INSNS)))
		fplan_divide(view, owner, &division);
	return division.works;
}

struct work *
work_by_line(struct table *table, struct work *rest)
{
	return divide(table, table->nlines, owner_line, rest);
}

struct work *
work_by_file(struct table *table, struct work *rest)
{
	return divide(table, table->nfiles, owner_file, rest);
}
