/*
 * The units of a plan: functions, lines and inlined functions, and their
 * counts, added up from those of blocks and edges.
 */
#include "plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

uint32_t
build_unit(struct build *build, enum unit_kind kind, uint32_t ref,
	   uint32_t line)
{
	*vec_push(build->units, build->nunits) = (struct unit){
		.kind = kind, .ref = ref, .line = line,
		.func = kind == UNIT_LINE ? build->func : FUNC_NONE,
	};
	return build->nunits - 1;
}

void
build_skip(struct build *build, uint32_t unit, uint64_t addr, const char *why)
{
	struct plan *plan = build->plan;

	if (!build->keeping)
		return;
	*vec_push(plan->skips, plan->nskips) = (struct skip){
		.addr = addr, .why = why,
	};
	if (unit != UNIT_NONE && !build->units[unit].summed &&
	    !build->units[unit].why)
		build->units[unit].why = why;
}

/* What is being added to units. */
struct sum {
	struct build *build;
	const struct body *body;
};

/* One bad row does not spoil a line that has good ones. */
static void
unit_found(struct unit *unit)
{
	if (!unit->summed)
		unit->why = NULL;
	unit->summed = true;
}

void
build_found(struct build *build, uint32_t unit)
{
	if (build->keeping)
		unit_found(&build->units[unit]);
}

/* Of what ran or did not, a unit is all of its code together. */
static void
unit_add(struct unit *unit, const struct count *count, bool once)
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
	const struct body *body = sum->body;
	bool once = sum->build->plan->wish.method == PLACE_ONCE;
	struct count count;

	arc = plan_arc(sum->build->plan, body->flow, arc);
	if (insn == INSN_NONE && arc >= body->flow->nedges)
		insn = body->cfg->blocks[arc_block(body->flow, arc) -
					 FLOW_BLOCK].first;
	count = insn == INSN_NONE ? body->counts[arc] :
		body_arrivals(body, insn);
	if (body->intruded && !once)
		count = (struct count){ .reason = REASON_INTRUDED };
	unit_add(&sum->build->units[id], &count, once);
}

static void
units_reset(struct build *build)
{
	struct plan *plan = build->plan;

	for (size_t i = 0; i < build->nunits; i++) {
		build->units[i].n = 0;
		build->units[i].why = NULL;
		build->units[i].summed = false;
	}
	free(plan->skips);
	plan->skips = NULL;
	plan->nskips = 0;
}

static void
body_sum(struct build *build, const struct body *body)
{
	struct sum sum = { build, body };

	if (!body->counts)
		return;
	if (body->units & 1U << UNIT_LINE)
		plan_lines_emit(build, body, sum_emit, &sum);
	if (body->units & 1U << UNIT_INLINE)
		plan_inlines_emit(build, body, sum_emit, &sum);
}

static void
func_unit(struct build *build, const struct body *body, struct unit **units,
	  size_t *n)
{
	struct unit unit = {
		.kind = UNIT_FUNC, .ref = body->func, .func = FUNC_NONE,
	};

	if (body->state == BODY_FAULTY) {
		build_skip(build, UNIT_NONE,
			   build->image->funcs[body->func].addr, body->why);
		unit.why = body->why;
	} else {
		unit_add(&unit, &body->calls, false);
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
	struct unit *units = NULL;

	*n = 0;
	units_reset(build);
	build->keeping = true;
	for (size_t i = 0; i < plan->nbodies; i++) {
		if (plan->bodies[i].named)
			func_unit(build, &plan->bodies[i], &units, n);
		body_sum(build, &plan->bodies[i]);
	}
	build->keeping = false;
	for (size_t i = 0; i < build->nunits; i++) {
		struct unit *unit = vec_push(units, *n);

		*unit = build->units[i];
		if (unit->kind == UNIT_INLINE && !unit->summed && !unit->why)
			unit->why = "not in a known function";
		/* What ran has run, whatever is not known besides. */
		if (plan->wish.method == PLACE_ONCE && unit->n)
			unit->why = NULL;
		if (unit->why)
			unit->n = 0;
	}
	if (*n)
		qsort(units, *n, sizeof(*units), by_unit_order);
	return units;
}
