/*
 * The units of a plan: functions, lines and inlined functions.  Adds up their
 * counts from those of blocks and edges; derives none.
 */
#include "probe/build.h"

#include <stdlib.h>

#include "probe/counts.h"
#include "util/mem.h"
#include "util/sort.h"

/* The function plan whose counts are being added to units. */
struct sum {
	struct build *build;
	const struct func_plan *fplan;
};

/* Add a count; once: whether any of the unit's code ran, not how often. */
static void
count_add(struct unit *unit, const struct count *count, bool once)
{
	unit_found(unit);
	if (!once)
		unit->n += count->n;
	else if (unit->n < count->n)
		unit->n = count->n;
	if (count->state == COUNT_UNKNOWN && !unit->why)
		unit->why = count_why(count);
}

static void
sum_emit(void *ctx, uint32_t id, uint32_t arc, uint32_t insn)
{
	struct sum *sum = ctx;
	const struct func_plan *fplan = sum->fplan;
	bool once = sum->build->plan->options.method == PLACE_ONCE;
	struct count count;

	arc = plan_arc(sum->build->plan, fplan->flow, arc);
	if (insn == INSN_NONE && arc >= fplan->flow->nedges)
		insn = fplan->cfg
			       ->blocks[arc_block(fplan->flow, arc) -
					FLOW_BLOCK]
			       .first;
	count = insn == INSN_NONE ? fplan->counts[arc] :
				    fplan_arrivals(fplan, insn);
	if (fplan->mid_entered && !once)
		count = (struct count){ .reason = REASON_MID_ENTRY };
	else if (fplan->came_back && !once)
		count = (struct count){ .reason = REASON_CAME_BACK };
	count_add(&sum->build->table->units[id], &count, once);
}

static void
units_reset(struct build *build)
{
	struct unit_table *table = build->table;
	struct plan *plan = build->plan;

	for (size_t i = 0; i < table->nunits; i++) {
		table->units[i].n = 0;
		table->units[i].why = NULL;
		table->units[i].summed = false;
	}
	free(plan->skips);
	plan->skips = NULL;
	plan->nskips = 0;
}

static void
fplan_sum(struct build *build, const struct func_plan *fplan)
{
	struct unit_code code = fplan_code(fplan);
	struct sum sum = { build, fplan };

	if (!fplan->counts)
		return;
	if (fplan->units & 1U << UNIT_LINE)
		unit_lines_emit(build->table, &code, sum_emit, &sum);
	if (fplan->units & 1U << UNIT_INLINE)
		unit_inlines_emit(build->table, &code, sum_emit, &sum);
}

static void
func_unit(struct build *build, const struct func_plan *fplan,
	  struct unit **units, size_t *n)
{
	struct unit unit = {
		.kind = UNIT_FUNC,
		.ref = fplan->func,
		.func = FUNC_NONE,
	};

	if (fplan->state == FPLAN_FAULTY) {
		unit_skip(build->table, UNIT_NONE,
			  build->image->funcs[fplan->func].addr, fplan->why);
		unit.why = fplan->why;
	} else {
		count_add(&unit, &fplan->calls, false);
	}
	*vec_push(*units, *n) = unit;
}

static int
by_unit_order(const void *va, const void *vb)
{
	const struct unit *a = va, *b = vb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->ref != b->ref)
		return a->ref < b->ref ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

struct unit *
plan_units(struct plan *plan, size_t *n)
{
	struct build *build = plan->build;
	struct unit_table *table = build->table;
	struct unit *units = NULL;

	*n = 0;
	units_reset(build);
	table->keeping = true;
	for (size_t i = 0; i < plan->nfplans; i++) {
		if (plan->fplans[i].named)
			func_unit(build, &plan->fplans[i], &units, n);
		fplan_sum(build, &plan->fplans[i]);
	}
	table->keeping = false;
	plan->skips = table->skips;
	plan->nskips = table->nskips;
	table->skips = NULL;
	table->nskips = 0;
	for (size_t i = 0; i < table->nunits; i++) {
		struct unit *unit = vec_push(units, *n);

		*unit = table->units[i];
		if (unit->kind == UNIT_INLINE && !unit->summed && !unit->why)
			unit->why = "not in a known function";
		/* A unit that ran has run, whatever else is not known. */
		if (plan->options.method == PLACE_ONCE && unit->n)
			unit->why = NULL;
		if (unit->why)
			unit->n = 0;
	}
	if (*n)
		sort(units, *n, sizeof(*units), by_unit_order);
	return units;
}
