/*
 * How many counter events placement saves: random structured programs,
 * counted in every block and as placed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/lib/flows.h"

#include <cmocka.h>

enum { PROGRAMS = 800, CALLS = 60, STEPS = 20000, BLOCKS = 400 };

/*
 * Blocks with two ways on, of which the first is taken so often.  Plain
 * statements are part of what follows.
 */
struct program {
	struct {
		uint32_t next[2];	/* 0: none */
		unsigned percent;	/* that next[0] is taken */
	} blocks[BLOCKS];
	uint32_t n;
	uint32_t around;		/* where a break goes, or 0 */
};

static uint32_t
block_add(struct program *program, uint32_t taken, uint32_t fall,
	  unsigned percent)
{
	program->blocks[program->n].next[0] = taken;
	program->blocks[program->n].next[1] = fall;
	program->blocks[program->n].percent = percent;
	return FLOW_BLOCK + program->n++;
}

static unsigned
branch_percent(void)
{
	static const unsigned percents[] = { 5, 20, 50, 50, 80, 95 };

	return percents[random_below(6)];
}

static uint32_t statement(struct program *program, uint32_t next,
			  unsigned depth);

/* Some statements; at least a plain one. */
static uint32_t
statements(struct program *program, uint32_t next, unsigned depth)
{
	uint32_t first = next;

	for (unsigned n = 1 + random_below(3); n; n--)
		first = statement(program, first, depth);
	return first == next ? block_add(program, next, 0, 100) : first;
}

/* while, or do while (a loop at whose end its condition is). */
static uint32_t
loop(struct program *program, uint32_t next, unsigned depth)
{
	uint32_t around = program->around, fplan;
	uint32_t head = block_add(program, 0, next, 88);

	program->around = next;
	fplan = statements(program, head, depth - 1);
	program->blocks[head - FLOW_BLOCK].next[0] = fplan;
	program->around = around;
	return random_chance(50) ? head : fplan;
}

/* Append one statement before next; returns where it begins. */
static uint32_t
statement(struct program *program, uint32_t next, unsigned depth)
{
	unsigned kind = depth ? random_below(10) : 9;
	uint32_t then, other;

	if (kind < 2) {
		then = statements(program, next, depth - 1);
		other = statements(program, next, depth - 1);
		return block_add(program, then, other, branch_percent());
	}
	if (kind < 5) {
		then = statements(program, next, depth - 1);
		return block_add(program, then, next, branch_percent());
	}
	if (kind < 7)
		return loop(program, next, depth);
	if (kind < 8 && program->around)
		return block_add(program, program->around, next, 6);
	return next;
}

/* The graph; the entry is a block of its own. */
static struct flow *
program_flow(struct program *program)
{
	uint32_t last = block_add(program, 0, 0, 0), entry, n = 0;
	struct flow_edge edges[2 * BLOCKS + 1];

	entry = block_add(program, statements(program, last, 4), 0, 100);
	edges[n++] = (struct flow_edge){ FLOW_ROOT, entry, BY_NOTHING };
	for (uint32_t b = 0; b < program->n; b++) {
		uint32_t *next = program->blocks[b].next;

		if (next[1] && next[0] == next[1])
			next[1] = 0;
		edges[n++] = (struct flow_edge){ FLOW_BLOCK + b,
						 next[0] ? next[0] : FLOW_EXIT,
						 next[1] ? BY_TAKEN : BY_LAST };
		if (next[1])
			edges[n++] = (struct flow_edge){ FLOW_BLOCK + b,
							 next[1], BY_FALL };
	}
	return flow_make(program->n, edges, n);
}

/* Exact weights of some calls; NULL if one did not come back. */
static struct weights *
program_run(const struct program *program, const struct flow *flow)
{
	double edges[2 * BLOCKS + 2] = { 0 };
	unsigned steps = 0;

	for (int calls = 0; calls < CALLS; calls++) {
		uint32_t v = flow->edges[0].to, e;

		edges[0]++;
		edges[flow->back]++;
		for (; v != FLOW_EXIT; v = flow->edges[e].to) {
			if (++steps > CALLS * STEPS)
				return NULL;
			e = flow->out[v];
			if (flow->out[v + 1] - e == 2 &&
			    !random_chance(
				    program->blocks[v - FLOW_BLOCK].percent))
				e++;
			edges[e]++;
		}
	}
	return weights_exact(flow, edges);
}

/* Events, over all programs. */
struct events {
	double every, optimal, exact, blocks, vertex, traps;
};

static double
events_of(const struct flow *flow, const struct weights *exact,
	  const struct weights *weights, const bool *wanted,
	  enum placement_method method, bool traps)
{
	struct placement_input input = {
		.method = method,
		.wanted = wanted,
		.traps = traps,
	};
	struct placement *placement = placement_make(flow, weights, &input);
	double events = placement_events(flow, exact, placement, traps);

	placement_free(placement);
	return events;
}

static void
events_add(struct events *sum, const struct flow *flow,
	   const struct weights *exact)
{
	struct weights *guess = weights_guess(flow, NULL);
	bool blocks[3 * BLOCKS + 2] = { false };
	double every, optimal, fewer;

	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		blocks[arc_of_block(flow, v)] = true;
	every = events_of(flow, exact, exact, blocks, PLACE_EVERY, false);
	optimal = events_of(flow, exact, exact, NULL, PLACE_OPTIMAL, false);
	fewer = events_of(flow, exact, exact, blocks, PLACE_OPTIMAL, false);
	assert_true(fewer <= optimal);
	assert_true(optimal <= every);
	sum->every += every;
	sum->exact += optimal;
	sum->blocks += fewer;
	sum->optimal += events_of(flow, exact, guess, NULL, PLACE_OPTIMAL,
				  false);
	sum->vertex += events_of(flow, exact, guess, blocks, PLACE_VERTEX,
				 false);
	sum->traps += events_of(flow, exact, guess, NULL, PLACE_OPTIMAL, true);
	weights_free(guess);
}

static void
test_increments(void **state)
{
	static struct program program;
	struct events sum = { 0 };

	for (int n = 0; n < PROGRAMS; n++) {
		struct weights *exact;
		struct flow *flow;

		memset(&program, 0, sizeof(program));
		flow = program_flow(&program);
		exact = program_run(&program, flow);
		if (exact)
			events_add(&sum, flow, exact);
		weights_free(exact);
		flow_free(flow);
	}
	print_message("# increments of every block, over those of: optimal "
		      "%.2f, with exact weights %.2f, and for blocks only "
		      "%.2f; vertex %.2f; optimal by traps %.2f\n",
		      sum.every / sum.optimal, sum.every / sum.exact,
		      sum.every / sum.blocks, sum.every / sum.vertex,
		      sum.every / sum.traps);
	/* The paper: within 34 % of exact weights. */
	assert_true(sum.optimal < 1.34 * sum.exact);
	assert_true(sum.every > 1.5 * sum.optimal);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_increments),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
