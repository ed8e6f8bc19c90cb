/*
 * Random functions, in assembler, run from relocated functions of all kinds:
 * what they compute and how often each block and edge runs is what single steps
 * of the original saw, and so are all registers at each pc that the relocated
 * function's stands for.  PMON_ROUNDS=N for more than the usual number of
 * libraries.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "relocate/pc_map.h"
#include "tests/lib/relocation.h"
#include "tests/lib/build.h"
#include "tests/lib/flows.h"

enum {
	FUNCS = 40,
	STATE_WORDS = 64,
	PLAIN_FLAGS = 0x202,
	TRACING_FLAGS = 0x302
};

static struct object object;
static FILE *out;
static unsigned func, nblocks;
static bool checks[64];		/* per block: ends the loops it is in */

static const char *const regs[] = {
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8",
	"r9",  "r10", "r11", "r12", "r13", "rbp",
};
static const char *const conds[] = {
	"o", "no", "c", "nc", "z", "nz", "be", "a",
	"s", "ns", "p", "np", "l", "ge", "le", "g",
};

static const char *
reg(void)
{
	return regs[random_below(sizeof(regs) / sizeof(*regs))];
}

static const char *
cond(void)
{
	return conds[random_below(16)];
}

/* Arithmetic. */
static void
sum_put(void)
{
	static const char *const two[] = {
		"add", "sub", "and", "or",   "xor", "cmp", "test",
		"adc", "sbb", "mov", "imul", "bsf", "bsr", "bt",
	};
	static const char *const one[] = {
		"inc", "dec", "neg", "not", "shl", "shr", "sar", "rol", "rcr",
	};

	switch (random_below(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
		fprintf(out, "\t%s %%%s, %%%s\n", two[random_below(14)], reg(),
			reg());
		return;
	case 6:
	case 7:
		fprintf(out, "\t%sq %%%s\n", one[random_below(9)], reg());
		return;
	case 8:
		fprintf(out, "\t%s $%d, %%%s\n", two[random_below(9)],
			(int)random_below(300) - 150, reg());
		return;
	case 9:
		fprintf(out, "\tshlq %%cl, %%%s\n", reg());
		return;
	case 10:
		fprintf(out, "\tset%s %u(%%r15)\n", cond(),
			128 + random_below(64));
		return;
	default:
		fprintf(out, "\tcmov%s %%%s, %%%s\n", cond(), reg(), reg());
		return;
	}
}

/* Anything; r15 points to the state. */
static void
insn_put(void)
{
	switch (random_below(20)) {
	case 0:
		fprintf(out, "\tmov %%%s, -%u(%%rsp)\n", reg(),
			8 * (1 + random_below(8)));
		return;
	case 1:
		fprintf(out, "\tadd -%u(%%rsp), %%%s\n",
			8 * (1 + random_below(8)), reg());
		return;
	case 2:
		fprintf(out, "\tadd data+%u(%%rip), %%%s\n",
			8 * random_below(8), reg());
		return;
	case 3:
		fprintf(out, "\tcmpl $%u, data+%u(%%rip)\n", random_below(1000),
			4 * random_below(16));
		return;
	case 4:
		fprintf(out, "\tlea %d(%%%s,%%%s,4), %%%s\n",
			(int)random_below(300) - 150, reg(), reg(), reg());
		return;
	case 5:
		fprintf(out, "\tlock cmpxchg %%%s, %u(%%r15)\n", reg(),
			8 * (16 + random_below(8)));
		return;
	case 6:
		fprintf(out,
			"\tmovq %%%s, %%xmm0; paddd %%xmm0, %%xmm1; "
			"pxor %%xmm1, %%xmm2; movq %%xmm2, %%%s\n",
			reg(), reg());
		return;
	case 7:
		fprintf(out,
			"\tlea 192(%%r15), %%rdi; mov $%u, %%ecx; "
			"rep stosb\n",
			random_below(4));
		return;
	case 8:
		/* Without the trap flag of who is stepped. */
		fprintf(out, "\tpushfq; andq $0x8d5, (%%rsp); pop %%%s\n",
			reg());
		return;
	case 9:
		fprintf(out, "\tlahf; nop; nopw 0x100(%%rax)\n");
		return;
	default:
		sum_put();
		return;
	}
}

/* A block that block b may go to: back only to those that end loops. */
static unsigned
target(unsigned b)
{
	unsigned to = random_below(nblocks);

	return to > b || checks[to] ? to : b + 1;
}

/* A jump by a table of distances. */
static void
table_put(unsigned b)
{
	static const char *const pairs[][3] = {
		{ "rcx", "ecx", "rdx" }, { "rax", "eax", "rcx" },
		{ "rcx", "ecx", "rax" }, { "r9", "r9d", "rbx" },
		{ "rsi", "esi", "r12" }, { "r13", "r13d", "r10" },
	};
	const char *const *pair = pairs[random_below(6)];
	unsigned n = 2u << random_below(3);

	fprintf(out,
		"\tand $%u, %%%s; lea 5f(%%rip), %%%s\n"
		"\tmovslq (%%%s,%%%s,4), %%%s; add %%%s, %%%s\n"
		"\t%sjmp *%%%s\n\t.section .rodata\n\t.align 4\n5:\n",
		n - 1, pair[1], pair[2], pair[2], pair[0], pair[0], pair[2],
		pair[0], random_chance(50) ? "notrack " : "", pair[0]);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "\t.long .Lf%u_%u - 5b\n", func, target(b));
	fprintf(out, "\t.text\n");
}

