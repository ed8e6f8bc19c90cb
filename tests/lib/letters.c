/*
 * Makes images by hand for a toy CPU whose instructions are letters.
 */
#include "tests/lib/letters.h"

#include "probe/counts.h"
#include "util/fail.h"

/*
 * The toy's instructions: p plain; P plain, two bytes; jN jump and bN branch, N
 * bytes from the next instruction; cN call function N; CN call the address N
 * bytes from this instruction; r return; s stop; i jump to an unknown place.
 */
static int
abc_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
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
	case 's':
		insn->kind = INSN_STOP;
		insn->len = 1;
		return 0;
	case 'i':
		insn->kind = INSN_JUMP_INDIRECT;
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
	case 'C':
		insn->kind = INSN_CALL;
		break;
	default:
		return -1;
	}
	if (size < 2)
		return -1;
	if (code[0] == 'C')
		insn->target = addr + (int8_t)code[1];
	else if (code[0] == 'c')
		insn->target = BASE + code[1] * FUNC_STEP;
	else if (code[0] != 'P')
		insn->target = addr + 2 + (int8_t)code[1];
	return 0;
}

static uint64_t
abc_first(uint64_t addr)
{
	return addr;
}

static const struct arch abc_arch = {
	.name = "toy",
	.decode = abc_decode,
	.first = abc_first,
};

static const char *const file_names[NFILES] = { "/s/a.c", "/s/b.c" };

void
abc_begin(struct abc_image *t)
{
	memset(t, 0, sizeof(*t));
	t->segments[0] = (struct segment){
		.addr = BASE,
		.filesz = TEXT,
		.memsz = TEXT,
		.flags = 5,
		.bytes = t->text,
	};
	t->segments[1] = (struct segment){
		.addr = BASE + TEXT,
		.filesz = TEXT,
		.memsz = TEXT,
		.flags = 6,
		.bytes = t->text,
	};
	t->image = (struct image){
		.arch = &abc_arch,
		.has_dwarf = true,
		.segments = t->segments,
		.nsegments = 2,
		.funcs = t->funcs,
		.rows = t->rows,
		.inlines = t->inlines,
		.files = (char **)file_names,
		.nfiles = NFILES,
	};
}

struct func *
abc_func(struct abc_image *t, const char *name, uint64_t at, uint64_t size)
{
	struct func *func = &t->funcs[t->image.nfuncs++];

	t->ranges[t->nranges] = (struct range){ BASE + at, BASE + at + size };
	*func = (struct func){
		.addr = BASE + at,
		.size = size,
		.name = name,
		.ranges = &t->ranges[t->nranges++],
		.nranges = 1,
		.file = FILE_NONE,
	};
	return func;
}

void
abc_code(struct abc_image *t, uint64_t at, const char *code, size_t len)
{
	memcpy(t->text + at, code, len);
}

void
abc_row(struct abc_image *t, uint64_t at, uint32_t line, bool is_stmt)
{
	size_t n = t->image.nrows++;

	if (n && !t->rows[n - 1].end)
		t->rows[n - 1].end = BASE + at;
	t->rows[n] = (struct row){
		.addr = BASE + at,
		.line = line,
		.is_stmt = is_stmt,
	};
}

void
abc_end(struct abc_image *t, uint64_t at)
{
	t->rows[t->image.nrows - 1].end = BASE + at;
}

struct plan *
abc_plan_of(struct abc_image *t, const struct selection *sel,
	    enum placement_method method, bool eager)
{
	static const struct selection all = { 0 };

	return plan_open(&t->image,
			 &(struct plan_options){
				 .sel = sel ? sel : &all,
				 .method = method,
				 .eager = eager,
			 },
			 NULL, NULL);
}

struct selection *
units(const char *names)
{
	static struct selection sel;

	select_free(&sel);
	must(!select_units(&sel, names));
	return &sel;
}

struct plan *
abc_plan(struct abc_image *t, const struct selection *sel)
{
	return abc_plan_of(t, sel, PLACE_OPTIMAL, false);
}

void
abc_close(struct plan *plan)
{
	plan->image = NULL;
	plan_close(plan);
}

void
hit(struct plan *plan, uint64_t at, uint64_t n, uint64_t taken)
{
	struct site *site = plan_site(plan, BASE + at);
	struct counter *counter;

	if (site && site->waiting && n) {
		plan_ready(plan, site->fplan);
		site = plan_site(plan, BASE + at);
	}
	if (!site || site->idle || site->waiting)
		return;
	counter = counter_set_site(plan_counter_set(plan, 0),
				   (uint32_t)(site - plan->sites),
				   plan->nsites);
	counter->hits += n;
	counter->taken += taken;
}

void
left(struct plan *plan, uint64_t at, bool during, uint64_t n)
{
	counter_set_abnormal(plan_counter_set(plan, 0), BASE + at, during)
		->left += n;
}

void
came(struct plan *plan, uint64_t at, bool during, uint64_t n)
{
	counter_set_abnormal(plan_counter_set(plan, 0), BASE + at, during)
		->came += n;
}

static const struct unit *
unit_among(const struct unit *units, size_t n, enum unit_kind kind,
	   uint32_t ref, uint32_t line)
{
	for (size_t i = 0; i < n; i++)
		if (units[i].kind == kind && units[i].ref == ref &&
		    units[i].line == line)
			return &units[i];
	return NULL;
}

struct unit
unit_of(struct plan *plan, enum unit_kind kind, uint32_t ref, uint32_t line)
{
	struct unit unit = { .kind = UNIT_KINDS }, *units;
	const struct unit *found;
	size_t n;

	plan_propagate(plan, NULL);
	units = plan_units(plan, &n);
	found = unit_among(units, n, kind, ref, line);
	if (found)
		unit = *found;
	free(units);
	return unit;
}

size_t
units_number(struct plan *plan)
{
	size_t n;

	plan_propagate(plan, NULL);
	free(plan_units(plan, &n));
	return n;
}

uint64_t
count_of(struct plan *plan, enum unit_kind kind, uint32_t ref, uint32_t line)
{
	struct unit unit = unit_of(plan, kind, ref, line);

	assert_int_equal(unit.kind, kind);
	if (unit.why)
		print_error("# unknown: %s\n", unit.why);
	assert_null(unit.why);
	return unit.n;
}

const char *
why_of(struct plan *plan, enum unit_kind kind, uint32_t ref, uint32_t line)
{
	struct unit unit = unit_of(plan, kind, ref, line);

	assert_int_equal(unit.kind, kind);
	assert_non_null(unit.why);
	assert_int_equal(unit.n, 0);
	return unit.why;
}

/* The propagated count of the instruction at an offset of a function plan. */
static struct count
insn_count(struct plan *plan, uint32_t fplan, uint64_t at)
{
	const struct func_plan *b = &plan->fplans[fplan];
	long insn;

	plan_propagate(plan, NULL);
	assert_non_null(b->counts);
	insn = cfg_insn(b->cfg, BASE + at);
	assert_true(insn >= 0);
	return fplan_insn(b, (uint32_t)insn);
}

uint64_t
insn_known(struct plan *plan, uint32_t fplan, uint64_t at)
{
	struct count count = insn_count(plan, fplan, at);

	assert_null(count_why(&count));
	return count.n;
}

const char *
insn_why(struct plan *plan, uint32_t fplan, uint64_t at)
{
	struct count count = insn_count(plan, fplan, at);

	assert_non_null(count_why(&count));
	return count_why(&count);
}
