/*
 * Settling: from counters and strays to the counts of all blocks, edges and
 * instructions.  What contradicts itself or may be wrong is unknown; nothing
 * is ever put right.
 */
#include "copy/copy.h"
#include "plan/settle.h"

#include <stdlib.h>

#include "util/fail.h"
#include "util/mem.h"

const char *
count_why(const struct count *count)
{
	if (count->state != COUNT_UNKNOWN)
		return NULL;
	switch ((enum count_reason)count->reason) {
	case REASON_NO_TRAPS:
		return "without breakpoints (--no-traps) stacks are not "
		       "looked at";
	case REASON_LEFT:
		return "control left a stack in a way that could not be "
		       "followed";
	case REASON_COPY:
		return "the copy of it that was counted had to be given up";
	case REASON_HOST:
		return "the program ran on without breakpoints";
	case REASON_ATTACHED:
		return "a stack could not be walked to its end when counting "
		       "began";
	case REASON_LOST:
		return "a breakpoint could not be planted";
	case REASON_DIFFERS:
		return "its text in memory differs from the file";
	case REASON_CONTRADICTION:
		return "its counts contradict one another: control came or "
		       "went unseen";
	case REASON_STACK:
		return "a stack could not be walked to its end";
	case REASON_SIGNAL:
		return "a signal came in its middle, from whose handler "
		       "control may not have come back";
	case REASON_SEVERED:
		return "a thread ended, or was interrupted, where it is not "
		       "known";
	case REASON_TAMPERED:
		return "the program changed the memory or the register by "
		       "which it was counted";
	case REASON_UNPROVEN:
		return "nothing is known to lead to it: it may be data";
	case REASON_INTRUDED:
		return "code from elsewhere jumps into its middle";
	case REASON_GRAPH:
		return "it is not made of the blocks that were counted";
	case REASON_PARTIAL:
		return "not counted in all of the files merged";
	case REASON_OVERFLOW:
		return "more than 64 bits hold";
	default:
		return "neither counted nor to be derived";
	}
}

static struct count
count_exact(uint64_t n)
{
	return (struct count){ n, COUNT_EXACT, REASON_NONE };
}

/* ---- what a meter says */

static uint64_t
gauge_read(const struct settling *s, const struct gauge *gauge)
{
	struct counter counter = settling_counter(s, gauge->site);
	const struct arrival *target;

	switch ((enum term_kind)gauge->kind) {
	case TERM_TAKEN:
		return counter.taken;
	case TERM_FALL:
		return counter.hits - counter.taken;
	case TERM_TARGET:
		target = meter_arrival((struct meter *)s->meter, gauge->site,
				      s->plan, gauge->to, false);
		return target ? target->n : 0;
	default:
		return counter.hits;
	}
}

/* ---- bodies */

static void
counts_unknown(struct body *body, enum count_reason reason)
{
	for (uint32_t i = 0; i < flow_arcs(body->flow); i++)
		body->counts[i] = (struct count){ .reason = reason };
}

/* Why counters of the body are lost. */
static enum count_reason
lost_reason(const struct plan *plan, const struct body *body)
{
	return body->differs ? REASON_DIFFERS :
	       body->copy && body->lost ? REASON_COPY :
	       plan->unseen ? REASON_HOST : REASON_LOST;
}

static void
lost_explain(const struct plan *plan, struct body *body)
{
	for (uint32_t i = 0; i < flow_arcs(body->flow); i++)
		if (body->counts[i].reason == REASON_LOST)
			body->counts[i].reason = lost_reason(plan, body);
}

static uint64_t
slot_of(const struct settling *s, size_t number)
{
	return number < s->meter->nslots ? s->meter->slots[number] : 0;
}

static void
copy_read(const struct settling *s, const struct body *body,
	  uint64_t *counters, bool *lost)
{
	size_t n = body->copy->narcs + body->copy->nextras;
	uint64_t *slots = mem_alloc(n * sizeof(*slots));

	for (size_t i = 0; i < n; i++)
		slots[i] = slot_of(s, body->counter + i);
	copy_sum(body->copy, slots, counters);
	for (uint32_t i = 0; i < body->copy->narcs; i++)
		lost[i] = body->lost;
	free(slots);
}

