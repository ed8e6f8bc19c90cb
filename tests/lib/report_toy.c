/*
 * Makes plans by hand, and the CPU that they are for.
 */
#include "tests/lib/report_toy.h"

#include "probe/counts.h"
#include "report/table.h"

int
cpu_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	static const char letters[] = "pnjbcirR";
	static const uint8_t kinds[] = {
		INSN_PLAIN, INSN_PLAIN,		INSN_JUMP,   INSN_BRANCH,
		INSN_CALL,  INSN_CALL_INDIRECT, INSN_RETURN, INSN_RETURN,
	};
	const char *letter = size && code[0] ? strchr(letters, code[0]) : NULL;

	*insn = (struct insn){ .addr = addr, .len = 1 };
	if (!letter)
		return -1;
	insn->kind = kinds[letter - letters];
	if (strchr("jbcR", code[0]))
		insn->len = 2;
	if (size < insn->len)
		return -1;
	if (code[0] == 'j' || code[0] == 'b')
		insn->target = addr + 2 + (uint64_t)(int8_t)code[1];
	if (code[0] == 'c')
		insn->target = CPU_BASE + 16 * code[1];
	return 0;
}

static int
cpu_print(const uint8_t *code, size_t size, uint64_t addr, char *buf,
	  size_t buflen)
{
	struct insn insn;

	if (cpu_decode(code, size, addr, &insn))
		return -1;
	if (insn.target)
		snprintf(buf, buflen, "%c 0x%016" PRIX64, code[0], insn.target);
	else
		snprintf(buf, buflen, "%c", code[0]);
	return 0;
}

static int
cpu_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		 struct emul *emul)
{
	*emul = (struct emul){ .only_pc = code[0] == 'n' };
	return code[0] == 'n' || code[0] == 'p' ? 0 : -1;
}

static uint64_t
cpu_first(uint64_t addr)
{
	return addr;
}

static const struct arch cpu = {
	.name = "toy",
	.decode = cpu_decode,
	.print = cpu_print,
	.emul_prepare = cpu_emul_prepare,
	.first = cpu_first,
};

int
toys_report(const struct report_options *opts,
	    const struct report_input *report_input, FILE *out)
{
	struct table *table = table_make(opts, report_input);
	int result = report_write(table, out);

	table_free(table);
	return result;
}

struct toy *
toy_make(const char *path)
{
	struct toy *t = mem_alloc(sizeof(*t));

	t->at = CPU_BASE;
	t->sel.units = 1U << UNIT_FUNC | 1U << UNIT_LINE;
	t->segment = (struct segment){
		.addr = CPU_BASE,
		.filesz = CPU_TEXT,
		.memsz = CPU_TEXT,
		.flags = 5,
		.bytes = t->text,
	};
	t->image = (struct image){
		.path = (char *)path,
		.arch = &cpu,
		.has_dwarf = true,
		.segments = &t->segment,
		.nsegments = 1,
		.funcs = t->funcs,
		.rows = t->rows,
		.pads = t->pads,
		.files = t->files,
	};
	return t;
}

void
toy_free(struct toy *t)
{
	if (t->plan)
		t->plan->image = NULL;
	plan_close(t->plan);
	for (size_t i = 0; i < t->image.nfiles; i++)
		free(t->files[i]);
	free(t);
}

static uint32_t
toy_file(struct toy *t, const char *path)
{
	for (uint32_t i = 0; i < t->image.nfiles; i++)
		if (strcmp(t->files[i], path) == 0)
			return i;
	t->files[t->image.nfiles] = mem_strdup(path);
	return t->image.nfiles++;
}

uint64_t
toy_code(struct toy *t, const char *code, size_t len)
{
	uint64_t at = t->at;

	must(at - CPU_BASE + len <= CPU_TEXT);
	memcpy(t->text + (at - CPU_BASE), code, len);
	t->at += len;
	return at;
}

void
toy_row(struct toy *t, uint64_t addr, uint64_t end, const char *path,
	uint32_t line)
{
	size_t n = t->image.nrows++;

	must(n < TOY_MAX);
	if (n && t->rows[n - 1].end > addr)
		t->rows[n - 1].end = addr;
	t->rows[n] = (struct row){
		.addr = addr,
		.end = end,
		.file = toy_file(t, path),
		.line = line,
		.is_stmt = true,
	};
}

void
toy_skip(struct toy *t, uint64_t addr)
{
	must(addr >= t->at);
	t->at = addr;
}