/* A jump through a table of addresses. */
static void
addresses_put(unsigned b)
{
	static const char *const pairs[][3] = {
		{ "rcx", "ecx", "rdx" }, { "rax", "eax", "rcx" },
		{ "rcx", "ecx", "rax" }, { "r9", "r9d", "r13" },
		{ "rsi", "esi", "r12" }, { "rdx", "edx", "r10" },
	};
	const char *const *pair = pairs[random_below(6)];
	const char *notrack = random_chance(50) ? "notrack " : "";
	unsigned n = 2u << random_below(3), to = random_below(2);

	fprintf(out, "\tand $%u, %%%s; lea 5f(%%rip), %%%s\n", n - 1, pair[1],
		pair[2]);
	if (random_chance(50))
		fprintf(out, "\t%sjmp *(%%%s,%%%s,8)\n", notrack, pair[2],
			pair[0]);
	else
		fprintf(out,
			"\tmov (%%%s,%%%s,8), %%%s; lea 3(%%r8), %%r8; %s\n"
			"\t%sjmp *%%%s\n",
			pair[2], pair[0], pair[to ? 2 : 0],
			random_chance(20) ? "cmp %r11, (%rsp)" : "", notrack,
			pair[to ? 2 : 0]);
	fprintf(out, "\t.section .data.rel.ro,\"aw\"\n\t.align 8\n5:\n");
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "\t.quad .Lf%u_%u\n", func, target(b));
	fprintf(out, "\t.text\n");
}

static void
jump_put(unsigned b)
{
	if (random_chance(50))
		table_put(b);
	else
		addresses_put(b);
}

static void
end_put(unsigned b)
{
	switch (random_below(13)) {
	case 0:
	case 1:
	case 2:
	case 3:
		fprintf(out, "\tj%s .Lf%u_%u\n", cond(), func, target(b));
		return;
	case 4:
	case 5:
		fprintf(out, "\tj%s .Lf%u_%u\n\tj%s .Lf%u_%u\n", cond(), func,
			target(b), cond(), func, target(b));
		return;
	case 6:
		fprintf(out, "\tjmp .Lf%u_%u\n", func, target(b));
		if (random_chance(50))
			fprintf(out, "\t.p2align 4\n");
		return;
	case 7:
		jump_put(b);
		return;
	case 8:
		fprintf(out, "7:\n");
		insn_put();
		fprintf(out,
			"\tlea -1(%%r14), %%rcx; jrcxz 8f; "
			"mov %%rcx, %%r14; %s 7b\n8:\n",
			random_chance(50) ? "jmp" : "loop");
		return;
	case 9:
		fprintf(out, "\tcall helper\n");
		return;
	case 10:
		fprintf(out, "\tmov $%u, %%ecx\n6:\tdec %%ecx; jnz 6b\n",
			1 + random_below(4));
		return;
	case 11:
		fprintf(out, "\tj%s .Lf%u_out\n", cond(), func);
		return;
	default:
		return;
	}
}

