/*
 * Random programs, run at random under plans of all kinds, with calls that do
 * not come back or come back twice, signals, exceptions, faults, attaching in
 * the middle, and looks at the counts while all goes on: whatever a plan says
 * of blocks, edges, instructions, lines, functions and inlined copies must be
 * what happened, and what it was asked for it must know.  PMON_PROPAGATE is how
 * many rounds of them there are: what goes wrong once in ten thousand programs
 * took hundreds to find.
 */
#include <setjmp.h>
#include <stdarg.h>

#include "probe/counts.h"
#include "program/image_graphs.h"
#include "tests/lib/happened.h"

#include <cmocka.h>

enum { ROUNDS = 3, PROGRAMS = 8000, CALLS = 12, STEPS = 1500 };

/* What all trials together saw. */
static struct {
	uint64_t walks, known, unknown, abnormals, lines, loose, mid_entered,
		fplans;
} seen;

/* ---- checks */

static char
site_mark(const struct site *site)
{
	if (!site)
		return ' ';
	if (site->waiting)
		return 'w';
	return site->idle ? 'i' : '*';
}

static void
trial_print(const struct trial *t)
{
	static const char kinds[] = "pJBiCcRsth";
	static const char tested[] = "?gT";
	static const char names[] = "abcdef";
	const struct program *p = &t->program;

	print_error("# %s, method %d, units %x of %x\n",
		    t->options.eager ? "eager" : "lazy", t->options.method,
		    t->m.plan->units, t->sel.units);
	for (unsigned i = 0; i < p->n; i++) {
		const struct toy_insn *insn = &p->insns[i];
		const struct site *site = plan_site(t->m.plan, insn->addr);

		print_error("# %c %" PRIx64 " %c%c %4x line %2d ran %" PRIu64
			    " came %" PRIu64 "\n",
			    names[insn->func], insn->addr, site_mark(site),
			    insn->op < 10 ? kinds[insn->op] :
					    tested[insn->op - TOY_COMPARE],
			    insn->operand, (int)t->owner[i], t->truth.begun[i],
			    t->truth.arrivals[i]);
		for (unsigned k = 0; k < p->n; k++)
			if (t->truth.moves[i][k] && k != i + 1)
				print_error("#\t\tto %" PRIx64 " %" PRIu64 "\n",
					    p->insns[k].addr,
					    t->truth.moves[i][k]);
		if (t->truth.leaves[i][0] || t->truth.leaves[i][1])
			print_error("#\t\tleft %" PRIu64 ", taken %" PRIu64
				    "\n",
				    t->truth.leaves[i][0],
				    t->truth.leaves[i][1]);
	}
	for (size_t i = 0; i < t->m.counter_set->nabnormals; i++) {
		const struct abnormal_edge *abnormal =
			&t->m.counter_set->abnormals[i];

		print_error("# %" PRIx64 " %s left %" PRIu64 " came %" PRIu64
			    "\n",
			    abnormal->addr,
			    abnormal->during ? "during" : "before",
			    abnormal->left, abnormal->came);
	}
}

/* Is this to be known? */
static bool
asked(const struct trial *t, const struct func_plan *fplan, enum unit_kind kind)
{
	return !fplan->mid_entered && !fplan->came_back &&
	       !t->m.plan->calls_underivable && fplan->units >> kind & 1;
}

static void
count_check(const struct trial *t, const char *what, uint64_t at,
	    const struct count *count, uint64_t n, bool must_know)
{
	bool wrong = count->state != COUNT_UNKNOWN && count->n != n;

	if (wrong || (must_know && count->state == COUNT_UNKNOWN)) {
		trial_print(t);
		print_error("# %s %" PRIx64 ": %" PRIu64 ", not %" PRIu64
			    ", %s\n",
			    what, at, count->n, n,
			    count_why(count) ? count_why(count) : "known");
	}
	if (count->state == COUNT_UNKNOWN) {
		assert_false(must_know);
		assert_non_null(count_why(count));
		seen.unknown++;
		return;
	}
	assert_int_equal(count->n, n);
	seen.known++;
}