struct func *
toy_func_at(struct toy *t, const char *name, const char *path, uint32_t line,
	    uint64_t lo)
{
	uint32_t index = t->image.nfuncs++;

	must(index < TOY_MAX);
	t->ranges[index] = (struct range){ lo, t->at };
	t->funcs[index] = (struct func){
		.addr = lo,
		.size = t->at - lo,
		.name = name,
		.line = line,
		.file = path ? toy_file(t, path) : FILE_NONE,
		.ranges = &t->ranges[index],
		.nranges = 1,
	};
	return &t->funcs[index];
}

/* ---- given counts */

/* Add code that is entered from outside so many times. */
static struct said *
toy_said(struct toy *t, const char *code, uint64_t count)
{
	uint64_t addr = toy_code(t, code, strlen(code));
	struct said *said = &t->said[t->nsaid++];

	must(t->nsaid < TOY_MAX);
	t->pads[t->image.npads++] = addr;
	*said = (struct said){ .addr = addr, .count = count };
	return said;
}

struct func *
toy_func(struct toy *t, const char *name, const char *path, uint32_t line,
	 uint64_t count)
{
	struct said *said = toy_said(t, "r", count);

	t->image.npads--;
	return toy_func_at(t, name, path, line, said->addr);
}

struct said *
toy_line(struct toy *t, const char *path, uint32_t line, uint64_t count)
{
	struct said *said = toy_said(t, "r", count);

	toy_row(t, said->addr, t->at, path, line);
	return said;
}

struct said *
toy_func_line(struct toy *t, const char *path, uint32_t line, uint64_t count)
{
	struct said *said = toy_line(t, path, line, count);

	t->ranges[t->image.nfuncs - 1].hi = t->at;
	t->funcs[t->image.nfuncs - 1].size = t->at -
					     t->funcs[t->image.nfuncs - 1].addr;
	return said;
}

void
toy_bad_row(struct toy *t, const char *path, uint32_t line)
{
	struct said *said = toy_said(t, "Rr", 0);

	toy_row(t, said->addr + 1, t->at, path, line);
	t->ranges[t->image.nfuncs - 1].hi = t->at;
}

struct plan *
toy_plan(struct toy *t, bool eager)
{
	const struct plan_options options = {
		.sel = &t->sel,
		.eager = eager,
		.method = t->method,
	};

	if (!t->plan)
		t->plan = plan_open(&t->image, &options, NULL, NULL);
	return t->plan;
}

struct plan *
toy_propagate(struct toy *t)
{
	struct plan *plan = toy_plan(t, true);

	for (size_t i = 0; i < t->nsaid; i++) {
		const struct said *said = &t->said[i];
		struct site *site = plan_site(plan, said->addr);

		if (!site)
			continue;
		site->lost = said->lost;
		counter_set_site(plan_counter_set(plan, 0), site - plan->sites,
				 plan->nsites)
			->hits = said->count;
	}
	plan_propagate(plan, NULL);
	return plan;
}

/* ---- running */

void
toy_run(struct toy *t, uint64_t addr, const char **steps)
{
	struct plan *plan = toy_plan(t, false);
	struct counter_set *counter_set = plan_counter_set(plan, 0);
	struct counter *counter;
	struct insn insn;

	for (;; addr += insn.len) {
		struct site *site = plan_site(plan, addr);
		const uint8_t *code = t->text + (addr - CPU_BASE);
		bool taken = true;

		if (site && site->waiting) {
			plan_ready(plan, site->fplan);
			site = plan_site(plan, addr);
		}
		if (site && site->idle)
			site = NULL;
		must(cpu_decode(code, CPU_TEXT, addr, &insn) == 0);
		if (insn.kind == INSN_BRANCH)
			taken = *(*steps)++ == 't';
		if (insn.kind == INSN_CALL_INDIRECT)
			insn.target = CPU_BASE + 16 * (*(*steps)++ - '0');
		if (site) {
			counter = counter_set_site(counter_set,
						   site - plan->sites,
						   plan->nsites);
			counter->hits++;
			t->hits++;
			counter->taken += site->branch && taken;
			if (site->targets)
				counter_set_arrival(counter_set,
						    site - plan->sites, plan,
						    insn.target, true)
					->n++;
		}
		if (insn.kind == INSN_RETURN)
			return;
		if (insn.kind == INSN_CALL || insn.kind == INSN_CALL_INDIRECT)
			toy_run(t, insn.target, steps);
		if ((insn.kind == INSN_BRANCH && taken) ||
		    insn.kind == INSN_JUMP)
			addr = insn.target - insn.len;
	}
}
