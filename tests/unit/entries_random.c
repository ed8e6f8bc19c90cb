/*
 * Entries into regions of random programs, run at random: what the arcs add
 * up to is compared with the entries counted as they happened, and the loops
 * with those that dominators tell.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow/entries.h"
#include "flow/cfg.h"
#include "tests/lib/random.h"
#include "tests/lib/regions.h"
#include "tests/lib/toy.h"

enum { MAX = 48, OUT = 200, ARCS = 256, NO = -1 };
enum { REGIONS = 5, PROGRAMS = 20000, CALLS = 6, STEPS = 400 };

struct emitted {
	uint32_t ids[ARCS], arcs[ARCS], insns[ARCS];
	size_t n;
};

static void
emit(void *ctx, uint32_t id, uint32_t arc, uint32_t insn)
{
	struct emitted *emitted = ctx;

	assert_true(emitted->n < ARCS);
	emitted->ids[emitted->n] = id;
	emitted->arcs[emitted->n] = arc;
	emitted->insns[emitted->n++] = insn;
}

/* One program and what happened when it ran. */
struct program {
	struct cfg *cfg;
	struct flow *flow;
	uint32_t owner[MAX];
	uint32_t jumper;	/* owns all indirect jumps, or REGION_NONE */
	unsigned point;		/* an instruction, and the region of which */
	uint32_t point_id;	/* it is looked at */
	uint64_t hits[MAX];
	uint64_t moves[MAX][MAX];	/* from one to another */
	uint64_t arrivals[MAX];	/* over no edge */
	uint64_t entries[REGIONS], point_entries, calls;
};

static int
random_kind(bool indirect)
{
	static const uint8_t kinds[] = {
		INSN_PLAIN,  INSN_PLAIN, INSN_PLAIN,  INSN_BRANCH, INSN_BRANCH,
		INSN_BRANCH, INSN_JUMP,	 INSN_RETURN, INSN_STOP,
	};
	unsigned n = random_below(11);

	if (n < 9)
		return kinds[n];
	return indirect ? INSN_JUMP_INDIRECT : INSN_CALL;
}

static void
owners_choose(struct program *program, unsigned n, bool *changes)
{
	uint32_t id = 0;
	bool found = false;

	for (unsigned i = 0; i < n; i++) {
		changes[i] = i == 0 || random_below(3) == 0;
		if (changes[i])
			id = random_below(REGIONS + 1);
		program->owner[i] = id == REGIONS ? REGION_NONE : id;
	}
	program->jumper = REGION_NONE;
	for (unsigned i = 0; i < n; i++) {
		if (program->cfg->insns[i].kind != INSN_JUMP_INDIRECT)
			continue;
		if (found && program->jumper != program->owner[i]) {
			program->jumper = REGION_NONE;
			break;
		}
		program->jumper = program->owner[i];
		found = true;
	}
}

static void
program_make(struct program *program)
{
	unsigned n = 3 + random_below(MAX - 3), nleaders = 0;
	bool indirect = random_below(2), changes[MAX];
	uint64_t lo = TOY_BASE, hi = toy_addr(n), leaders[MAX];

	memset(program, 0, sizeof(*program));
	for (unsigned i = 0; i < n; i++) {
		unsigned target = random_below(8) ? random_below(n) : OUT;

		toy_put(toy_addr(i), random_kind(indirect), TOY_LEN,
			toy_addr(random_below(10) ? target : i + 1));
	}
	program->cfg = toy_cfg(&lo, &hi, 1, NULL, 0);
	owners_choose(program, n, changes);
	for (unsigned i = 0; i < n; i++)
		if (changes[i] ? random_below(6) : !random_below(12))
			leaders[nleaders++] = toy_addr(i);
	cfg_free(program->cfg);
	program->cfg = toy_cfg(&lo, &hi, 1, leaders, nleaders);
	program->flow = flow_build(program->cfg, NULL, 0);
	program->point = random_below(n);
	program->point_id = random_below(REGIONS);
}

static void
program_free(struct program *program)
{
	flow_free(program->flow);
	cfg_free(program->cfg);
}

/*
 * Control comes to instruction `to` from `from`, or NO from elsewhere;
 * jumped: over no edge that is known.
 */
