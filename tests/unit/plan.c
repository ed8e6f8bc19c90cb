/*
 * Plans of images made by hand, for a toy CPU whose programs the test can run
 * itself: counts must be what the definitions say of the trace.
 */
#include "plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include <cmocka.h>

enum {
	BASE = 0x1000,
	TEXT = 0x800,
	FUNC_STEP = 0x100,	/* functions begin at multiples of this */
	NFILES = 2,
};

/*
 * The toy: p plain; P two bytes, plain; jN jump and bN branch, N bytes from
 * the next instruction; cN call function N; r return.
 */
static int
toy_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	*insn = (struct insn){ .addr = addr, .len = 2 };
	switch (size ? code[0] : 0) {
	case 'p':
		insn->kind = INSN_PLAIN;
		insn->len = 1;
		return 0;
	case 'r':
		insn->kind = INSN_RETURN;
		insn->len = 1;
		return 0;
	case 'P':
		insn->kind = INSN_PLAIN;
		break;
	case 'j':
		insn->kind = INSN_JUMP;
		break;
	case 'b':
		insn->kind = INSN_BRANCH;
		break;
	case 'c':
		insn->kind = INSN_CALL;
		break;
	default:
		return -1;
	}
	if (size < 2)
		return -1;
	if (code[0] == 'c')
		insn->target = BASE + code[1] * FUNC_STEP;
	else if (code[0] != 'P')
		insn->target = addr + 2 + (int8_t)code[1];
	return 0;
}

static uint64_t
toy_first(uint64_t addr)
{
	return addr;
}

static const struct arch toy = {
	.name = "toy", .decode = toy_decode, .first = toy_first,
};

static const char *const file_names[NFILES] = { "/s/a.c", "/s/b.c" };

/* An image with one executable segment at BASE, to be filled. */
struct toy_image {
	struct image image;
	struct segment segments[2];
	uint8_t text[TEXT];
	struct func funcs[32];
	struct range ranges[64];
	size_t nranges;
	struct row rows[256];
	struct inlined inlines[8];
};

static void
toy_begin(struct toy_image *t)
{
	memset(t, 0, sizeof(*t));
	t->segments[0] = (struct segment){
		.addr = BASE, .filesz = TEXT, .memsz = TEXT, .flags = 5,
		.bytes = t->text,
	};
	t->segments[1] = (struct segment){
		.addr = BASE + TEXT, .filesz = TEXT, .memsz = TEXT,
		.flags = 6, .bytes = t->text,
	};
	t->image = (struct image){
		.arch = &toy, .has_dwarf = true,
		.segments = t->segments, .nsegments = 2,
		.funcs = t->funcs, .rows = t->rows, .inlines = t->inlines,
		.files = (char **)file_names, .nfiles = NFILES,
	};
}

static struct func *
toy_func(struct toy_image *t, const char *name, uint64_t at, uint64_t size)
{
	struct func *func = &t->funcs[t->image.nfuncs++];

	t->ranges[t->nranges] = (struct range){ BASE + at, BASE + at + size };
	*func = (struct func){
		.addr = BASE + at, .size = size, .name = name,
		.ranges = &t->ranges[t->nranges++], .nranges = 1,
		.file = FILE_NONE,
	};
	return func;
}

static void
toy_code(struct toy_image *t, uint64_t at, const char *code, size_t len)
{
	memcpy(t->text + at, code, len);
}

/* Rows must be added in order; end is set by the next, or by toy_end. */
static void
toy_row(struct toy_image *t, uint64_t at, uint32_t line, bool is_stmt)
{
	size_t n = t->image.nrows++;

	if (n && !t->rows[n - 1].end)
		t->rows[n - 1].end = BASE + at;
	t->rows[n] = (struct row){
		.addr = BASE + at, .line = line, .is_stmt = is_stmt,
	};
}

