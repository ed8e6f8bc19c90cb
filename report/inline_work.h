/*
 * The instructions that inlined functions executed, summed over their copies.
 * Never prints.
 */
#ifndef REPORT_INLINE_WORK_H
#define REPORT_INLINE_WORK_H

#include "report/inline_frames.h"
#include "report/view.h"
#include "report/work.h"

static const uint32_t INLINE_NONE = UINT32_MAX;

/*
 * Where the entries of table->inlines have their code.  An instruction belongs
 * to the innermost copy that it is in.
 */
struct inline_work {
	uint32_t **entries;	/* per plan, per copy of its image: index into
				   table->inlines, or INLINE_NONE */
	size_t nplans;
	struct frames *frames;	/* of the plan looked at last */
	const struct plan *plan;
	struct work *works;	/* per entry; see inline_work_add */
};

/*
 * For the table's inlined functions, which keep their order from here on.
 * inline_work_close frees what it owns.
 */
void inline_work_open(struct inline_work *work, const struct table *table);
void inline_work_close(struct inline_work *work);

/*
 * The entry of the instruction's function, or INLINE_NONE if it is not inlined,
 * or if that function was not counted.
 */
uint32_t inline_work_at(struct inline_work *work, const struct view *view,
			uint32_t insn);

/* Add the view's instructions to the works of their entries. */
void inline_work_add(struct inline_work *work, const struct view *view);

#endif
