/*
 * Every function of real programs and libraries is relocated, without running
 * it: what is relocated are the same instructions, and no patch is on anything
 * that still runs.  With files as arguments it prints figures about those.
 */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "flow/propagate.h"
#include "probe/probes.h"
#include "program/code.h"
#include "program/image_graphs.h"
#include "relocate/patch_bytes.h"
#include "relocate/pc_map.h"
#include "relocate/relocate.h"
#include "tests/lib/build.h"
#include "util/mem.h"

enum { COUNTERS = 64, SCRATCH = 8, REASONS = 12 };

static const uint64_t BIAS = UINT64_C(0x555555554000);

static struct figures {
	unsigned long relocations, refused,
		entry_patches[ENTRY_PATCH_KINDS][ENTRY_PATCH_VIAS];
	unsigned long unguarded, in_place, counts, keeps, was, is, calls;
	double seconds;
	struct reason {
		char text[80];
		unsigned long n;
	} reasons[REASONS];
} figures;

static struct image *image;
static const struct arch *arch;

/* Why, without the address. */
static void
refused(const char *why)
{
	char text[80];
	size_t n = 0, i;

	for (; *why && n < sizeof(text) - 1; why++) {
		if (why[0] == '0' && why[1] == 'x')
			why += strspn(why, "0123456789abcdefx");
		text[n++] = *why;
	}
	text[n] = 0;
	for (i = 0; i < REASONS - 1 && figures.reasons[i].n &&
		    strcmp(figures.reasons[i].text, text) != 0;
	     i++)
		;
	memcpy(figures.reasons[i].text, text, n + 1);
	figures.reasons[i].n++;
	figures.refused++;
}

static const uint8_t *
text_at(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(ctx, addr, avail);
}

static void
insn_text(const uint8_t *code, size_t size, uint64_t va, char *buf)
{
	if (arch->print(code, size, va, buf, 128))
		snprintf(buf, 128, "none");
}

/* Is the fragment what it was? */
static void
fragment_check(const struct relocated *relocated,
	       const struct relocated_place *place,
	       const struct fragment *fragment, const uint8_t *bytes)
{
	char was[128], is[128];
	size_t avail;
	const uint8_t *code = image_text(image, fragment->addr, &avail);
	uint64_t va = place->va + fragment->offset;
	struct insn insn;

	insn_text(code, avail, place->bias + fragment->addr, was);
	insn_text(bytes + fragment->offset, fragment->size, va, is);
	if (fragment->kind == FRAGMENT_INSN) {
		if (strcmp(was, is) != 0)
			fail_msg("%#" PRIx64 ": %s, in the copy %s",
				 fragment->addr, was, is);
		return;
	}
	if (fragment->kind != FRAGMENT_BRANCH && fragment->kind != FRAGMENT_GO)
		return;
	assert_int_equal(arch->decode(bytes + fragment->offset, fragment->size,
				      va, &insn),
			 0);
	if (fragment->kind == FRAGMENT_BRANCH)
		assert_int_equal(strcspn(was, " "), strcspn(is, " "));
	if (fragment->kind == FRAGMENT_BRANCH)
		assert_memory_equal(was, is, strcspn(was, " "));
	if (insn.len == fragment->size)
		assert_int_equal(
			insn.target,
			fragment->to == FRAGMENT_OUT ?
				place->bias + fragment->target :
				place->va + relocated->fragments[fragment->to]
						    .offset);
}

struct span {
	uint64_t lo, hi;
};

static int
span_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

/* No two patches meet, and none is on an instruction that runs in place. */
static void
patches_check(const struct relocated *relocated,
	      const struct relocated_place *place, const struct cfg *cfg,
	      const struct flow *flow)
{
	struct span *spans = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < relocated->nentry_patches; i++) {
		struct code_patch patches[2];
		int k = entry_patch_bytes(relocated,
					  &relocated->entry_patches[i], place,
					  patches);

		assert_true(k > 0);
		while (k-- > 0)
			*vec_push(spans, n) = (struct span){
				patches[k].va - BIAS,
				patches[k].va - BIAS + patches[k].len
			};
	}
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		uint32_t v = FLOW_BLOCK + b;

		for (uint32_t i = block->first;
		     flow->in[v] != flow->in[v + 1] &&
		     i < block->first + block->count;
		     i++)
			if (relocated_offset(relocated, cfg->insns[i].addr) < 0)
				*vec_push(spans, n) = (struct span){
					cfg->insns[i].addr,
					cfg->insns[i].addr + cfg->insns[i].len
				};
	}
	if (n)
		qsort(spans, n, sizeof(*spans), span_compare);
	for (size_t i = 1; i < n; i++)
		if (spans[i - 1].hi > spans[i].lo)
			fail_msg("%#" PRIx64 " is changed or run twice",
				 spans[i].lo);
	free(spans);
}

static void
relocated_count(const struct relocated *relocated)
{
	figures.relocations++;
	figures.is += relocated->size;
	figures.unguarded += relocated->unguarded;
	figures.in_place += relocated->in_place;
	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		figures.entry_patches[relocated->entry_patches[i].kind]
				     [relocated->entry_patches[i].via]++;
	for (uint32_t i = 0; i < relocated->nfragments; i++) {
		const struct fragment *fragment = &relocated->fragments[i];

		figures.calls += fragment->kind == FRAGMENT_CALL;
		if (fragment->kind != FRAGMENT_PROBE)
			continue;
		figures.counts += fragment->form == PROBE_THREAD;
		figures.keeps += fragment->form == PROBE_THREAD_KEEP;
	}
}