static void
toy_end(struct toy_image *t, uint64_t at)
{
	t->rows[t->image.nrows - 1].end = BASE + at;
}

static struct plan *
toy_plan(struct toy_image *t, const struct selection *sel)
{
	static const struct selection all = { 0 };

	return plan_build(&t->image, sel ? sel : &all, NULL, NULL);
}

static void
toy_free(struct plan *plan)
{
	plan->image = NULL;
	plan_free(plan);
}

/* Run the instruction at an offset n times, taking a branch `taken` times. */
static void
hit(const struct plan *plan, uint64_t at, uint64_t n, uint64_t taken)
{
	struct site *site = plan_site(plan, BASE + at);

	if (site) {
		site->hits += n;
		site->taken += taken;
	}
}

static const struct unit *
unit_of(const struct plan *plan, enum unit_kind kind, uint32_t ref,
	uint32_t line)
{
	for (size_t i = 0; i < plan->nunits; i++)
		if (plan->units[i].kind == kind && plan->units[i].ref == ref &&
		    plan->units[i].line == line)
			return &plan->units[i];
	return NULL;
}

static uint64_t
count_of(const struct plan *plan, enum unit_kind kind, uint32_t ref,
	 uint32_t line)
{
	const struct unit *unit = unit_of(plan, kind, ref, line);
	const char *why;
	uint64_t count;

	assert_non_null(unit);
	assert_true(plan_count(plan, unit, &count, &why));
	assert_null(why);
	return count;
}

static const char *
why_of(const struct plan *plan, enum unit_kind kind, uint32_t ref,
       uint32_t line)
{
	const struct unit *unit = unit_of(plan, kind, ref, line);
	const char *why;
	uint64_t count;

	assert_non_null(unit);
	assert_false(plan_count(plan, unit, &count, &why));
	return why;
}

static void
test_func(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "straight", 0, 3);
	toy_code(&t, 0, "ppr", 3);
	/* The loop's head is the entry: b goes back to it. */
	toy_func(&t, "loop", 0x100, 4);
	toy_code(&t, 0x100, "pb\xfdr", 4);
	t.image.has_dwarf = false;
	plan = toy_plan(&t, NULL);
	assert_int_equal(plan->nunits, 2);
	hit(plan, 0, 5, 0);
	/* Called twice; the branch went back 7 times in all. */
	hit(plan, 0x100, 9, 0);
	hit(plan, 0x101, 9, 7);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 5);
	assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 2);
	/* Nothing planted beyond what is needed. */
	assert_int_equal(plan->nsites, 3);
	assert_null(plan_site(plan, BASE + 1));
	assert_true(plan_site(plan, BASE + 0x101)->branch);
	assert_false(plan_site(plan, BASE)->branch);
	assert_int_equal(plan_site(plan, BASE + 0x101)->insn.kind,
			 INSN_BRANCH);
	toy_free(plan);
}

static void
test_lost_and_negative(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "loop", 0, 4);
	toy_code(&t, 0, "pb\xfdr", 4);
	plan = toy_plan(&t, NULL);
	/* Attached inside the loop: the branch was seen, the entry not. */
	hit(plan, 1, 1, 1);
	assert_non_null(why_of(plan, UNIT_FUNC, 0, 0));
	hit(plan, 0, 2, 0);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 1);
	plan_site(plan, BASE)->lost = true;
	assert_non_null(why_of(plan, UNIT_FUNC, 0, 0));
	toy_free(plan);
}

