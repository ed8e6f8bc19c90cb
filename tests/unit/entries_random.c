/*
 * Entries into regions of random programs, run at random: what the terms add
 * up to is compared with the entries counted as they happened.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow/entries.h"
#include "tests/unit/toy.h"

enum { MAX = 48, OUT = 200, TERMS = 128, NO = -1 };

struct emitted {
	struct term terms[TERMS];
	uint32_t ids[TERMS];
	size_t n;
};

static void
emit(void *ctx, uint32_t id, const struct term *term)
{
	struct emitted *emitted = ctx;

	assert_true(emitted->n < TERMS);
	emitted->ids[emitted->n] = id;
	emitted->terms[emitted->n++] = *term;
}

static unsigned
toy_index(uint64_t addr)
{
	return (unsigned)(addr - TOY_BASE) / TOY_LEN;
}

enum { REGIONS = 5, PROGRAMS = 20000, CALLS = 6, STEPS = 400 };

static uint64_t random_state = 0x2545f4914f6cdd1d;

static unsigned
random_below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

/* One program and what happened when it ran. */
struct program {
	struct cfg *cfg;
	uint32_t owner[MAX];
	uint32_t jumper;	/* owns all indirect jumps, or REGION_NONE */
	unsigned point;		/* an instruction, and the region of which */
	uint32_t point_id;	/* it is looked at */
	unsigned reachable[MAX];	/* by indirect jumps, or by unwinding */
	unsigned nreachable;
	uint64_t hits[MAX], taken[MAX];
	uint64_t entries[REGIONS], point_entries, calls;
};

static int
random_kind(bool indirect)
{
	static const uint8_t kinds[] = {
		INSN_PLAIN, INSN_PLAIN, INSN_PLAIN, INSN_BRANCH, INSN_BRANCH,
		INSN_BRANCH, INSN_JUMP, INSN_RETURN, INSN_STOP,
	};
	unsigned n = random_below(11);

	if (n < 9)
		return kinds[n];
	return indirect ? INSN_JUMP_INDIRECT : INSN_CALL;
}

static bool
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
	return found;
}

/* Where control may come to over no edge, as entries.h has it. */
static void
reachable_find(struct program *program)
{
	const struct cfg *cfg = program->cfg;

	program->nreachable = 0;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		bool known = cfg->in[b] != cfg->in[b + 1];
		bool given = cfg->blocks[b].given;

		if (cfg->blocks[b].first == cfg->entry)
			continue;
		if (cfg->unresolved ? given || !known : given && !known)
			program->reachable[program->nreachable++] =
				cfg->blocks[b].first;
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
	program->cfg = cfg_build(&toy, &lo, &hi, 1, NULL, 0, toy_code, NULL);
	owners_choose(program, n, changes);
	for (unsigned i = 0; i < n; i++)
		if (changes[i] ? random_below(6) : !random_below(12))
			leaders[nleaders++] = toy_addr(i);
	cfg_free(program->cfg);
	program->cfg = cfg_build(&toy, &lo, &hi, 1, leaders, nleaders,
				 toy_code, NULL);
	program->point = random_below(n);
	program->point_id = random_below(REGIONS);
	reachable_find(program);
}

/* Control comes to instruction `to` from `from`, or NO from elsewhere. */
static void
arrive(struct program *program, long from, unsigned to, bool jumped)
{
	uint32_t owner = program->owner[to];

	if (to == program->point &&
	    (from < 0 || jumped || program->owner[from] != program->point_id))
		program->point_entries++;
	if (owner == REGION_NONE)
		return;
	if (jumped ? program->jumper != owner :
		     from < 0 || program->owner[from] != owner)
		program->entries[owner]++;
}

/*
 * Execute instruction i.  Returns the next, or NO if control leaves; sets
 * *jumped if it goes there over no edge.
 */
static long
execute(struct program *program, unsigned i, bool *jumped)
{
	const struct insn *insn = &program->cfg->insns[i];
	bool taken = random_below(2);
	long next = i + 1 < program->cfg->ninsns ? (long)i + 1 : NO;

	program->hits[i]++;
	*jumped = false;
	switch (insn->kind) {
	case INSN_BRANCH:
		program->taken[i] += taken;
		if (!taken)
			return next;
		return cfg_insn(program->cfg, insn->target);
	case INSN_JUMP:
		return cfg_insn(program->cfg, insn->target);
	case INSN_RETURN:
	case INSN_STOP:
		return NO;
	case INSN_CALL:
		/* An exception, sometimes. */
		*jumped = program->nreachable && !random_below(4);
		break;
	case INSN_JUMP_INDIRECT:
		*jumped = program->nreachable;
		next = NO;
		break;
	}
	if (*jumped)
		next = program->reachable[random_below(program->nreachable)];
	return next;
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

static int64_t
term_value(const struct program *program, const struct term *term)
{
	unsigned i = toy_index(term->addr);
	const struct insn *insn = &program->cfg->insns[i];
	uint64_t hits = program->hits[i], taken = program->taken[i];

	if (term->kind != TERM_HITS) {
		/* A monitor that sees only pcs could not tell. */
		assert_int_equal(insn->kind, INSN_BRANCH);
		assert_int_not_equal(insn->target, insn->addr + insn->len);
	}
	return term->sign * (int64_t)(term->kind == TERM_HITS ? hits :
				      term->kind == TERM_TAKEN ? taken :
								 hits - taken);
}

static int64_t
terms_sum(const struct program *program, const struct emitted *emitted,
	  uint32_t id)
{
	int64_t sum = 0;

	for (size_t i = 0; i < emitted->n; i++)
		if (emitted->ids[i] == id)
			sum += term_value(program, &emitted->terms[i]);
	return sum;
}

static void
program_print(const struct program *program)
{
	static const char kinds[] = "pJBiCcRsth";

	for (unsigned i = 0; i < program->cfg->ninsns; i++) {
		const struct insn *insn = &program->cfg->insns[i];
		long b = cfg_block(program->cfg, insn->addr);

		print_error("# %2u %c%c target %d owner %d hits %" PRIu64
			    " taken %" PRIu64 "\n", i, kinds[insn->kind],
			    b < 0 ? ' ' : program->cfg->blocks[b].given ?
			    '*' : '.', toy_index(insn->target),
			    (int)program->owner[i], program->hits[i],
			    program->taken[i]);
	}
}

static void
program_check(const struct program *program)
{
	const struct cfg *cfg = program->cfg;
	static struct emitted emitted;
	uint64_t sum;

	emitted.n = 0;
	entries_of_func(cfg, 0, emit, &emitted);
	assert_int_equal(terms_sum(program, &emitted, 0), program->calls);
	emitted.n = 0;
	entries_of_point(cfg, program->owner, program->point_id,
			 program->point, emit, &emitted);
	sum = (uint64_t)terms_sum(program, &emitted, program->point_id);
	if (sum != program->point_entries) {
		program_print(program);
		print_error("# point %u of %u\n", program->point,
			    program->point_id);
	}
	assert_int_equal(sum, program->point_entries);
	emitted.n = 0;
	entries_of_regions(cfg, program->owner, emit, &emitted);
	for (uint32_t id = 0; id < REGIONS; id++) {
		sum = (uint64_t)terms_sum(program, &emitted, id);
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
	struct program program;
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
		cfg_free(program.cfg);
	}
	print_message("# %" PRIu64 " programs, %" PRIu64 " entries\n",
		      checked, entries);
	assert_true(checked > PROGRAMS / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