/* The last instruction of an edge's source. */
static uint64_t
edge_at(const struct func_plan *fplan, uint32_t e)
{
	uint32_t from = fplan->flow->edges[e].from;

	return from < FLOW_BLOCK ?
		       0 :
		       fplan->cfg->insns[vert_last(fplan->cfg, from)].addr;
}

static void
fplan_check(const struct trial *t, const struct func_plan *fplan,
	    const struct counter_set *counter_set)
{
	bool vertex = t->options.method == PLACE_VERTEX, edges, blocks;
	const struct flow *flow = fplan->flow;
	struct count count;

	edges = asked(t, fplan, UNIT_EDGE) && !vertex;
	blocks = edges || asked(t, fplan, UNIT_BLOCK) ||
		 asked(t, fplan, UNIT_INSN) ||
		 (vertex && asked(t, fplan, UNIT_EDGE));
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (e != flow->back)
			count_check(t, "edge from", edge_at(fplan, e),
				    &fplan->counts[e],
				    happened_edge(t, fplan, e), edges);
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		count_check(t, "block",
			    fplan->cfg->insns[vert_first(fplan->cfg, v)].addr,
			    &fplan->counts[arc_of_block(flow, v)],
			    happened_block(t, fplan, v), blocks);
	for (uint32_t i = 0; i < fplan->cfg->ninsns; i++) {
		count = fplan_insn(fplan, i);
		count_check(t, "instruction", fplan->cfg->insns[i].addr, &count,
			    t->truth.begun[t->program.first[fplan->func] + i],
			    blocks);
	}
	if (!t->m.plan->calls_underivable &&
	    !fplan_came(t, fplan, counter_set)) {
		uint64_t sum = 0;

		for (uint32_t e = 0; e < flow->out[FLOW_ROOT + 1]; e++)
			sum += happened_edge(t, fplan, e);
		count_check(t, "all of", fplan->func,
			    &fplan->counts[flow->back], sum, edges);
	}
}

static void
unit_check(const struct trial *t, const struct unit *unit, uint64_t least,
	   uint64_t most, bool doubt)
{
	bool wrong = unit->why ? !doubt && t->options.method != PLACE_VERTEX :
				 unit->n < least || unit->n > most;

	if (wrong) {
		trial_print(t);
		print_error("# unit of kind %d ref %u line %u: %" PRIu64
			    ", %s, not %" PRIu64 " to %" PRIu64 "\n",
			    unit->kind, unit->ref, unit->line, unit->n,
			    unit->why ? unit->why : "known", least, most);
	}
	assert_false(wrong);
	if (unit->why)
		assert_int_equal(unit->n, 0);
	seen.lines += unit->kind == UNIT_LINE && unit->n;
}

static void
line_check(const struct trial *t, const struct unit *unit)
{
	uint64_t n = 0, more = 0;
	bool doubt = false;

	for (size_t i = 0; i < t->m.plan->nfplans; i++) {
		const struct func_plan *fplan = &t->m.plan->fplans[i];

		if (!(fplan->units & 1U << UNIT_LINE) || !fplan->counts)
			continue;
		doubt |= fplan->mid_entered || fplan->came_back ||
			 t->m.plan->calls_underivable;
		n += happened_line(t, fplan, unit->line, &more);
	}
	seen.loose += more != 0;
	unit_check(t, unit, n, n + more, doubt);
}

static void
inline_check(const struct trial *t, const struct unit *unit)
{
	const struct program *p = &t->program;
	uint64_t n = 0;
	bool doubt = false;

	for (size_t k = 0; k < p->image.ninlines; k++) {
		const struct inlined *copy = &p->copies[k];
		int at = program_insn(p, copy->addr);
		bool inside[INSNS_MAX];

		if (copy->line != unit->line)
			continue;
		for (unsigned i = 0; i < p->n; i++)
			inside[i] = p->insns[i].addr >= copy->ranges[0].lo &&
				    p->insns[i].addr < copy->ranges[0].hi;
		n += happened_from(t, p->insns[at].func, (unsigned)at, inside);
		doubt |= t->m.plan->fplans[p->insns[at].func].mid_entered ||
			 t->m.plan->fplans[p->insns[at].func].came_back ||
			 t->m.plan->calls_underivable;
	}
	unit_check(t, unit, n, n, doubt);
}