static void
test_selection(void **state)
{
	struct selection sel = { 0 };
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "one", 0, 1)->file = 0;
	toy_func(&t, "two", 0x100, 1)->file = 1;
	toy_func(&t, "none", 0x200, 1);
	toy_code(&t, 0, "r", 1);
	toy_code(&t, 0x100, "r", 1);
	toy_code(&t, 0x200, "r", 1);
	toy_row(&t, 0, 1, true);
	toy_end(&t, 1);
	toy_row(&t, 0x100, 2, true);
	toy_end(&t, 0x101);

	select_glob(&sel.funcs, "o*");
	plan = toy_plan(&t, &sel);
	assert_int_equal(plan->nunits, 2);
	assert_non_null(unit_of(plan, UNIT_FUNC, 0, 0));
	assert_non_null(unit_of(plan, UNIT_LINE, 0, 1));
	toy_free(plan);
	select_free(&sel);

	/* A function counts as of the file it is declared in. */
	select_glob(&sel.files, "b.c");
	select_units(&sel, "func");
	plan = toy_plan(&t, &sel);
	assert_int_equal(plan->nunits, 1);
	assert_non_null(unit_of(plan, UNIT_FUNC, 1, 0));
	toy_free(plan);
	select_free(&sel);

	select_line(&sel, "a.c:2-9");
	select_units(&sel, "line");
	plan = toy_plan(&t, &sel);
	assert_int_equal(plan->nunits, 1);
	assert_non_null(unit_of(plan, UNIT_LINE, 0, 2));
	assert_int_equal(plan->nsites, 1);
	toy_free(plan);
	select_free(&sel);
}

static void
test_line_of_two_functions(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "one", 0, 2);
	toy_code(&t, 0, "pr", 2);
	toy_func(&t, "two", 0x100, 2);
	toy_code(&t, 0x100, "pr", 2);
	toy_row(&t, 0, 7, true);
	toy_end(&t, 2);
	toy_row(&t, 0x100, 7, true);
	toy_end(&t, 0x102);
	plan = toy_plan(&t, NULL);
	hit(plan, 0, 3, 0);
	hit(plan, 0x100, 4, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 7), 7);
	assert_int_equal(plan->nunits, 3);
	toy_free(plan);
}

static void
test_rows(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "f", 0, 8);
	toy_code(&t, 0, "ppppPxpr", 8);
	toy_row(&t, 0, 1, true);
	toy_row(&t, 1, 9, false);	/* not a statement: still line 1 */
	toy_row(&t, 2, 0, true);	/* no line */
	toy_row(&t, 3, 1, true);	/* line 1 is entered again */
	toy_row(&t, 4, 2, true);	/* empty */
	toy_row(&t, 4, 3, true);	/* empty */
	toy_row(&t, 4, 2, true);
	toy_row(&t, 5, 4, true);	/* inside the instruction P */
	toy_row(&t, 6, 5, true);
	toy_end(&t, 8);
	plan = toy_plan(&t, NULL);
	for (size_t i = 0; i < 8; i++)
		hit(plan, i, 10, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 20);
	assert_null(unit_of(plan, UNIT_LINE, 0, 9));
	assert_null(unit_of(plan, UNIT_LINE, 0, 0));
	/* 2 owns the code at 4; its empty row there is no other line. */
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 10);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 3), 10);
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 4),
			    "not at an instruction");
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 5), 10);
	assert_int_equal(plan->nskips, 1);
	assert_int_equal(plan->skips[0].addr, BASE + 5);
	assert_null(plan_site(plan, BASE + 5));
	toy_free(plan);
}

static void
test_sequences(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "f", 0, 6);
	toy_code(&t, 0, "ppppbx", 6);
	t.text[5] = (uint8_t)-3;	/* back to 3 */
	/* Nothing is known of 2 and 3 after this sequence ends. */
	toy_row(&t, 0, 1, true);
	toy_end(&t, 2);
	toy_row(&t, 4, 1, true);
	toy_end(&t, 6);
	plan = toy_plan(&t, NULL);
	hit(plan, 0, 1, 0);
	hit(plan, 3, 5, 0);
	hit(plan, 4, 5, 4);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 1 + 5);
	toy_free(plan);
}