static void
arrive(struct program *program, long from, unsigned to, bool jumped)
{
	uint32_t owner = program->owner[to];
	bool entry = to == program->cfg->entry;

	if (from < 0 || jumped)
		program->arrivals[to]++;
	else
		program->moves[from][to]++;
	if (to == program->point &&
	    (from < 0 || jumped || program->owner[from] != program->point_id))
		program->point_entries++;
	if (owner == REGION_NONE)
		return;
	if (jumped && !entry ?
		    program->jumper != owner :
		    from < 0 || jumped || program->owner[from] != owner)
		program->entries[owner]++;
}

/* Somewhere that control may come to over an edge from ROOT. */
static long
arrival_choose(const struct program *program)
{
	const struct flow *flow = program->flow;
	uint32_t e = random_below(flow->out[FLOW_ROOT + 1]);

	return program->cfg->blocks[flow->edges[e].to - FLOW_BLOCK].first;
}

/*
 * Execute instruction i.  Returns the next, or NO if control leaves; sets
 * *jumped if it goes there over no edge.
 */
static long
execute(struct program *program, unsigned i, bool *jumped)
{
	const struct insn *insn = &program->cfg->insns[i];
	long next = i + 1 < program->cfg->ninsns ? (long)i + 1 : NO;

	program->hits[i]++;
	*jumped = false;
	switch (insn->kind) {
	case INSN_BRANCH:
		if (!random_below(2))
			return next;
		return cfg_insn(program->cfg, insn->target);
	case INSN_JUMP:
		return cfg_insn(program->cfg, insn->target);
	case INSN_RETURN:
	case INSN_STOP:
		return NO;
	case INSN_CALL:
		/* An exception, sometimes, that is caught in this call. */
		*jumped = !random_below(4);
		break;
	case INSN_JUMP_INDIRECT:
		*jumped = true;
		break;
	}
	return *jumped ? arrival_choose(program) : next;
}

/* Call the function; false if it does not come to an end. */
static bool
call(struct program *program)
{
	long i = program->cfg->entry, next;
	bool jumped;

	program->calls++;
	arrive(program, NO, (unsigned)i, false);
	for (int steps = 0; steps < STEPS; steps++) {
		next = execute(program, (unsigned)i, &jumped);
		if (next == NO)
			return true;
		arrive(program, i, (unsigned)next, jumped);
		i = next;
	}
	return false;
}

static uint64_t
arc_count(const struct program *program, uint32_t arc, uint32_t insn)
{
	const struct flow *flow = program->flow;
	const struct flow_edge *edge = &flow->edges[arc];

	if (insn != INSN_NONE)
		return program->hits[insn];
	if (arc >= flow->nedges)
		return program
			->hits[vert_first(program->cfg, arc_block(flow, arc))];
	assert_true(edge->to >= FLOW_BLOCK);
	if (edge->from == FLOW_ROOT)
		return program->arrivals[vert_first(program->cfg, edge->to)];
	return program->moves[vert_last(program->cfg, edge->from)]
			     [vert_first(program->cfg, edge->to)];
}

/* ---- checks */

static void
program_print(const struct program *program)
{
	static const char kinds[] = "pJBiCcRsth";

	for (unsigned i = 0; i < program->cfg->ninsns; i++) {
		const struct insn *insn = &program->cfg->insns[i];
		long b = cfg_block(program->cfg, insn->addr);

		print_error("# %2u %c%c target %d owner %d hits %" PRIu64 "\n",
			    i, kinds[insn->kind],
			    b < 0			  ? ' ' :
			    program->cfg->blocks[b].given ? '*' :
							    '.',
			    (int)((insn->target - TOY_BASE) / TOY_LEN),
			    (int)program->owner[i], program->hits[i]);
	}
}

/* What went well, of all. */
static unsigned reducible, irreducible;

/* An edge within a region is counted: the only time. */
static void
loop_add(const struct program *program, uint64_t *loops, uint32_t edge)
{
	const struct flow_edge *e = &program->flow->edges[edge];
	uint32_t from = vert_last(program->cfg, e->from);
	uint32_t to = vert_first(program->cfg, e->to);

	assert_false(loops[from] >> to & 1);
	loops[from] |= UINT64_C(1) << to;
}