/* What nothing is known to lead to may run all the same: nothing counts it. */
static void
gaps_settle(const struct body *body)
{
	const struct cfg *cfg = body->cfg;

	for (uint32_t b = 0; cfg->unresolved && cfg->gaps && b < cfg->nblocks;
	     b++)
		if (cfg->blocks[b].proof == PROOF_NONE)
			body->counts[arc_of_block(body->flow, FLOW_BLOCK + b)] =
				(struct count){ .reason = REASON_UNPROVEN };
	if (cfg->reentered && body->flow->edges[0].from == FLOW_ROOT)
		body->counts[0] = (struct count){ .reason = REASON_UNPROVEN };
}

/*
 * Whether each block ran, and nothing else: the edge from outside to the entry
 * is as its block.  Where no edge leads nothing needs a counter.
 */
static void
counts_once(struct body *body, const struct measured *measured)
{
	const struct flow *flow = body->flow;

	for (size_t i = 0; i < body->npasses; i++)
		if (!body->passes[i].measured)
			body->doubt = REASON_LOST;
	counts_unknown(body, REASON_UNPLACED);
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		if (flow->in[v] == flow->in[v + 1])
			body->counts[arc_of_block(flow, v)] = count_exact(0);
	for (uint32_t i = 0; i < body->placement->narcs; i++)
		body->counts[body->placement->arcs[i]] = measured->lost[i] ?
			(struct count){ .reason = REASON_LOST } :
			count_exact(measured->counters[i]);
	for (uint32_t i = 0; i < flow_arcs(flow) && body->intruded; i++)
		if (!body->counts[i].n)
			body->counts[i] = (struct count){
				.reason = REASON_INTRUDED };
	if (flow->nedges && flow->edges[0].from == FLOW_ROOT)
		body->counts[0] =
			body->counts[arc_of_block(flow, flow->edges[0].to)];
}

static void
body_measure(const struct settling *s, const struct body *body,
	     uint64_t *counters, bool *lost)
{
	if (body->copy)
		copy_read(s, body, counters, lost);
	for (uint32_t i = 0; i < body->ngauges; i++) {
		counters[i] = gauge_read(s, &body->gauges[i]);
		lost[i] = s->plan->sites[body->gauges[i].site].lost;
	}
}

static void
body_propagate(const struct settling *s, struct body *body)
{
	const struct placement *placement = body->placement;
	uint64_t *counters;
	bool *lost, *open, *uncounted;
	struct measured measured;

	if (body->copy && s->plan->tampered) {
		counts_unknown(body, REASON_TAMPERED);
		return;
	}
	counters = mem_alloc(placement->narcs * sizeof(*counters));
	lost = mem_alloc(placement->narcs);
	measured = (struct measured){ .counters = counters, .lost = lost };
	body_measure(s, body, counters, lost);
	if (body->npasses)
		leaps_measure(s, body);
	measured.open = open = doubt_open(s, body);
	measured.doubt = body->doubt;
	uncounted = doubt_reach(s, body, open);
	for (uint32_t i = 0; i < placement->narcs && uncounted; i++)
		lost[i] |= uncounted[placement->arcs[i]];
	measured.extras = leaps_extras(body, &measured.nextras);
	if (s->plan->wish.method == PLACE_ONCE)
		counts_once(body, &measured);
	else if (propagate(body->flow, placement, &measured, body->counts,
			   NULL) != FLOW_CONSISTENT)
		counts_unknown(body, REASON_CONTRADICTION);
	gaps_settle(body);
	lost_explain(s->plan, body);
	for (uint32_t i = 0; i < flow_arcs(body->flow) && uncounted; i++)
		if (body->counts[i].state == COUNT_UNKNOWN)
			body->counts[i].reason = (uint8_t)doubt_of(s, body);
	free((struct flow_extra *)measured.extras);
	free(uncounted);
	free(open);
	free(counters);
	free(lost);
}

