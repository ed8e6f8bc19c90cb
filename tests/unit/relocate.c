/*
 * Compiled code run from relocated functions: all functions of a library at
 * once, as compilers make them at every level.  It computes the same, what is
 * known in closed form is counted so, and blocks ran as often as single steps
 * saw them.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "relocate/patch_bytes.h"
#include "relocate/pc_map.h"
#include "tests/lib/relocation.h"
#include "tests/lib/build.h"

enum { FUNCS_MAX = INSTALLED_MAX };

static struct object object;
static struct relocation *relocations[FUNCS_MAX];
static const struct func *funcs[FUNCS_MAX];
static size_t nrelocations;
static char checkout[4096];
static bool optimised;
static unsigned long nlibraries, nentry_patches[ENTRY_PATCH_VIAS];

/* How often the library's functions are called by one work(). */
struct known {
	const char *name;
	uint64_t calls;
};

/*
 * fib(n) makes 2 fib(n + 1) - 1 calls of itself: 1973 for 15, and 20 times 5
 * for 3; even and odd take turns, 41 and 42 calls.
 */
static const struct known known[] = {
	{ "work", 1 },	     { "fib", 1973 + 20 * 5 },
	{ "classify", 240 }, { "even", 42 },
	{ "odd", 41 },	     { "dot", 1 },
	{ "average", 1 },    { "collatz", 29 },
	{ "bump", 1 },	     { "sorted", 1 },
	{ "strings", 1 },    { "interpret", 10 },
	{ "leap", 12 },	     { "wide", 1 },
};

/* They are left by a long jump, or entered so. */
static bool
func_abnormal_insns(const struct func *func)
{
	return strcmp(func->name, "leap") == 0 ||
	       strcmp(func->name, "jumping") == 0;
}

static void
plan_relocate(const struct make_options *options)
{
	for (size_t i = 0; i < object.image->nfuncs; i++) {
		const struct func *func = &object.image->funcs[i];
		struct relocation *c;

		if (func->name[0] == '_' || !func->nranges ||
		    strstr(func->name, "tm_clones") ||
		    strcmp(func->name, "frame_dummy") == 0)
			continue;
		c = relocation_make(&object, func, options, false);
		if (!c->relocated) {
			relocation_free(c);
			continue;
		}
		assert_true(nrelocations < FUNCS_MAX);
		relocation_install(c);
		funcs[nrelocations] = func;
		relocations[nrelocations++] = c;
	}
}

static void
relocated_remove(void)
{
	while (nrelocations) {
		relocation_remove(relocations[--nrelocations]);
		relocation_free(relocations[nrelocations]);
	}
	room_reset();
}

/*
 * The number of times that control came to the function's entry, if that is
 * known: compilers make loops of some calls.
 */
static uint64_t
calls_known(const char *name)
{
	for (size_t i = 0; !optimised && i < sizeof(known) / sizeof(*known);
	     i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].calls;
	return UINT64_MAX;
}

/* A string instruction is stepped once for each of its rounds. */
static bool
block_repeats(const struct relocation *c, uint32_t block)
{
	const struct insn *insn = &c->cfg->insns[c->cfg->blocks[block].first];
	size_t avail;
	const uint8_t *code = image_text(object.image, insn->addr, &avail);

	return *code == 0xf2 || *code == 0xf3;
}

static void
blocks_check(const struct func *func, const struct relocation *c)
{
	for (uint32_t b = 0; b < c->cfg->nblocks; b++) {
		const struct insn *insn =
			&c->cfg->insns[c->cfg->blocks[b].first];
		const struct count *count =
			&c->counts[arc_of_block(c->flow, FLOW_BLOCK + b)];
		uint64_t hits = trace.hits[insn->addr];

		if (count->state != COUNT_UNKNOWN && count->n != hits &&
		    !block_repeats(c, b))
			fail_msg("%s: %#lx ran %lu times, counted %lu",
				 func->name, insn->addr, hits, count->n);
	}
}

