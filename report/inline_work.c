/*
 * Adds up the instructions that inlined functions executed.  Never prints.
 */
#include "report/inline_work.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/sort.h"

/* A copy, or the one that an entry refers to. */
struct copy {
	const struct inlined *inlined;
	uint32_t index, entry;	/* entry: INLINE_NONE for the other copies */
};

static int
functions_compare(const struct inlined *a, const struct inlined *b)
{
	int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");

	if (order)
		return order;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* By function; the copies that entries refer to first. */
static int
by_function(const void *va, const void *vb)
{
	const struct copy *a = va, *b = vb;
	int order = functions_compare(a->inlined, b->inlined);

	if (order)
		return order;
	if (a->entry != b->entry)
		return a->entry < b->entry ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static uint32_t *
plan_entries(const struct table *table, uint32_t plan)
{
	const struct image *image = table->report_input->plans[plan]->image;
	size_t n = image->ninlines;
	struct copy *copies = mem_alloc(n * sizeof(*copies));
	uint32_t *entries = mem_alloc(n * sizeof(*entries));
	uint32_t entry = INLINE_NONE;

	for (uint32_t i = 0; i < n; i++)
		copies[i] = (struct copy){ &image->inlines[i], i, INLINE_NONE };
	for (uint32_t i = 0; i < table->inlines.n; i++)
		if (table->inlines.entries[i].plan == plan)
			copies[table->inlines.entries[i].ref].entry = i;
	if (n)
		sort(copies, n, sizeof(*copies), by_function);
	for (size_t i = 0; i < n; i++) {
		if (!i ||
		    functions_compare(copies[i - 1].inlined, copies[i].inlined))
			entry = copies[i].entry;
		entries[copies[i].index] = entry;
	}
	free(copies);
	return entries;
}

void
inline_work_open(struct inline_work *work, const struct table *table)
{
	*work = (struct inline_work){ .nplans = table->report_input->nplans };
	table_names(table, &table->inlines, table->inlines.n);
	work->works = mem_alloc(table->inlines.n * sizeof(*work->works));
	work->entries = mem_alloc(work->nplans * sizeof(*work->entries));
	for (uint32_t i = 0; i < work->nplans; i++)
		work->entries[i] = plan_entries(table, i);
}

void
inline_work_close(struct inline_work *work)
{
	for (size_t i = 0; i < work->nplans; i++)
		free(work->entries[i]);
	free(work->entries);
	free(work->works);
	frames_free(work->frames);
}

uint32_t
inline_work_at(struct inline_work *work, const struct view *view, uint32_t insn)
{
	uint32_t frame;

	if (work->plan != view->plan) {
		frames_free(work->frames);
		work->frames = frames_make(view->plan->image);
		work->plan = view->plan;
	}
	frame = frames_at(work->frames, view->fplan->cfg->insns[insn].addr);
	if (frame == FRAME_NONE)
		return INLINE_NONE;
	return work->entries[view->plan_index]
			    [work->frames->frames[frame].inlined];
}

void
inline_work_add(struct inline_work *work, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (view->padding[b])
			continue;
		for (uint32_t i = block->first; i < block->first + block->count;
		     i++) {
			uint32_t entry = inline_work_at(work, view, i);
			struct figure count = view_insn(view, i);

			if (entry != INLINE_NONE)
				work_add_insn(&work->works[entry], &count);
		}
	}
}