static void
test_undecodable(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "f", 0, 8);
	toy_code(&t, 0, "pp??pp", 6);
	toy_func(&t, "data", 0x100, 8);
	toy_func(&t, "outside", TEXT + 0x10, 8);
	toy_row(&t, 0, 1, true);
	toy_row(&t, 2, 2, true);
	toy_row(&t, 4, 3, true);
	toy_end(&t, 8);
	toy_row(&t, TEXT + 0x10, 4, true);
	toy_end(&t, TEXT + 0x18);
	plan = toy_plan(&t, NULL);
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 2),
			    "not an instruction");
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 3),
			    "not an instruction");
	assert_string_equal(why_of(plan, UNIT_FUNC, 1, 0),
			    "not an instruction");
	assert_non_null(why_of(plan, UNIT_FUNC, 2, 0));
	assert_null(unit_of(plan, UNIT_LINE, 0, 4));
	hit(plan, 0, 6, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 6);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 6);
	assert_int_equal(plan->nsites, 1);
	toy_free(plan);
}

static void
test_overlap(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "outer", 0, 8);
	toy_func(&t, "middle", 3, 1);	/* of the instruction P at 2 */
	toy_func(&t, "inner", 5, 2);
	toy_code(&t, 0, "ppPxpppr", 8);
	toy_row(&t, 0, 1, true);
	toy_row(&t, 5, 2, true);
	toy_end(&t, 8);
	plan = toy_plan(&t, NULL);
	assert_string_equal(why_of(plan, UNIT_FUNC, 1, 0),
			    "not at an instruction");
	assert_null(plan_site(plan, BASE + 3));
	/* outer ran 3 times and fell into inner, which was called 4 times. */
	hit(plan, 0, 3, 0);
	hit(plan, 5, 7, 0);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 3);
	assert_int_equal(count_of(plan, UNIT_FUNC, 2, 0), 7);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 3);
	toy_free(plan);
}

static void
test_part(void **state)
{
	struct toy_image t;
	struct range ranges[] = { { BASE, BASE + 4 }, { BASE + 8, BASE + 11 } };
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "f", 0, 4);
	t.funcs[0].ranges = ranges;
	t.funcs[0].nranges = 2;
	/* The part that was split off is there as a symbol, too. */
	toy_func(&t, "f.cold", 8, 3);
	toy_code(&t, 0, "pb\x05r", 4);		/* branch to 8 */
	toy_code(&t, 8, "pj\xf8", 3);		/* back to 3 */
	toy_row(&t, 0, 1, true);
	toy_end(&t, 4);
	toy_row(&t, 8, 1, true);
	toy_end(&t, 11);
	plan = toy_plan(&t, NULL);
	hit(plan, 0, 6, 0);
	hit(plan, 1, 6, 2);
	hit(plan, 3, 6, 0);
	hit(plan, 8, 2, 0);
	hit(plan, 9, 2, 0);
	/* One function: going to its cold part does not leave the line. */
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 6);
	toy_free(plan);
}

static void
test_nameless(void **state)
{
	struct toy_image t;
	struct selection sel = { 0 };
	struct plan *plan;

	toy_begin(&t);
	toy_func(&t, "f", 4, 2);
	toy_code(&t, 0, "ppprpr", 6);
	toy_row(&t, 0, 1, true);
	toy_row(&t, 2, 2, true);
	toy_row(&t, 4, 3, true);
	toy_end(&t, 16);		/* beyond f nothing begins */
	plan = toy_plan(&t, NULL);
	hit(plan, 0, 3, 0);
	hit(plan, 2, 3, 0);
	hit(plan, 4, 8, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 3);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 3);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 3), 8);
	assert_int_equal(plan->nskips, 0);
	toy_free(plan);
	/* It is in no function that a name could choose. */
	select_glob(&sel.funcs, "*");
	plan = toy_plan(&t, &sel);
	assert_null(unit_of(plan, UNIT_LINE, 0, 1));
	assert_non_null(unit_of(plan, UNIT_LINE, 0, 3));
	toy_free(plan);
	select_free(&sel);
}

