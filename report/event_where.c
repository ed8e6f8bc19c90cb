/*
 * Where events count, and how counts are added to their sums.
 */
#include "report/event_inner.h"

static const char too_large[] = "the sum is too large";

void
event_sum_add(struct figure *sum, uint64_t weight, struct figure count)
{
	if (__builtin_mul_overflow(weight, count.n, &count.n)) {
		count.n = UINT64_MAX;
		count.why = too_large;
	}
	figure_add(sum, &count);
}

bool
event_func_is(const struct selection *of, const struct func *func)
{
	return func ? select_func(of, func->name, func->aliases,
				  func->naliases) :
		      !of->funcs.n;
}

bool
event_where_func(const struct event_def *event, const struct plan *plan,
		 const struct func *func)
{
	const struct selection *where = &event->where;

	if (where->objects.n && !select_object(where, plan->image->path, false))
		return false;
	return event_func_is(where, func);
}

bool
event_where_file(const struct event_def *event, const struct table *table,
		 uint32_t file)
{
	if (!event->where.files.n)
		return true;
	return file != FILE_NONE &&
	       select_file(&event->where, table->files[file].path);
}

bool
event_where_insn(const struct event_def *event, const struct view *view,
		 uint32_t insn)
{
	const struct row *row = view->rows[insn];

	if (!event->where.files.n)
		return true;
	return row && event_where_file(event, view->table,
				       table_file(view->table, view->plan_index,
						  row->file));
}

bool
event_edge_next(const struct func_plan *fplan, const struct func *func,
		const struct event_term *term, uint32_t *edge)
{
	const struct cfg *cfg = fplan->cfg;
	const struct flow *flow = fplan->flow;
	long last = cfg_insn(cfg, func->addr + term->offset);
	long to = cfg_block(cfg, func->addr + term->to_offset);
	uint32_t from;

	if (last < 0 || to == BLOCK_NONE)
		return false;
	from = FLOW_BLOCK + cfg_block_of(cfg, (size_t)last);
	if (*edge < flow->out[from])
		*edge = flow->out[from];
	while (*edge < flow->out[from + 1] &&
	       flow->edges[*edge].to != FLOW_BLOCK + (uint32_t)to)
		++*edge;
	return *edge < flow->out[from + 1];
}
