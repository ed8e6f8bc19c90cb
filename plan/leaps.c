/*
 * Leaps: where in a body control left an instruction, or came to it, over no
 * edge, as strays say or as counters behind calls show; and how often each
 * instruction of a settled body was begun with that.
 */
#include "plan/settle.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/search.h"

struct counter
settling_counter(const struct settling *s, uint32_t site)
{
	if (site >= s->meter->ncounters)
		return (struct counter){ 0 };
	/* Several threads may be there before the trap is gone. */
	if (s->plan->wish.method == PLACE_ONCE)
		return (struct counter){
			.hits = s->meter->counters[site].hits != 0,
		};
	return s->meter->counters[site];
}

static int
by_insn(const void *va, const void *vb)
{
	const struct leap *a = va, *b = vb;

	if (a->insn != b->insn)
		return a->insn < b->insn ? -1 : 1;
	return a->during - b->during;
}

/* The instruction that a stray is about, or -1. */
static long
stray_insn(const struct cfg *cfg, const struct stray *stray)
{
	size_t next;

	if (!stray->during)
		return cfg_insn(cfg, stray->addr);
	next = cfg_insn_from(cfg, stray->addr);
	if (!next || cfg->insns[next - 1].addr + cfg->insns[next - 1].len !=
	    stray->addr)
		return -1;
	return (long)next - 1;
}

static void
leaps_clear(struct plan *plan)
{
	for (size_t i = 0; i < plan->nbodies; i++) {
		free(plan->bodies[i].leaps);
		plan->bodies[i].leaps = NULL;
		plan->bodies[i].nleaps = 0;
	}
}

/*
 * An instruction behind which its block only goes to EXIT, whenever it runs:
 * one that faulted there has gone that way.
 */
static bool
insn_exits(const struct insn *insn)
{
	return insn->kind == INSN_STOP || insn->kind == INSN_RETURN ||
	       (insn->kind == INSN_JUMP_INDIRECT &&
		insn->flow != FLOW_TABLE && insn->flow != FLOW_TABLE_LEAVES);
}

void
leaps_make(const struct settling *s)
{
	struct plan *plan = s->plan;

	leaps_clear(plan);
	for (size_t i = 0; i < s->meter->nstrays; i++) {
		const struct stray *stray = &s->meter->strays[i];
		uint32_t index = plan_body(plan, stray->addr -
					   (stray->during ? 1 : 0));
		struct body *body;
		long insn;

		if (index == BODY_NONE || !plan->bodies[index].cfg)
			continue;
		body = &plan->bodies[index];
		insn = stray_insn(body->cfg, stray);
		if (insn < 0)
			body->intruded = true;
		else if (!stray->during || !insn_exits(&body->cfg->insns[insn]))
			*vec_push(body->leaps, body->nleaps) = (struct leap){
				(uint32_t)insn, stray->during, stray->left,
				stray->came,
			};
	}
	for (size_t i = 0; i < plan->nbodies; i++)
		if (plan->bodies[i].nleaps)
			qsort(plan->bodies[i].leaps, plan->bodies[i].nleaps,
			      sizeof(struct leap), by_insn);
}

/* How often the call of a pass was begun, by the leaps before it. */
static uint64_t
pass_begun(const struct settling *s, const struct pass *pass, uint32_t first,
	   const struct leap *leaps, size_t n)
{
	uint64_t begun = settling_counter(s, pass->first).hits;

	for (size_t i = 0; i < n; i++)
		if (leaps[i].insn != first || leaps[i].during)
			begun += leaps[i].came - leaps[i].left;
	return begun;
}

void
leaps_measure(const struct settling *s, struct body *body)
{
	const struct cfg *cfg = body->cfg;
	const struct leap *told = body->leaps;
	struct leap *leaps = NULL;
	size_t n = 0, from = 0, k = 0;

	for (size_t p = 0; p < body->npasses; p++) {
		struct pass *pass = &body->passes[p];
		uint32_t call = pass->insn - 1, first;
		struct leap leap = { .insn = call, .during = true };
		uint64_t begun, back;

		/* It may have come back before there was a counter. */
		pass->measured = !body->missed &&
				 !s->plan->sites[pass->site].lost &&
				 !s->plan->sites[pass->first].lost;
		if (!pass->measured)
			continue;
		first = cfg->blocks[cfg_block_of(cfg, call)].first;
		/* What is known in other ways up to the call. */
		for (; k < body->nleaps && (told[k].insn < call ||
			(told[k].insn == call && !told[k].during)); k++)
			*vec_push(leaps, n) = told[k];
		for (; k < body->nleaps && told[k].insn == call; k++)
			;
		while (from < n && leaps[from].insn < first)
			from++;
		begun = pass_begun(s, pass, first, leaps + from, n - from);
		back = settling_counter(s, pass->site).hits;
		/* It came back, but what is behind it was not begun. */
		if (k < body->nleaps && told[k].insn == pass->insn &&
		    !told[k].during)
			back += told[k].left - told[k].came;
		if (begun > back)
			leap.left = begun - back;
		else
			leap.came = back - begun;
		if (begun != back)
			*vec_push(leaps, n) = leap;
	}
	for (; k < body->nleaps; k++)
		*vec_push(leaps, n) = told[k];
	free(body->leaps);
	body->leaps = leaps;
	body->nleaps = n;
}