static void
units_check(struct trial *t)
{
	const struct program *p = &t->program;
	struct unit *units;
	size_t n;

	units = plan_units(t->m.plan, &n);
	lines_own(t);
	for (size_t i = 0; i < n; i++) {
		uint64_t calls;

		switch (units[i].kind) {
		case UNIT_FUNC:
			calls = t->truth.arrivals[p->first[units[i].ref]];
			unit_check(
				t, &units[i], calls, calls,
				t->m.plan->fplans[units[i].ref].mid_entered ||
					t->m.plan->fplans[units[i].ref]
						.came_back ||
					t->m.plan->calls_underivable);
			break;
		case UNIT_LINE:
			line_check(t, &units[i]);
			break;
		case UNIT_INLINE:
			inline_check(t, &units[i]);
			break;
		}
	}
	assert_int_equal(t->m.plan->nskips, 0);
	free(units);
}

/* Where indirect calls and jumps out of functions went. */
static void
targets_check(const struct trial *t, const struct counter_set *counter_set)
{
	const struct program *p = &t->program;

	if (!(t->m.plan->units & 1U << UNIT_CALL))
		return;
	for (unsigned i = 0; i < p->n; i++) {
		const struct func_plan *fplan =
			&t->m.plan->fplans[p->insns[i].func];
		const struct site *site = plan_site(t->m.plan,
						    p->insns[i].addr);

		if (!(fplan->units & 1U << UNIT_CALL) || fplan->missed ||
		    fplan->state != FPLAN_READY ||
		    (p->insns[i].op != INSN_CALL_INDIRECT &&
		     p->insns[i].op != INSN_JUMP_INDIRECT))
			continue;
		for (unsigned to = 0; to <= INSNS_MAX; to++) {
			uint64_t n = t->truth.went[i][to];
			struct arrival *arrival;

			if (!n)
				continue;
			arrival = counter_set_arrival(
				(struct counter_set *)counter_set,
				(uint32_t)(site - t->m.plan->sites),
				to == INSNS_MAX ? NULL : t->m.plan,
				to == INSNS_MAX ? 0 : p->insns[to].addr, false);
			assert_non_null(arrival);
			assert_int_equal(arrival->n, n);
		}
	}
}

static void
trial_check(struct trial *t, const struct counter_set *counter_set)
{
	plan_propagate(t->m.plan, counter_set);
	if (!counter_set)
		counter_set = t->m.counter_set;
	for (size_t i = 0; i < t->m.plan->nfplans; i++) {
		const struct func_plan *fplan = &t->m.plan->fplans[i];

		seen.fplans++;
		seen.mid_entered += fplan->mid_entered;
		if (fplan->counts && fplan->units & ~(1U << UNIT_FUNC))
			fplan_check(t, fplan, counter_set);
		if (fplan->named)
			count_check(
				t, "calls of", fplan->func, &fplan->calls,
				t->truth.arrivals[t->program
							  .first[fplan->func]],
				asked(t, fplan, UNIT_FUNC) &&
					t->options.method != PLACE_VERTEX);
	}
	units_check(t);
	targets_check(t, counter_set);
}

/* The counts as they are now, with the frames that live. */
static void
trial_look(struct trial *t)
{
	struct counter_set *now = mem_alloc(sizeof(*now));

	counter_set_add(now, t->m.counter_set, t->m.plan->nsites);
	frames_leave(&t->m, now, DOING_NEXT);
	trial_check(t, now);
	counter_set_free(now);
}

/* ---- trials */