static void
counts_check(size_t i, uint64_t **first)
{
	const struct func *func = funcs[i];
	struct relocation *c = relocations[i];
	uint64_t calls = calls_known(func->name);
	uint32_t narcs = flow_arcs(c->flow);

	if (func_abnormal_insns(func))
		return;
	if (relocation_propagate(c) != FLOW_CONSISTENT)
		fail_msg("%s: the counts do not add up", func->name);
	if (calls != UINT64_MAX && c->counts[0].n != calls)
		fail_msg("%s: %lu calls, counted %lu", func->name, calls,
			 c->counts[0].n);
	blocks_check(func, c);
	if (!*first) {
		*first = mem_alloc((narcs + 1) * sizeof(**first));
		for (uint32_t arc = 0; arc < narcs; arc++)
			(*first)[arc] = c->counts[arc].state == COUNT_UNKNOWN ?
						UINT64_MAX :
						c->counts[arc].n;
	}
	for (uint32_t arc = 0; arc < narcs; arc++)
		if (c->counts[arc].state != COUNT_UNKNOWN &&
		    (*first)[arc] != UINT64_MAX &&
		    c->counts[arc].n != (*first)[arc])
			fail_msg("%s: arc %u ran %lu times, and before %lu",
				 func->name, arc, c->counts[arc].n,
				 (*first)[arc]);
}

/* How often each address of the library is come to, by single steps. */
static void
hits_make(long (*work_run)(void))
{
	uint64_t end = 0;

	for (size_t i = 0; i < object.image->nfuncs; i++)
		for (size_t k = 0; k < object.image->funcs[i].nranges; k++)
			if (object.image->funcs[i].ranges[k].hi > end)
				end = object.image->funcs[i].ranges[k].hi;
	trace.base = object.bias;
	trace.size = end;
	trace.hits = mem_alloc(end * sizeof(*trace.hits));
	trace.on = true;
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp);"
			 "popfq; lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
	work_run();
	trace.on = false;
}

static const struct make_options kinds[] = {
	{ .method = PLACE_EVERY },
	{ .method = PLACE_OPTIMAL },
	{ .method = PLACE_VERTEX },
	{ .method = PLACE_EVERY, .extent = EXTENT_PROBED },
	{ .method = PLACE_OPTIMAL, .extent = EXTENT_PROBED },
	{ .method = PLACE_OPTIMAL, .shared = true },
	{ .method = PLACE_OPTIMAL, .shared = true, .operand = 7 },
	{ .method = PLACE_EVERY, .operand = -1 },
	{ .method = PLACE_OPTIMAL, .operand = 1000 },
};

static void
library_try(const char *compiler, const char *flags)
{
	uint64_t *first[FUNCS_MAX] = { 0 };
	long (*work_run)(void), result;
	void *lib;

	optimised = strcmp(flags, "-O0") != 0;
	run("%s %s -shared -fPIC -o c.so '%s'/tests/prog/relocated.c", compiler,
	    flags, checkout);
	lib = dlopen(in_work("c.so"), RTLD_NOW);
	assert_non_null(lib);
	*(void **)&work_run = dlsym(lib, "work");
	object_open(&object, in_work("c.so"), *(void **)&work_run);
	result = work_run();
	hits_make(work_run);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		plan_relocate(&kinds[k]);
		if (work_run() != result)
			fail_msg("%s %s: another result, kind %zu", compiler,
				 flags, k);
		for (size_t i = 0; i < nrelocations; i++) {
			const struct relocated *made =
				relocations[i]->relocated;
			size_t at = (size_t)(funcs[i] - object.image->funcs);

			assert_true(at < FUNCS_MAX);
			counts_check(i, &first[at]);
			for (uint32_t p = 0; p < made->nentry_patches; p++)
				if (made->entry_patches[p].kind !=
				    ENTRY_PATCH_GUARD)
					nentry_patches[made->entry_patches[p]
							       .via]++;
		}
		assert_true(nrelocations >= (kinds[k].shared ? 8 : 16));
		relocated_remove();
		assert_int_equal(work_run(), result);
	}
	assert_int_equal(nguards, 0);
	for (size_t i = 0; i < FUNCS_MAX; i++)
		free(first[i]);
	free(trace.hits);
	trace.hits = NULL;
	object_close(&object);
	dlclose(lib);
	munmap(relocated_room, RELOCATED_ROOM);
	relocated_room = NULL;
	nlibraries++;
}