static bool
relocated_check(const struct cfg *cfg, const struct flow *flow,
		const struct placement *placement,
		const struct weights *weights, const struct spare *spare)
{
	struct relocated_place place = {
		.va = BIAS - (UINT64_C(64) << 20),
		.bias = BIAS,
		.slots = COUNTERS,
		.page.scratch = SCRATCH,
	};
	clock_t begin = clock();
	struct probe_list list = { 0 };
	struct relocated *relocated;
	uint8_t *bytes;

	probes_count(&list, placement);
	relocated = relocated_make(&(struct relocate_input){
		.arch = arch,
		.cfg = cfg,
		.flow = flow,
		.weights = weights,
		.probes = list.probes,
		.nprobes = list.n,
		.slot = list.slot,
		.text = text_at,
		.ctx = image,
		.spares = spare,
		.nspares = spare != NULL,
	});

	probe_list_free(&list);
	if (!relocated) {
		figures.seconds += (double)(clock() - begin) / CLOCKS_PER_SEC;
		refused(fail_message());
		return false;
	}
	bytes = mem_alloc(relocated->size + 1);
	if (relocated_write(relocated, &place, bytes))
		fail_msg("%s", fail_message());
	figures.seconds += (double)(clock() - begin) / CLOCKS_PER_SEC;
	for (uint32_t i = 0; i < relocated->nfragments; i++)
		if (relocated->fragments[i].len)
			fragment_check(relocated, &place,
				       &relocated->fragments[i], bytes);
	patches_check(relocated, &place, cfg, flow);
	relocated_count(relocated);
	free(bytes);
	relocated_free(relocated);
	return true;
}

static uint64_t
next_code(const struct code_map *map, uint64_t addr)
{
	uint64_t next = addr + 64;

	for (size_t i = 0; i < map->ncodes; i++)
		for (size_t k = 0; k < map->codes[i].nranges; k++)
			if (map->codes[i].ranges[k].lo >= addr &&
			    map->codes[i].ranges[k].lo < next)
				next = map->codes[i].ranges[k].lo;
	return next;
}

static void
code_try(struct graphs *graphs, const struct code_map *map,
	 const struct code *code)
{
	struct cfg *cfg = graph_make(graphs, &(struct graph_input){
						     .ranges = code->ranges,
						     .n = code->nranges,
						     .entry = code->entry,
					     });
	struct flow *flow = flow_build(cfg, NULL, 0);
	struct weights *weights = weights_guess(flow, cfg);
	struct placement *placement = placement_make(
		flow, weights, &(struct placement_input){ .tables = false });
	struct spare spare;

	/* The search is linear. */
	spare = spare_padding(arch, text_at, image, code->ranges[0].hi,
			      map->ncodes > 40000 ?
				      code->ranges[0].hi + 16 :
				      next_code(map, code->ranges[0].hi));
	for (size_t i = 0; i < code->nranges; i++)
		figures.was += code->ranges[i].hi - code->ranges[i].lo;
	relocated_check(cfg, flow, placement, weights,
			spare.lo < spare.hi ? &spare : NULL);
	placement_free(placement);
	weights_free(weights);
	flow_free(flow);
	cfg_free(cfg);
}

static void
figures_print(const char *path)
{
	static const char *const kinds[] = {
		"entry", "return", "pad", "table", "inside", "guard",
	};

	print_message("# %s: %lu KB, %lu functions relocated in %lu KB, %lu "
		      "refused, %.0f ms per MB\n",
		      path, figures.was >> 10, figures.relocations,
		      figures.is >> 10, figures.refused,
		      1e3 * figures.seconds / (double)figures.was * 1e6);
	print_message("#   counters %lu, %lu of them keep flags; returns in "
		      "place %lu; calls moved %lu; not guarded %lu\n",
		      figures.counts + figures.keeps, figures.keeps,
		      figures.in_place, figures.calls, figures.unguarded);
	for (unsigned i = 0; i < ENTRY_PATCH_KINDS; i++)
		print_message("#   %-8s jump %6lu chain %5lu trap %6lu\n",
			      kinds[i], figures.entry_patches[i][VIA_JUMP],
			      figures.entry_patches[i][VIA_CHAIN],
			      figures.entry_patches[i][VIA_TRAP]);
	for (unsigned i = 0; i < REASONS; i++)
		if (figures.reasons[i].n)
			print_message("#   %5lu %s\n", figures.reasons[i].n,
				      figures.reasons[i].text);
}

static void
file_try(const char *path)
{
	struct code_map *map;
	struct graphs *graphs;

	figures = (struct figures){ 0 };
	image = image_open(path, NULL, IMAGE_FLOW, NULL, NULL);
	if (!image)
		fail_msg("%s", fail_message());
	arch = image->arch;
	map = code_map_make(image, false);
	graphs = graphs_open(image);
	for (size_t i = 0; i < map->ncodes; i++)
		code_try(graphs, map, &map->codes[i]);
	figures_print(path);
	assert_true(figures.relocations > 8 * figures.refused);
	graphs_close(graphs);
	code_map_free(map);
	image_close(image);
}

static char **files;

static void
test_files(void **state)
{
	static const char *const usual[] = {
		"/bin/bash",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	};

	for (; files && *files; files++)
		file_try(*files);
	for (size_t i = 0; !files && i < sizeof(usual) / sizeof(*usual); i++)
		if (access(usual[i], R_OK) == 0)
			file_try(usual[i]);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_files) };

	if (argc > 1)
		files = argv + 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