static void
trial_open(struct trial *t, bool mixed)
{
	static const char *const some[] = { "[ab]", "c", "!b", "[ace]" };
	unsigned pick = random_below(UNIT_KINDS + 4);
	struct plan *plan;

	t->sel = (struct selection){ 0 };
	t->sel.units = pick < UNIT_KINDS ?
			       1U << pick :
			       1 + random_below((1 << UNIT_KINDS) - 1);
	/* What is never looked at must not be mixed with what is. */
	if (mixed)
		t->sel.units |= 1U << UNIT_FUNC;
	else if (!random_below(6))
		select_glob(&t->sel.funcs, some[random_below(4)]);
	t->options = (struct plan_options){
		.sel = &t->sel,
		.method = random_below(3),
		.eager = random_chance(40),
	};
	plan = plan_open(&t->program.image, &t->options, NULL, NULL);
	memset(&t->truth, 0, sizeof(t->truth));
	t->m = (struct machine){
		.program = &t->program,
		.plan = plan,
		.truth = &t->truth,
		.counter_set = plan_counter_set(plan, random_below(2)),
		.mishaps = random_below(3) * 8,
		.unreported = random_chance(30) ? 10 + random_below(90) : 0,
	};
}

static void
trial_close(struct trial *t)
{
	seen.walks += t->m.walks;
	seen.abnormals += t->m.counter_set->nabnormals;
	t->m.plan->image = NULL;
	plan_close(t->m.plan);
	select_free(&t->sel);
}

static void
trial_run(struct trial *t)
{
	unsigned steps = STEPS, nfuncs = (unsigned)t->program.image.nfuncs;

	if (t->m.mishaps && random_chance(40))
		machine_attach(&t->m);
	for (unsigned calls = CALLS; calls && steps; calls--) {
		for (; t->m.depth && steps; steps--)
			machine_step(&t->m);
		if (t->m.depth && steps && random_chance(10))
			trial_look(t);
		if (random_chance(10))
			plan_graph(t->m.plan, random_below(nfuncs));
		if (!t->m.depth)
			machine_call(&t->m, random_below(nfuncs));
	}
	if (random_chance(50))
		trial_look(t);
	while (t->m.depth)
		machine_end(&t->m, DOING_NEXT);
	trial_check(t, random_chance(50) ? NULL : t->m.counter_set);
}

static void
round_run(uint64_t seed)
{
	static struct trial t;

	random_begin(seed);
	for (int n = 0; n < PROGRAMS; n++) {
		bool mixed = random_chance(30);

		program_make(&t.program, mixed);
		for (int k = 0; k < 3; k++) {
			trial_open(&t, mixed);
			trial_run(&t);
			trial_close(&t);
		}
	}
}

static uint64_t seed;		/* PMON_SEED */

static void
test_random(void **state)
{
	const char *asked = getenv("PMON_PROPAGATE");
	unsigned rounds = asked ? (unsigned)atoi(asked) : ROUNDS;

	/* The rounds of one run are those of PMON_SEED and the seeds behind. */
	for (unsigned i = 0; i < rounds; i++)
		round_run(seed + i);
	print_message("# %" PRIu64 " walks, %" PRIu64 " counts known, %" PRIu64
		      " not; %" PRIu64 " abnormal edges, %" PRIu64
		      " lines, %" PRIu64 " with irreducible loops; %" PRIu64
		      " of %" PRIu64 " functions mid-entered\n",
		      seen.walks, seen.known, seen.unknown, seen.abnormals,
		      seen.lines, seen.loose, seen.mid_entered, seen.fplans);
	assert_true(seen.walks > 1000000 * rounds);
	assert_true(seen.abnormals > PROGRAMS * rounds &&
		    seen.lines > PROGRAMS * rounds);
	assert_true(seen.loose * 10 < seen.lines);
	assert_true(seen.mid_entered && seen.mid_entered * 20 < seen.fplans);
}

enum { OTHER = 7, MIDDLE };	/* instructions of the second function */

/*
 * The graph of a function that jumps by a table of n entries, to these
 * instructions of the program.  It has most of them at most, by a compare; or
 * 0, if nothing says how many.
 */