/*
 * Before anything else, blocks without room for a jump, which lead to one
 * behind a branch, to a loop's head, or to a block that others lead to.
 */
static void
short_put(void)
{
	switch (random_below(8)) {
	case 0:
		fprintf(out, "\ttest %%ecx, %%ecx; j%s 1f\n\tinc %%ecx\n1:\n",
			cond());
		return;
	case 1:
		fprintf(out,
			"\tj%s 1f; j%s 1f\n\tcmc; j%s 1f\n\tmov $%u, "
			"%%ecx\n1:\n",
			cond(), cond(), cond(), random_below(9));
		return;
	case 2:
		fprintf(out,
			"\txor %%ecx, %%ecx\n1:\tinc %%ecx\n\tcmp $%u, "
			"%%ecx; jb 1b\n",
			1 + random_below(4));
		return;
	case 3:
		fprintf(out,
			"\tlea 3(%%rcx), %%ecx\n1:\tcmpl $%u, data(%%rip)"
			"\n\tdec %%ecx; jg 1b\n",
			random_below(1000));
		return;
	case 4:
		fprintf(out,
			"\tclc; j%s 2f\n1:\tstc\n2:\tlahf; j%s 3f\n"
			"\tcall helper\n\tjmp 3f\n\t.p2align 3\n3:\tinc %%edx\n"
			"\tcmp $%u, %%edx; jb 1b\n",
			cond(), cond(), random_below(4));
		return;
	case 5:
		fprintf(out, "\tpush %%rdi; nop\n1:\tcall helper\n"
			     "\tdec %%ecx; jg 1b\n\tpop %%rdi\n");
		return;
	default:
		return;
	}
}

static void
func_put(void)
{
	bool clears = random_chance(50);

	nblocks = 2 + random_below(20);
	fprintf(out,
		"\t.globl f%u\n\t.type f%u, @function\n\t.p2align 4\n"
		"f%u:\n",
		func, func, func);
	if (random_chance(50))
		fprintf(out, "\tendbr64\n");
	short_put();
	fprintf(out,
		"\tpush %%rbx; push %%rbp; push %%r12; push %%r13\n"
		"\tpush %%r14; push %%r15; mov %%rdi, %%r15\n"
		"\tmov $%u, %%r14d\n",
		5 + random_below(60));
	for (unsigned i = 1; i <= 8; i++)
		fprintf(out, "\tmovq $0, -%u(%%rsp)\n", 8 * i);
	fprintf(out, "\tmovq 104(%%r15), %%xmm1; movq 104(%%r15), %%xmm2\n");
	for (unsigned i = 0; i < 13; i++)
		fprintf(out, "\tmov %u(%%r15), %%%s\n", 8 * i, regs[i]);
	for (unsigned b = 0; b < nblocks; b++)
		checks[b] = random_chance(60);
	for (unsigned b = 0; b < nblocks; b++) {
		fprintf(out, ".Lf%u_%u:\n", func, b);
		/* Flags are not in use at any jump through a table. */
		if (clears)
			fprintf(out, "\ttest %%r14, %%r14\n");
		if (random_chance(5))
			fprintf(out, "\tcall helper\n");
		if (checks[b])
			fprintf(out,
				"\tlea -1(%%r14), %%r14; mov %%r14, "
				"%%rcx; jrcxz 8f; jmp 9f\n8:\tjmp .Lf%u_out\n"
				"9:\n",
				func);
		for (unsigned i = random_below(5); i > 0; i--)
			insn_put();
		if (clears && random_chance(20))
			jump_put(b);
		else
			end_put(b);
	}
	fprintf(out, ".Lf%u_%u:\n.Lf%u_out:\n", func, nblocks, func);
	fprintf(out, "\tpushfq; popq 112(%%r15)\n");
	for (unsigned i = 0; i < 13; i++)
		fprintf(out, "\tmov %%%s, %u(%%r15)\n", regs[i], 8 * i);
	fprintf(out,
		"\tpop %%r15; pop %%r14; pop %%r13; pop %%r12; "
		"pop %%rbp; pop %%rbx\n\t%s\n\t.size f%u, . - f%u\n",
		random_chance(70) ? "ret" : "jmp helper", func, func);
}