static void
test_compilers(void **unused)
{
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const levels[] = {
		"-O0",
		"-O1",
		"-O2",
		"-O3 -march=native",
		"-Os",
		"-O2 -fcf-protection=full",
		"-O2 -fno-plt -funroll-loops",
	};

	/* Of clang's every third, unless there is time. */
	for (size_t c = 0; c < 2; c++) {
		size_t by = c && !getenv("PMON_SLOW") ? 3 : 1;

		if (try("%s --version >/dev/null 2>&1", compilers[c])) {
			print_message("# no %s\n", compilers[c]);
			continue;
		}
		for (size_t i = 0; i < sizeof(levels) / sizeof(*levels);
		     i += by)
			library_try(compilers[c], levels[i]);
	}
	print_message("# %lu libraries; %lu jumps, %lu chains, %lu traps\n",
		      nlibraries, nentry_patches[VIA_JUMP],
		      nentry_patches[VIA_CHAIN], nentry_patches[VIA_TRAP]);
}

/* The sum of the odd numbers up to n, by a loop of three blocks. */
long looped(long n);

__asm__(".text\n"
	".type looped, @function\n"
	"looped:\n"
	"	xor %eax, %eax\n"
	"	test %rdi, %rdi\n"
	"	je 3f\n"
	"	.fill 30, 1, 0x90\n"
	"1:	test $1, %dil\n"
	"	je 2f\n"
	"	add %rdi, %rax\n"
	"2:	dec %rdi\n"
	"	jne 1b\n"
	"3:	ret\n"
	".size looped, . - looped\n");

/* A lock that is skipped, as glibc does where there is one thread only. */
long skipping(long n, int *counter);

__asm__(".text\n"
	".type skipping, @function\n"
	"skipping:\n"
	"	mov %rdi, %rax\n"
	"	test $1, %dil\n"
	"	je 1f + 1\n"
	"1:	lock incl (%rsi)\n"
	"	ret\n"
	".size skipping, . - skipping\n");

/* Functions that have to be refused, or are entered where no one knows. */
long guarded(long n);
long guarded_inside(void);

__asm__(".text\n"
	".type guarded, @function\n"
	"guarded:\n"
	"	mov $5, %eax\n"
	"	jmp 2f\n"
	".globl guarded_inside\n"
	"guarded_inside:\n"
	"	mov $7, %eax\n"
	"1:	add $100, %rax\n"
	"	ret\n"
	"2:	test %rdi, %rdi\n"
	"	je guarded_inside\n"
	"	js 1b\n"
	"	ret\n"
	".size guarded, . - guarded\n"
	".type refused_middle, @function\n"
	"refused_middle:\n"
	"	je 1f + 1\n"
	"1:	mov $0xc3c3c3c3, %eax\n"
	"	ret\n"
	".size refused_middle, . - refused_middle\n"
	".type refused_call, @function\n"
	"refused_call:\n"
	"	call 1f\n"
	"	inc %eax\n"
	"1:	inc %ecx\n"
	"	ret\n"
	".size refused_call, . - refused_call\n"
	".type refused_address, @function\n"
	"refused_address:\n"
	"	lea 1f + 1(%rip), %rax\n"
	"	inc %ecx\n"
	"1:	inc %ecx\n"
	"	ret\n"
	".size refused_address, . - refused_address\n"
	".type takes_label, @function\n"
	"takes_label:\n"
	"	lea 1f(%rip), %rax\n"
	"	inc %ecx\n"
	"1:	inc %ecx\n"
	"	ret\n"
	".size takes_label, . - takes_label\n"
	".type refused_eip, @function\n"
	"refused_eip:\n"
	"	mov 5(%eip), %eax\n"
	"	ret\n"
	".size refused_eip, . - refused_eip\n"
	".type refused_flags, @function\n"
	"refused_flags:\n"
	"	cmp %rsi, %rdi\n"
	"	je 1f\n"
	"	jg 2f\n"
	"	inc %eax\n"
	"1:	inc %eax\n"
	"2:	ret\n"
	".size refused_flags, . - refused_flags\n");

static struct relocation *
own_relocated(const char *name, const struct make_options *options)
{
	if (!object.image)
		object_open(&object, "/proc/self/exe", (void *)guarded);
	return relocation_make(&object, func_named(object.image, name), options,
			       false);
}