struct flow_extra *
leaps_extras(const struct body *body, size_t *n)
{
	struct flow_extra *extras = NULL;

	*n = 0;
	for (size_t i = 0; i < body->nleaps; i++) {
		const struct leap *leap = &body->leaps[i];
		uint32_t block = cfg_block_of(body->cfg, leap->insn);
		bool before = !leap->during &&
			      body->cfg->blocks[block].first == leap->insn;

		if (leap->left)
			*vec_push(extras, *n) = (struct flow_extra){
				block, before ? LEFT_BEFORE : LEFT_BEHIND,
				leap->left
			};
		if (leap->came)
			*vec_push(extras, *n) = (struct flow_extra){
				block, before ? CAME_BEFORE : CAME_BEHIND,
				leap->came
			};
	}
	return extras;
}

/* The pass of the call at an instruction, or NULL. */
static const struct pass *
call_pass(const struct body *body, uint32_t call)
{
	size_t lo = search_first(body->npasses, i, body->passes[i].insn > call);

	return lo < body->npasses && body->passes[lo].insn == call + 1 ?
		&body->passes[lo] : NULL;
}

bool
calls_measured(const struct body *body, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct insn *insn = &body->cfg->insns[i];
		const struct pass *pass;

		if (insn->kind != INSN_CALL &&
		    insn->kind != INSN_CALL_INDIRECT &&
		    insn->kind != INSN_SYSCALL)
			continue;
		pass = call_pass(body, i);
		if (!pass || !pass->measured)
			return false;
	}
	return true;
}

/*
 * How often an instruction was begun, from how control left its block; false
 * if that does not tell.
 */
static bool
insn_behind(const struct body *body, uint32_t block, uint32_t insn,
	    struct count *count)
{
	const struct block *b = &body->cfg->blocks[block];
	const struct flow *flow = body->flow;
	uint32_t v = FLOW_BLOCK + block, end = b->first + b->count;

	*count = (struct count){ .state = COUNT_DERIVED };
	if (!calls_measured(body, insn, end))
		return false;
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (body->counts[e].state == COUNT_UNKNOWN)
			return false;
		count->n += body->counts[e].n;
	}
	for (size_t i = 0; i < body->nleaps; i++) {
		const struct leap *leap = &body->leaps[i];

		if (leap->insn >= insn + !leap->during && leap->insn < end)
			count->n -= leap->came - leap->left;
	}
	if (count->n >> 63)
		*count = (struct count){ .reason = REASON_CONTRADICTION };
	return true;
}

struct count
body_insn(const struct body *body, uint32_t insn)
{
	const struct cfg *cfg = body->cfg;
	uint32_t block = cfg_block_of(cfg, insn);
	uint32_t first = cfg->blocks[block].first;
	struct count count = body->counts[arc_of_block(body->flow,
						       FLOW_BLOCK + block)];
	struct count behind;

	if (insn != first && reason_anywhere(body->doubt))
		return (struct count){ .reason = body->doubt };
	if (insn != first && (reason_calls(body->doubt) ||
			      body->doubt == REASON_LOST ||
			      body->doubt == REASON_UNPLACED) &&
	    !calls_measured(body, first, insn)) {
		if (insn_behind(body, block, insn, &behind))
			return behind;
		return (struct count){ .reason = body->doubt };
	}
	if (count.state == COUNT_UNKNOWN)
		return count;
	for (size_t i = 0; i < body->nleaps; i++) {
		const struct leap *leap = &body->leaps[i];

		if (leap->insn < first || leap->insn > insn ||
		    (leap->insn == first && !leap->during) ||
		    (leap->insn == insn && leap->during))
			continue;
		count.n += leap->came - leap->left;
	}
	return count;
}

struct count
body_arrivals(const struct body *body, uint32_t insn)
{
	struct count count = body_insn(body, insn);

	if (count.state == COUNT_UNKNOWN)
		return count;
	/* It may have been left before it was begun. */
	if (reason_anywhere(body->doubt))
		return (struct count){ .reason = body->doubt };
	if (insn == body->cfg->entry && body->counts[0].reason == REASON_SIGNAL)
		return body->counts[0];
	for (size_t i = 0; i < body->nleaps; i++)
		if (body->leaps[i].insn == insn && !body->leaps[i].during)
			count.n += body->leaps[i].left - body->leaps[i].came;
	return count;
}