static void
library_make(void)
{
	out = fopen(in_work("r.s"), "w");
	assert_non_null(out);
	fprintf(out, "\t.section .rodata\ndata:\n");
	for (unsigned i = 0; i < 8; i++)
		fprintf(out, "\t.quad %u\n", random_below(100000));
	fprintf(out,
		"\t.text\n\t.type helper, @function\nhelper:\n"
		"\tadd $0x7654321, %%rax; ret\n\t.size helper, . - helper\n");
	for (func = 0; func < FUNCS; func++)
		func_put();
	fclose(out);
	run("gcc -shared -o r.so r.s -Wl,-z,noexecstack");
}

typedef void function(uint64_t *state);

/* Call with all registers alike. */
void call_bare(function *f, uint64_t *state, uint64_t flags);
__asm__("call_bare:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14\n"
	"	push %r15; push %rdx; mov %rdi, %rax; mov %rsi, %rdi\n"
	"	xor %ebx, %ebx; xor %ecx, %ecx; xor %ebp, %ebp\n"
	"	xor %esi, %esi; xor %r8d, %r8d; xor %r9d, %r9d\n"
	"	xor %r10d, %r10d; xor %r11d, %r11d; xor %r12d, %r12d\n"
	"	xor %r13d, %r13d; xor %r14d, %r14d; xor %r15d, %r15d\n"
	"	xor %edx, %edx; popfq; call *%rax\n"
	"	push $0x202; popfq\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n");

/* The state is always at the same place: its address is part of it. */
static uint64_t state[STATE_WORDS];

static __attribute__((noinline)) void
call(function *f, const uint64_t *start, bool traced)
{
	memcpy(state, start, sizeof(state));
	trace.n = 0;
	trace.on = traced;
	call_bare(f, state, traced ? TRACING_FLAGS : PLAIN_FLAGS);
	trace.on = false;
}

/* What a trace says: pcs within the function, as addresses. */
struct walked_path {
	struct step *steps;
	size_t n;
};

static bool
insn_idle(const struct cfg *cfg, uint64_t addr)
{
	const struct arch *arch = object.image->arch;
	struct motion motion;
	size_t avail;
	const uint8_t *code = image_text(object.image, addr, &avail);
	long i = cfg_insn(cfg, addr);

	return arch->motion(code, avail, addr, &motion) == 0 &&
	       (motion.idle || cfg->insns[i].kind == INSN_JUMP);
}

static void
path_add(struct walked_path *path, const struct step *step, uint64_t addr)
{
	if (path->n && path->steps[path->n - 1].pc == addr &&
	    !memcmp(path->steps[path->n - 1].regs, step->regs,
		    sizeof(step->regs)))
		return;
	*vec_push(path->steps, path->n) = *step;
	path->steps[path->n - 1].pc = addr;
}

/* The original's, without what a relocated function leaves out. */
static struct walked_path
path_of_original(const struct cfg *cfg)
{
	struct walked_path path = { 0 };

	for (size_t i = 0; i < trace.n; i++) {
		uint64_t addr = trace.steps[i].pc - object.bias;

		if (cfg_insn(cfg, addr) >= 0 && !insn_idle(cfg, addr))
			path_add(&path, &trace.steps[i], addr);
	}
	return path;
}

static bool
is_patch(const struct relocated *relocated, uint64_t addr)
{
	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (relocated->entry_patches[i].addr == addr ||
		    (relocated->entry_patches[i].via == VIA_CHAIN &&
		     relocated->entry_patches[i].landing == addr))
			return true;
	return false;
}

/* A probe has given back all registers that it saved. */
static void
saved_check(const struct step *was, const struct step *is)
{
	assert_memory_equal(was->regs, is->regs, sizeof(was->regs));
}

/*
 * The same from the steps in the relocated function and in the original's rest.
 */