/* What is entered where no one knows is counted, and it is told. */
static void
test_guard(void **unused)
{
	struct relocation *c = own_relocated(
		"guarded", &(struct make_options){ .method = PLACE_EVERY });
	uint64_t addr = (uint64_t)guarded_inside - object.bias;
	const struct entry_patch *entry_patch;

	if (!c->relocated)
		fail_msg("%s", fail_message());
	entry_patch = relocated_entry_patch(c->relocated, addr);
	assert_non_null(entry_patch);
	assert_int_equal(entry_patch->kind, ENTRY_PATCH_GUARD);
	relocation_install(c);
	assert_int_equal(guarded(3), 5);
	assert_int_equal(guarded(0), 107);
	assert_int_equal(guarded(-1), 105);
	assert_int_equal(nguards, 0);
	assert_int_equal(guarded_inside(), 107);
	assert_int_equal(nguards, 1);
	assert_int_equal(guards[0], addr);
	nguards = 0;
	for (uint32_t i = 0; i < c->placement->narcs; i++)
		if (c->placement->arcs[i] ==
		    arc_of_block(c->flow, FLOW_BLOCK + (uint32_t)cfg_block(
							       c->cfg, addr)))
			assert_int_equal(c->counters[i], 2);
	relocation_remove(c);
	assert_int_equal(guarded(-1), 105);
	assert_int_equal(guarded_inside(), 107);
	room_reset();
	relocation_free(c);
}

/* How many of a relocated function's fragments count the arc? */
static unsigned
fragments_counting(const struct relocated *relocated, uint32_t arc)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < relocated->nfragments; i++)
		n += relocated->fragments[i].kind == FRAGMENT_PROBE &&
		     relocated->probes[relocated->fragments[i].probe].element ==
			     arc;
	return n;
}

/*
 * No counter of a loop is added to in successive rounds, and its rounds add
 * up; and the loop touches as few lines of 64 bytes as it can.
 */
static void
test_loop(void **unused)
{
	struct relocation *c = own_relocated(
		"looped", &(struct make_options){ .method = PLACE_EVERY });
	uint64_t *sums = mem_alloc(c->placement->narcs * sizeof(*sums));
	uint32_t first = 0, last = 0;
	unsigned nloops = 0;

	for (uint32_t i = 0; i < c->relocated->nfragments; i++) {
		const struct fragment *fragment = &c->relocated->fragments[i];

		if (fragment->kind != FRAGMENT_ALIGN)
			continue;
		nloops++;
		assert_int_equal(c->relocated->fragments[fragment->to].to,
				 i + 1);
		first = fragment[1].offset;
		last = c->relocated->fragments[fragment->to + 1].offset - 1;
	}
	assert_int_equal(nloops, 1);
	assert_int_equal(c->relocated->align, 64);
	assert_int_equal(last / 64 - first / 64, (last - first) / 64);
	relocation_install(c);
	for (long n = 0; n < 8; n++)
		assert_int_equal(looped(n), (n + 1) / 2 * ((n + 1) / 2));
	relocation_remove(c);
	relocation_sum(c, sums);
	for (uint32_t i = 0; i < c->placement->narcs; i++) {
		uint32_t arc = c->placement->arcs[i];

		if (arc ==
		    arc_of_block(
			    c->flow,
			    FLOW_BLOCK +
				    (uint32_t)cfg_block(
					    c->cfg,
					    c->cfg->insns[c->cfg->ninsns - 3]
						    .addr))) {
			assert_int_equal(sums[i], 7 * 8 / 2);
			assert_int_equal(fragments_counting(c->relocated, arc),
					 2);
			nloops++;
		}
	}
	assert_int_equal(nloops, 2);
	free(sums);
	room_reset();
	relocation_free(c);
}

/* Where only calls are counted the loop itself runs in place, as it was. */
static void
test_loop_in_place(void **unused)
{
	struct relocation *c = own_relocated(
		"looped", &(struct make_options){ .method = PLACE_EVERY,
						  .entry_only = true,
						  .extent = EXTENT_PROBED });
	const struct insn *insns = c->cfg->insns;
	uint64_t head = insns[c->cfg->ninsns - 6].addr;

	assert_int_equal(cfg_block(c->cfg, head) >= 0, true);
	assert_int_equal(c->placement->narcs, 1);
	relocation_install(c);
	for (size_t i = 0; i < c->cfg->ninsns; i++)
		assert_int_equal(
			relocated_offset(c->relocated, insns[i].addr) < 0,
			insns[i].addr >= head && i < c->cfg->ninsns - 1);
	for (long n = 0; n < 8; n++)
		assert_int_equal(looped(n), (n + 1) / 2 * ((n + 1) / 2));
	assert_int_equal(c->counters[0], 8);
	relocation_remove(c);
	room_reset();
	relocation_free(c);
}