/*
 * What strays say of a body that was never entered: how often control came to
 * its entry, and no further.  false if they say something else.
 */
static bool
wait_came(const struct body *body, uint64_t *came)
{
	*came = 0;
	for (size_t i = 0; i < body->nleaps; i++) {
		const struct leap *leap = &body->leaps[i];

		if (leap->insn == body->cfg->entry && !leap->during &&
		    !leap->came)
			*came = leap->left;
		else if ((leap->left || leap->came) && !body->missed)
			return false;
	}
	return true;
}

/* The counts of a body that was never entered since counting began. */
static void
body_wait(const struct settling *s, struct body *body)
{
	const struct site *site = &s->plan->sites[body->site];
	const struct flow *flow = body->flow;
	enum count_reason doubt = doubt_of_stacks(s, body);
	const struct count unknown = { .reason = (uint8_t)doubt_of(s, body) };
	bool *open = NULL, *uncounted = NULL;
	uint64_t came;

	if (body->missed) {
		open = doubt_open(s, body);
		uncounted = doubt_reach(s, body, open);
	}
	if (site->lost) {
		counts_unknown(body, lost_reason(s->plan, body));
	} else if (!wait_came(body, &came)) {
		counts_unknown(body, REASON_CONTRADICTION);
	} else {
		for (uint32_t i = 0; i < flow_arcs(flow); i++)
			body->counts[i] = body->intruded ||
				(uncounted && uncounted[i]) ? unknown :
				count_exact(0);
		if (!uncounted || !uncounted[0])
			body->counts[0] = doubt == REASON_SIGNAL ?
				(struct count){ .reason = REASON_SIGNAL } :
				count_exact(came);
		body->counts[flow->back] = body->intruded || uncounted ?
			unknown : body->counts[0];
	}
	free(open);
	free(uncounted);
}

/* Arrivals at an entry that has a site of its own, less the body's jumps. */
static struct count
entry_count(const struct settling *s, const struct body *body)
{
	const struct site *sites = s->plan->sites;
	enum count_reason doubt = doubt_of_stacks(s, body);
	bool lost = sites[body->site].lost;
	uint64_t n = 0;

	if (body->state == BODY_READY)
		n = settling_counter(s, body->site).hits;
	for (size_t i = 0; i < s->meter->nstrays; i++) {
		const struct stray *stray = &s->meter->strays[i];

		if (stray->addr == sites[body->site].addr && !stray->during)
			n += stray->left - stray->came;
	}
	for (uint32_t i = 0; i < body->ngauges; i++) {
		n -= gauge_read(s, &body->gauges[i]);
		lost |= sites[body->gauges[i].site].lost;
	}
	if (lost)
		return (struct count){ .reason = lost_reason(s->plan, body) };
	/* It may have jumped there before that had a counter. */
	if (body->missed && body->ngauges)
		return (struct count){ .reason = REASON_ATTACHED };
	/* It may have been left before anything was begun. */
	if (reason_anywhere(doubt))
		return (struct count){ .reason = (uint8_t)doubt };
	if (n >> 63)
		return (struct count){ .reason = REASON_CONTRADICTION };
	return count_exact(n);
}

static struct count
body_calls_count(const struct settling *s, const struct body *body)
{
	if (!body->placement && (!body->flow || body->state == BODY_READY))
		return entry_count(s, body);
	if (body->cfg->entry >= 0 && body->flow->edges[0].from == FLOW_ROOT)
		return body->counts[0];
	return (struct count){ .reason = REASON_UNPLACED };
}

static void
body_settle(const struct settling *s, struct body *body)
{
	if (body->flow && !body->counts)
		body->counts = mem_alloc(flow_arcs(body->flow) *
					 sizeof(*body->counts));
	if (body->flow && body->state == BODY_WAITING)
		body_wait(s, body);
	else if (body->placement)
		body_propagate(s, body);
	else if (body->flow)
		counts_unknown(body, REASON_UNPLACED);
	body->calls = body_calls_count(s, body);
}