static bool
edge_within(const struct program *program, uint32_t edge, uint32_t id)
{
	const struct flow_edge *e = &program->flow->edges[edge];

	return e->from >= FLOW_BLOCK &&
	       program->owner[vert_last(program->cfg, e->from)] == id;
}

/* A block's count is that of all edges that lead to it. */
static uint64_t
block_check(const struct program *program, uint32_t arc, uint32_t id,
	    uint64_t *loops)
{
	const struct flow *flow = program->flow;
	uint32_t v = arc_block(flow, arc);
	uint64_t sum = arc_count(program, arc, INSN_NONE);

	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++) {
		if (!edge_within(program, flow->ins[i], id))
			continue;
		loop_add(program, loops, flow->ins[i]);
		sum -= arc_count(program, flow->ins[i], INSN_NONE);
	}
	return sum;
}

/*
 * The edges within a region that are counted, by themselves or with their
 * block, are its loops: each once, all that dominators find, and with these no
 * cycle is left uncounted.  Returns the sum of the others.
 */
static uint64_t
region_check(const struct program *program, const struct emitted *emitted,
	     uint32_t id)
{
	uint64_t loops[MAX] = { 0 }, sum = 0;
	struct region region;
	bool cycles = false;

	for (size_t i = 0; i < emitted->n; i++) {
		uint32_t arc = emitted->arcs[i];

		if (emitted->ids[i] != id)
			continue;
		if (arc >= program->flow->nedges &&
		    emitted->insns[i] == INSN_NONE)
			sum += block_check(program, arc, id, loops);
		else if (arc >= program->flow->nedges ||
			 !edge_within(program, arc, id))
			sum += arc_count(program, arc, emitted->insns[i]);
		else
			loop_add(program, loops, arc);
	}
	for (unsigned i = 0; i < MAX; i++)
		cycles = cycles || loops[i];
	region_make(&region, program->cfg, program->flow, program->owner, id);
	assert_true(region_is_acyclic(&region, loops));
	if (region_is_acyclic(&region, region.back)) {
		for (unsigned i = 0; i < MAX; i++)
			if (region_reach(&region, 0) >> i & 1)
				assert_int_equal(loops[i], region.back[i]);
		reducible += cycles;
	} else {
		irreducible++;
	}
	return sum;
}

static void
program_check(const struct program *program)
{
	const struct regions regions = {
		program->cfg,
		program->flow,
		program->owner,
	};
	static struct emitted emitted;
	uint64_t sum = 0;

	assert_int_equal(program->flow->edges[0].from, FLOW_ROOT);
	assert_int_equal(vert_first(program->cfg, program->flow->edges[0].to),
			 program->cfg->entry);
	emitted.n = 0;
	entries_of_point(&regions, program->point_id, program->point, emit,
			 &emitted);
	for (size_t i = 0; i < emitted.n; i++) {
		assert_int_equal(emitted.ids[i], program->point_id);
		sum += arc_count(program, emitted.arcs[i], emitted.insns[i]);
	}
	if (sum != program->point_entries) {
		program_print(program);
		print_error("# point %u of %u\n", program->point,
			    program->point_id);
	}
	assert_int_equal(sum, program->point_entries);
	emitted.n = 0;
	entries_of_regions(&regions, emit, &emitted);
	for (uint32_t id = 0; id < REGIONS; id++) {
		sum = region_check(program, &emitted, id);
		if (sum != program->entries[id]) {
			program_print(program);
			print_error("# region %u\n", id);
		}
		assert_int_equal(sum, program->entries[id]);
	}
}

static void
test_random(void **state)
{
	uint64_t checked = 0, entries = 0;
	static struct program program;
	int calls;

	for (int n = 0; n < PROGRAMS; n++) {
		program_make(&program);
		for (calls = 0; calls < CALLS && call(&program); calls++)
			;
		/* One cut off is between two counters. */
		if (calls == CALLS) {
			program_check(&program);
			checked++;
			for (int id = 0; id < REGIONS; id++)
				entries += program.entries[id];
		}
		program_free(&program);
	}
	print_message("# %" PRIu64 " programs, %" PRIu64 " entries, %u regions "
		      "with loops, %u with irreducible ones\n",
		      checked, entries, reducible, irreducible);
	assert_true(checked > PROGRAMS / 2);
	assert_true(reducible > PROGRAMS / 20 && irreducible > PROGRAMS / 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