static struct walked_path
path_of_relocated(const struct relocation *c)
{
	struct walked_path path = { 0 };
	struct pc_map_entry entry;
	struct step saved = { 0 };
	bool was_saved = false;

	for (size_t i = 0; i < trace.n; i++) {
		struct step step = trace.steps[i];
		uint64_t addr = step.pc - object.bias;
		uint64_t offset = step.pc - c->place.va;

		entry = (struct pc_map_entry){ 0 };
		if (offset < c->relocated->size)
			assert_int_equal(pc_map_entry(c->relocated,
						      (uint32_t)offset, &entry),
					 0);
		/* They are given back before the function goes on. */
		if (was_saved && !entry.saved)
			saved_check(&saved, &step);
		if (entry.saved && !was_saved)
			saved = trace.steps[i - 1];
		was_saved = entry.saved;
		if (offset < c->relocated->size) {
			if (entry.between || !entry.arrived || entry.saved ||
			    (cfg_insn(c->cfg, entry.addr) >= 0 &&
			     insn_idle(c->cfg, entry.addr)))
				continue;
			path_add(&path, &step, entry.addr);
		} else if (cfg_insn(c->cfg, addr) >= 0 &&
			   !is_patch(c->relocated, addr) &&
			   !insn_idle(c->cfg, addr)) {
			path_add(&path, &step, addr);
		}
	}
	return path;
}

static void
paths_compare(const struct walked_path *a, const struct walked_path *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		if (a->steps[i].pc != b->steps[i].pc)
			fail_msg("step %zu: %#lx, in the copy %#lx", i,
				 a->steps[i].pc, b->steps[i].pc);
		for (int k = 0; k < 16; k++)
			if (a->steps[i].regs[k] != b->steps[i].regs[k])
				fail_msg("step %zu at %#lx: register %d is "
					 "%#lx, in the copy %#lx",
					 i, a->steps[i].pc, k,
					 a->steps[i].regs[k],
					 b->steps[i].regs[k]);
	}
	assert_int_equal(a->n, b->n);
}

/* The flow's edge that control took from a block. */
static uint32_t
edge_taken(const struct flow *flow, uint32_t from, uint32_t to)
{
	for (uint32_t e = flow->out[from]; e < flow->out[from + 1]; e++)
		if (flow->edges[e].to == to)
			return e;
	fail_msg("no edge from block %u to %u", from, to);
	return 0;
}

/* How often each arc ran, by the steps of the original. */
static uint64_t *
truth_make(const struct cfg *cfg, const struct flow *flow)
{
	uint64_t *truth = mem_alloc(flow_arcs(flow) * sizeof(*truth));
	uint32_t at = FLOW_ROOT;
	long last = -1;

	for (size_t i = 0; i < trace.n; i++) {
		uint64_t addr = trace.steps[i].pc - object.bias;
		long insn = cfg_insn(cfg, addr), b = cfg_block(cfg, addr);

		if (insn < 0 ||
		    (insn == last && cfg->insns[insn].kind == INSN_PLAIN))
			continue;
		last = insn;
		if (b < 0)
			continue;
		truth[edge_taken(flow, at, FLOW_BLOCK + (uint32_t)b)]++;
		at = FLOW_BLOCK + (uint32_t)b;
		truth[arc_of_block(flow, at)]++;
	}
	truth[edge_taken(flow, at, FLOW_EXIT)]++;
	truth[flow->back]++;
	return truth;
}

static void
counts_compare(const char *name, const struct relocation *c,
	       const uint64_t *truth, const struct make_options *options)
{
	for (uint32_t arc = 0; arc < flow_arcs(c->flow); arc++) {
		const struct count *count = &c->counts[arc];
		bool block = arc >= c->flow->nedges;

		if (count->state == COUNT_UNKNOWN && !options->entry_only &&
		    (block ||
		     (options->method != PLACE_VERTEX && options->tables)))
			fail_msg("arc %u is not known", arc);
		if (count->state != COUNT_UNKNOWN && count->n != truth[arc])
			fail_msg("%s: arc %u ran %lu times, counted %lu", name,
				 arc, truth[arc], count->n);
	}
}

static unsigned nrelocations, nrefused, ndispatches, nindexes;
static unsigned vias[ENTRY_PATCH_VIAS];