static void
test_inlines(void **state)
{
	struct toy_image t;
	struct selection sel = { 0 };
	struct range ranges[] = { { BASE + 1, BASE + 4 },
				  { BASE + 5, BASE + 6 } };
	struct plan *plan;

	toy_begin(&t);
	select_units(&sel, "inline");
	toy_func(&t, "f", 0, 8);
	/* The first copy is a loop: the branch at 2 goes back to 1. */
	toy_code(&t, 0, "ppb\xfdpppr", 8);
	t.image.ninlines = 3;
	t.inlines[0] = (struct inlined){
		.addr = BASE + 1, .name = "in", .file = 0, .line = 3,
		.ranges = &ranges[0], .nranges = 1,
	};
	t.inlines[1] = t.inlines[0];
	t.inlines[1].addr = BASE + 5;
	t.inlines[1].ranges = &ranges[1];
	t.inlines[2] = (struct inlined){
		.addr = BASE + 0x700, .name = "gone", .file = 0, .line = 9,
	};
	plan = toy_plan(&t, &sel);
	assert_int_equal(plan->nunits, 2);
	hit(plan, 0, 2, 0);
	hit(plan, 1, 9, 0);
	hit(plan, 2, 9, 7);
	hit(plan, 5, 2, 0);
	assert_int_equal(count_of(plan, UNIT_INLINE, 0, 3), 2 + 2);
	assert_non_null(why_of(plan, UNIT_INLINE, 2, 9));
	toy_free(plan);
	select_free(&sel);
}

static void
test_sites(void **state)
{
	struct toy_image t;
	struct plan *plan;

	toy_begin(&t);
	for (size_t i = 0; i < 30; i++)
		toy_func(&t, "f", 7 * i, 1);
	memset(t.text, 'r', TEXT);
	plan = toy_plan(&t, NULL);
	assert_int_equal(plan->nsites, 30);
	for (size_t at = 0; at < TEXT; at++) {
		struct site *site = plan_site(plan, BASE + at);

		if (at % 7 == 0 && at < 210)
			assert_int_equal(site->addr, BASE + at);
		else
			assert_null(site);
	}
	assert_null(plan_site(plan, 0));
	assert_null(plan_site(plan, UINT64_MAX));
	toy_free(plan);

	toy_begin(&t);
	plan = toy_plan(&t, NULL);
	assert_int_equal(plan->nunits, 0);
	assert_null(plan_site(plan, BASE));
	toy_free(plan);
}

/*
 * Random programs, run by the test.  What a line's count is to be comes from
 * the trace and the rows alone.
 */
enum { PROGRAMS = 3000, FUNCS = 4, LINES = 6, DEPTH = 8 };

struct run {
	struct toy_image *t;
	struct plan *plan;
	uint64_t lines[LINES + 1];
	uint64_t calls[FUNCS];
	size_t steps;
};

static unsigned
any(unsigned n)
{
	return (unsigned)rand() % n;
}

static void
random_func(struct toy_image *t, unsigned index)
{
	size_t at = index * FUNC_STEP, n = 3 + any(12), len = 0, i;
	size_t starts[16];
	uint8_t *code = t->text + at;

	for (i = 0; i < n; i++) {
		unsigned what = any(8);

		starts[i] = len;
		if (i == n - 1)
			code[len] = 'r';
		else if (what < 3)
			code[len] = 'p';
		else if (what < 4)
			code[len] = 'P';
		else if (what < 6)
			code[len] = 'b';
		else if (what < 7)
			code[len] = 'j';
		else
			code[len] = index + 1 < FUNCS ? 'c' : 'p';
		len += code[len] == 'p' || code[len] == 'r' ? 1 : 2;
	}
	for (i = 0; i < n; i++) {
		uint8_t *c = &code[starts[i]];
		size_t to = any(n);

		/* Only branches go back, and calls only down: it ends. */
		if (*c == 'j')
			to = i + 1 + any(n - i - 1);
		if (*c == 'j' || *c == 'b')
			c[1] = (uint8_t)(starts[to] - starts[i] - 2);
		else if (*c == 'c')
			c[1] = (uint8_t)(index + 1 + any(FUNCS - index - 1));
	}
	toy_func(t, "f", at, len);
	for (i = 0; i < n; i++)
		while (i == 0 ? t->image.nrows == 0 ||
		       t->rows[t->image.nrows - 1].addr != BASE + at :
		       any(3) == 0)
			toy_row(t, at + starts[i], any(LINES + 1),
				i == 0 || any(4) != 0);
	toy_end(t, at + len);
}