/* Run it eight times, in its relocated function. */
static void
skipping_run(struct relocation *c)
{
	int counter = 0;

	if (!c->relocated)
		fail_msg("%s", fail_message());
	relocation_install(c);
	for (long n = 0; n < 8; n++)
		assert_int_equal(skipping(n, &counter), n);
	assert_int_equal(counter, 8);
}

/* So does what a branch leads to the middle of. */
static void
test_middle_in_place(void **unused)
{
	struct relocation *c = own_relocated(
		"skipping", &(struct make_options){ .method = PLACE_EVERY,
						    .entry_only = true,
						    .extent = EXTENT_PROBED });

	skipping_run(c);
	assert_int_equal(c->counters[0], 8);
	relocation_remove(c);
	room_reset();
	relocation_free(c);
}

/* The same where all is: the instruction is come to in two ways. */
static void
test_skipping_whole(void **unused)
{
	struct relocation *c = own_relocated(
		"skipping", &(struct make_options){ .method = PLACE_EVERY });

	skipping_run(c);
	assert_int_equal(c->placement->narcs, 2);
	assert_int_equal(c->counters[0], 8);
	assert_int_equal(c->counters[1], 8);
	relocation_remove(c);
	room_reset();
	relocation_free(c);
}

static void
refused_with(const char *name, const char *why, bool shared)
{
	struct relocation *c = own_relocated(
		name, &(struct make_options){ .method = PLACE_EVERY,
					      .shared = shared });

	assert_null(c->relocated);
	if (!strstr(fail_message(), why))
		fail_msg("%s: %s", name, fail_message());
	relocation_free(c);
}

static void
relocated_whole(const char *name, const struct make_options *options)
{
	struct relocation *c = own_relocated(name, options);

	if (!c->relocated)
		fail_msg("%s: %s", name, fail_message());
	relocation_free(c);
}

static void
test_refused(void **unused)
{

	refused_with("refused_middle", "leads to the middle of an instruction",
		     false);
	refused_with("refused_call", "leads to the middle of its own function",
		     false);
	refused_with("refused_address", "takes the address of code", false);
	refused_with("refused_eip", "cannot be relocated", false);
	refused_with("refused_flags", "flags are in use", true);
	relocated_whole("refused_flags",
			&(struct make_options){ .method = PLACE_EVERY });
	/* Counters elsewhere do as well. */
	relocated_whole("refused_flags",
			&(struct make_options){ .method = PLACE_OPTIMAL,
						.shared = true });
	/* Unlike refused_address's, this address begins a block. */
	relocated_whole("takes_label",
			&(struct make_options){ .method = PLACE_EVERY });
}

/* What is more than 2 GB away cannot be reached. */
static void
test_far(void **unused)
{
	struct relocation *c = own_relocated(
		"guarded", &(struct make_options){ .method = PLACE_EVERY });
	struct relocated_place place = {
		.va = object.bias + (UINT64_C(5) << 30),
		.bias = object.bias,
	};
	struct code_patch patches[2];
	uint8_t *bytes = mem_alloc(c->relocated->size);

	place.va &= ~(uint64_t)(c->relocated->align - 1);
	assert_int_equal(relocated_write(c->relocated, &place, bytes), 0);
	assert_int_equal(entry_patch_bytes(c->relocated,
					   c->relocated->entry_patches, &place,
					   patches),
			 -1);
	place.slots = UINT64_C(1) << 32;
	assert_int_equal(relocated_write(c->relocated, &place, bytes), -1);
	assert_non_null(strstr(fail_message(), "too far"));
	free(bytes);
	relocation_free(c);
	object_close(&object);
	object = (struct object){ 0 };
	munmap(relocated_room, RELOCATED_ROOM);
	relocated_room = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_loop_in_place),
		cmocka_unit_test(test_middle_in_place),
		cmocka_unit_test(test_skipping_whole),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_compilers),
	};

	if (!getcwd(checkout, sizeof(checkout)))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, work_make, work_remove);
}