static void
relocated_try(const struct func *f, const uint64_t *start, const uint64_t *end,
	      const struct make_options *options)
{
	function *entry = (function *)(f->addr + object.bias);
	struct walked_path was, is;
	uint64_t *truth;
	struct relocation *c = relocation_make(&object, f, options, false);

	if (!c->relocated) {
		nrefused++;
		if (!strstr(fail_message(), "cannot be relocated") &&
		    !strstr(fail_message(), "cannot be told apart") &&
		    !strstr(fail_message(), "flags are in use"))
			fail_msg("%s: %s", f->name, fail_message());
		relocation_free(c);
		return;
	}
	call(entry, start, true);
	was = path_of_original(c->cfg);
	truth = truth_make(c->cfg, c->flow);
	relocation_install(c);
	call(entry, start, false);
	if (relocation_propagate(c) != FLOW_CONSISTENT)
		fail_msg("%s: the counts do not add up", f->name);
	counts_compare(f->name, c, truth, options);
	for (unsigned i = 0; i < STATE_WORDS; i++)
		if (state[i] != end[i])
			fail_msg("%s: word %u is %#lx, in the copy %#lx",
				 f->name, i, end[i], state[i]);
	call(entry, start, true);
	is = path_of_relocated(c);
	relocation_remove(c);
	room_reset();
	paths_compare(&was, &is);
	assert_int_equal(nguards, 0);
	nrelocations++;
	for (uint32_t i = 0; i < c->relocated->nfragments; i++)
		ndispatches += c->relocated->fragments[i].kind ==
			       FRAGMENT_DISPATCH;
	nindexes += c->relocated->nindexes;
	for (uint32_t i = 0; i < c->relocated->nentry_patches; i++)
		if (c->relocated->entry_patches[i].kind != ENTRY_PATCH_GUARD)
			vias[c->relocated->entry_patches[i].via]++;
	free(was.steps);
	free(is.steps);
	free(truth);
	relocation_free(c);
}

static const struct make_options kinds[] = {
	{ .method = PLACE_OPTIMAL, .tables = true },
	{ .method = PLACE_EVERY, .tables = true },
	{ .method = PLACE_OPTIMAL },
	{ .method = PLACE_EVERY },
	{ .method = PLACE_VERTEX },
	{ .method = PLACE_OPTIMAL, .tables = true, .shared = true },
	{ .method = PLACE_OPTIMAL, .tables = true, .operand = 1000 },
	{ .method = PLACE_EVERY, .operand = -3 },
	{ .method = PLACE_OPTIMAL, .tables = true, .extent = EXTENT_PROBED },
	{ .method = PLACE_EVERY, .tables = true, .extent = EXTENT_PROBED },
	{ .method = PLACE_EVERY, .tables = true, .operand = -1000 },
	{ .method = PLACE_OPTIMAL,
	  .extent = EXTENT_PROBED,
	  .entry_only = true },
};

static void
library_try(void)
{
	static uint64_t start[STATE_WORDS], end[STATE_WORDS];
	void *lib = dlopen(in_work("r.so"), RTLD_NOW);
	char name[16];

	assert_non_null(lib);
	object_open(&object, in_work("r.so"), dlsym(lib, "f0"));
	for (unsigned i = 0; i < FUNCS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		for (unsigned k = 0; k < 14; k++)
			start[k] = random_chance(50) ?
					   random_below(100) :
					   (uint64_t)random_below(UINT32_MAX)
						   << 20;
		call((function *)dlsym(lib, name), start, false);
		memcpy(end, state, sizeof(end));
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
			relocated_try(func_named(object.image, name), start,
				      end, &kinds[k]);
	}
	object_close(&object);
	dlclose(lib);
	munmap(relocated_room, RELOCATED_ROOM);
	relocated_room = NULL;
}

static void
test_random(void **unused)
{
	const char *rounds = getenv("PMON_ROUNDS");

	for (long i = rounds		  ? atol(rounds) :
		      getenv("PMON_SLOW") ? 20 :
					    2;
	     i > 0; i--) {
		library_make();
		library_try();
	}
	print_message("# %u made, %u refused; %u dispatches, %u by index; %u "
		      "jumps, %u chains, %u traps; %lu parts run in both\n",
		      nrelocations, nrefused, ndispatches, nindexes,
		      vias[VIA_JUMP], vias[VIA_CHAIN], vias[VIA_TRAP], nstays);
	assert_true(ndispatches > nrelocations / 8);
	assert_true(nindexes > nrelocations / 16);
	assert_true(nrelocations > 3 * nrefused);
	assert_true(nstays > nrelocations / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, work_make, work_remove);
}