static void
guest_settle(struct plan *plan, struct body *guest)
{
	uint64_t entry = plan->image->arch->first(
		plan->image->funcs[guest->func].addr);
	uint32_t host = plan_body(plan, entry);
	long insn = -1;

	guest->calls = (struct count){ .reason = REASON_UNPLACED };
	if (host != BODY_NONE && plan->bodies[host].state == BODY_WAITING)
		guest->calls = count_exact(0);
	if (host != BODY_NONE && plan->bodies[host].counts)
		insn = cfg_insn(plan->bodies[host].cfg, entry);
	if (insn >= 0)
		guest->calls = body_arrivals(&plan->bodies[host],
					     (uint32_t)insn);
}

static bool
body_settles(const struct body *body)
{
	return body->state != BODY_FAULTY && body->units && !body->guest;
}

/* What was placed in each body, and the increments it made. */
static void
sites_settle(const struct settling *s)
{
	struct plan *plan = s->plan;

	for (size_t i = 0; i < plan->nbodies; i++) {
		struct body *body = &plan->bodies[i];

		body->nsites = 0;
		body->increments = 0;
		for (size_t k = 0; body->copy && k < body->copy->narcs +
		     body->copy->nextras; k++)
			body->increments += slot_of(s, body->counter + k);
		body->ncounters = body->placement ? body->placement->narcs : 0;
	}
	for (size_t i = 0; i < plan->nsites; i++) {
		struct site *site = &plan->sites[i];
		struct body *body;

		site->hits = settling_counter(s, (uint32_t)i).hits;
		if (site->body == BODY_NONE || site->hook)
			continue;
		body = &plan->bodies[site->body];
		body->nsites += !site->idle;
		body->increments += site->hits;
	}
}

/* Counts of a body that waits may be unknown, so not 0. */
static bool
wait_unsure(const struct plan *plan, const struct body *body)
{
	return body->missed || body->interrupted ||
	       (body->site != SITE_NONE && plan->sites[body->site].lost);
}

/* all: bodies that wait get graphs; else only those that may not be 0. */
static void
settle(struct plan *plan, const struct meter *meter, bool all)
{
	struct meter *sum = NULL;
	struct settling s = { plan, meter };

	if (!meter) {
		s.meter = sum = mem_alloc(sizeof(*sum));
		for (size_t i = 0; i < plan->nmeters; i++)
			meter_add(sum, plan->meters[i], plan->nsites);
	}
	for (size_t i = 0; i < plan->nbodies && plan_graphs(plan); i++)
		if (plan->bodies[i].state == BODY_WAITING &&
		    body_settles(&plan->bodies[i]) &&
		    (all || wait_unsure(plan, &plan->bodies[i])))
			plan_graph(plan, i);
	/* Control was about to enter one that still waits. */
	for (size_t i = 0; i < s.meter->nstrays && plan_infers(plan); i++) {
		uint32_t body = plan_body(plan, s.meter->strays[i].addr);

		if (body != BODY_NONE && body_settles(&plan->bodies[body]) &&
		    plan->bodies[body].state == BODY_WAITING)
			plan_graph(plan, body);
	}
	leaps_make(&s);
	for (size_t i = 0; i < plan->nbodies; i++)
		if (body_settles(&plan->bodies[i]))
			body_settle(&s, &plan->bodies[i]);
	for (size_t i = 0; i < plan->nbodies; i++)
		if (plan->bodies[i].guest && plan->bodies[i].units)
			guest_settle(plan, &plan->bodies[i]);
	sites_settle(&s);
	meter_free(sum);
}

void
plan_settle(struct plan *plan, const struct meter *meter)
{
	settle(plan, meter, true);
}

void
plan_settle_entered(struct plan *plan, const struct meter *meter)
{
	settle(plan, meter, false);
}