static struct cfg *
table_graph(struct program *p, const unsigned *entries, unsigned n,
	    unsigned most)
{
	uint64_t addr = CODE;
	struct graphs *graphs;
	struct cfg *cfg;

	program_begin(p);
	insn_add(p, &addr, 0, most ? TOY_COMPARE : INSN_PLAIN);
	insn_add(p, &addr, 0, most ? TOY_GUARD : INSN_PLAIN);
	insn_add(p, &addr, 0, TOY_TABLE);
	for (unsigned i = 0; i < 4; i++)
		insn_add(p, &addr, 0, INSN_RETURN);
	p->first[1] = p->n;
	addr += 8;
	insn_add(p, &addr, 1, INSN_PLAIN);
	insn_add(p, &addr, 1, INSN_RETURN);
	p->first[2] = p->n;
	p->insns[0].operand = (uint16_t)(most - 1);
	p->insns[1].operand = (uint16_t)p->insns[3].addr;
	p->insns[2].operand = TABLES;
	for (unsigned i = 0; i < n; i++)
		p->tables[0][i] = p->insns[entries[i]].addr;
	p->data[p->image.ndata++] = (struct data){
		TABLES,
		n * sizeof(uint64_t),
		(uint8_t *)p->tables[0],
	};
	code_write(p);
	program_funcs(p, 2);
	graphs = graphs_open(&p->image);
	cfg = graph_make(graphs, &(struct graph_input){
					 .ranges = p->ranges,
					 .n = 1,
					 .entry = true,
				 });
	graphs_close(graphs);
	return cfg;
}

/*
 * Where a table ends is a guess if nothing says how long it is: an entry of
 * another function may be one still, and then control leaves that way.
 */
static void
test_open_table(void **state)
{
	static struct program p;
	struct cfg *cfg = table_graph(&p, (unsigned[]){ 4, 5 }, 2, 0);

	assert_int_equal(cfg->insns[2].flow, FLOW_TABLE);
	assert_false(cfg->unresolved);
	cfg_free(cfg);
	cfg = table_graph(&p, (unsigned[]){ 4, 5, OTHER, OTHER }, 4, 0);
	assert_int_equal(cfg->insns[2].flow, FLOW_TABLE_LEAVES);
	assert_false(cfg->unresolved);
	cfg_free(cfg);
	/* So may be one that leads to the middle of another function. */
	cfg = table_graph(&p, (unsigned[]){ 4, 5, MIDDLE, 6 }, 4, 0);
	assert_int_equal(cfg->insns[2].flow, FLOW_TABLE_LEAVES);
	assert_true(cfg->unresolved && cfg->elsewhere);
	assert_int_equal(cfg->nouts, 1);
	assert_int_equal(cfg->outs[0], p.insns[MIDDLE].addr);
	cfg_free(cfg);
}

/* A compare vouches for entries that lead to the middle of another function. */
static void
test_closed_table(void **state)
{
	static struct program p;
	struct cfg *cfg = table_graph(&p, (unsigned[]){ 4, MIDDLE, 5 }, 3, 3);

	assert_int_equal(cfg->insns[2].flow, FLOW_TABLE_LEAVES);
	assert_false(cfg->unresolved);
	assert_int_equal(cfg->nouts, 1);
	assert_int_equal(cfg->outs[0], p.insns[MIDDLE].addr);
	assert_true(cfg->in[cfg_block(cfg, p.insns[5].addr) + 1] >
		    cfg->in[cfg_block(cfg, p.insns[5].addr)]);
	cfg_free(cfg);
	/* If there is no room for all it was a compare of something else. */
	cfg = table_graph(&p, (unsigned[]){ 4, MIDDLE, 5 }, 3, 4);
	assert_true(cfg->unresolved);
	assert_int_equal(cfg->nouts, 0);
	cfg_free(cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_table),
		cmocka_unit_test(test_closed_table),
		cmocka_unit_test(test_random),
	};

	seed = random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