/* The line that owns addr, and the empty ones there, by the definition. */
static uint32_t
line_at(const struct toy_image *t, uint64_t addr, bool *points)
{
	const struct row *owner = NULL;

	memset(points, 0, LINES + 1);
	for (size_t i = 0; i < t->image.nrows; i++) {
		const struct row *row = &t->rows[i];

		if (row->is_stmt && row->addr <= addr &&
		    row->addr / FUNC_STEP == addr / FUNC_STEP)
			owner = row;
	}
	for (size_t i = 0; i < t->image.nrows; i++)
		if (t->rows[i].is_stmt && t->rows[i].addr == addr)
			points[t->rows[i].line] = true;
	points[0] = false;
	points[owner->line] = false;
	return owner->line;
}

static void
run_func(struct run *run, unsigned index)
{
	uint64_t pc = BASE + index * FUNC_STEP;
	uint32_t line, last = 0;
	bool points[LINES + 1];
	struct insn insn;

	run->calls[index]++;
	for (;;) {
		struct site *site = plan_site(run->plan, pc);

		run->steps++;
		assert_int_equal(toy_decode(run->t->text + pc - BASE, 2, pc,
					    &insn), 0);
		line = line_at(run->t, pc, points);
		if (line != last)
			run->lines[line]++;
		for (uint32_t i = 1; i <= LINES; i++)
			run->lines[i] += points[i] && last != i;
		last = line;
		if (site)
			site->hits++;
		pc += insn.len;
		if (insn.kind == INSN_CALL)
			run_func(run, (unsigned)(insn.target - BASE) /
				 FUNC_STEP);
		if (insn.kind == INSN_RETURN)
			return;
		if (insn.kind == INSN_JUMP ||
		    (insn.kind == INSN_BRANCH && any(5) < 2)) {
			pc = insn.target;
			if (site)
				site->taken++;
		}
	}
}

static void
test_random(void **state)
{
	static struct toy_image t;
	struct run run;
	size_t steps = 0;

	srand(1);
	for (size_t i = 0; i < PROGRAMS; i++) {
		toy_begin(&t);
		for (unsigned f = 0; f < FUNCS; f++)
			random_func(&t, f);
		run = (struct run){ .t = &t, .plan = toy_plan(&t, NULL) };
		for (size_t k = 0; k < 10 && run.steps < 20000; k++)
			run_func(&run, any(FUNCS));
		for (uint32_t f = 0; f < FUNCS; f++)
			assert_int_equal(count_of(run.plan, UNIT_FUNC, f, 0),
					 run.calls[f]);
		for (uint32_t l = 1; l <= LINES; l++) {
			if (unit_of(run.plan, UNIT_LINE, 0, l))
				assert_int_equal(count_of(run.plan, UNIT_LINE,
							  0, l),
						 run.lines[l]);
			else
				assert_int_equal(run.lines[l], 0);
		}
		steps += run.steps;
		toy_free(run.plan);
	}
	assert_true(steps > 100 * PROGRAMS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_func),
		cmocka_unit_test(test_lost_and_negative),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_line_of_two_functions),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_undecodable),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_inlines),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_random),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
