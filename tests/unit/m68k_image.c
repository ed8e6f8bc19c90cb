/*
 * Images and graphs of 68000 and aarch64 programs: byte order, line rows,
 * functions, and jump tables, which may lie in the code.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/image_graphs.h"
#include "symtab/image.h"
#include "util/fail.h"

#include <cmocka.h>

struct sums {
	size_t funcs, bad, jumps, resolved, leaves;
	size_t jumping, clear;	/* functions with indirect jumps; those of
				   which all are resolved */
	size_t torn;		/* branches to what is said to be no
				   instruction, or the middle of one */
};

static struct cfg *
func_graph(struct graphs *graphs, const struct func *func)
{
	return graph_make(graphs, &(struct graph_input){
					  .ranges = func->ranges,
					  .n = func->nranges,
					  .entry = true,
				  });
}

static bool
func_has(const struct func *func, uint64_t addr)
{
	for (size_t i = 0; i < func->nranges; i++)
		if (addr >= func->ranges[i].lo && addr < func->ranges[i].hi)
			return true;
	return false;
}

static void
func_add(struct sums *sums, const struct func *func, const struct cfg *cfg)
{
	size_t jumps = sums->jumps, open = sums->jumps - sums->resolved;

	sums->funcs++;
	if (cfg->bad) {
		sums->bad++;
		print_message("# %s: no code at %" PRIx64 "\n", func->name,
			      cfg->bad);
	}
	for (size_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) &&
		    !cfg->bad && func_has(func, insn->target) &&
		    cfg_insn(cfg, insn->target) < 0) {
			sums->torn++;
			print_message("# %s: branch to %" PRIx64 "\n",
				      func->name, insn->target);
		}
		if (insn->kind != INSN_JUMP_INDIRECT)
			continue;
		sums->jumps++;
		sums->resolved += insn->flow != FLOW_PLAIN;
		sums->leaves += insn->flow == FLOW_LEAVES;
		if (insn->flow == FLOW_PLAIN)
			print_message("# %s: jump at %" PRIx64 "\n", func->name,
				      insn->addr);
	}
	sums->jumping += sums->jumps > jumps;
	sums->clear += sums->jumps > jumps &&
		       sums->jumps - sums->resolved == open;
}

static struct sums
image_sums(const char *path)
{
	struct image *image = image_open(path, NULL, IMAGE_FLOW | IMAGE_LINES,
					 NULL, NULL);
	struct graphs *graphs;
	struct sums sums = { 0 };

	if (!image)
		fail_msg("%s", fail_message());
	graphs = graphs_open(image);
	for (size_t i = 0; i < image->nfuncs; i++) {
		struct cfg *cfg = func_graph(graphs, &image->funcs[i]);

		func_add(&sums, &image->funcs[i], cfg);
		cfg_free(cfg);
	}
	graphs_close(graphs);
	image_close(image);
	print_message("# %s: %zu functions, %zu bad, %zu jumps, %zu resolved, "
		      "%zu leave; %zu of %zu functions\n",
		      path, sums.funcs, sums.bad, sums.jumps, sums.resolved,
		      sums.leaves, sums.clear, sums.jumping);
	return sums;
}

/* The number of the source line that is `text`, counted from 1. */
static uint32_t
source_line(const char *path, const char *text)
{
	FILE *f = fopen(path, "r");
	char line[256];
	uint32_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		n++;
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, text)) {
			fclose(f);
			return n;
		}
	}
	fail_msg("%s: no line \"%s\"", path, text);
	return 0;
}

static const struct func *
func_named(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->nfuncs; i++)
		if (!strcmp(image->funcs[i].name, name))
			return &image->funcs[i];
	fail_msg("%s: no function %s", image->path, name);
	return NULL;
}

static void
test_image(void **state)
{
	static const char *const paths[] = {
		"tests/m68k/many-O0.m68k",
		"tests/m68k/many-O0.m68000",
		"tests/m68k/many-O0.aarch64",
	};
	uint32_t line = source_line("tests/m68k/many.c", "fib(int n)");

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct image *image = image_open(paths[i], NULL, IMAGE_LINES,
						 NULL, NULL);
		const struct func *fib;
		bool row = false;

		assert_non_null(image);
		assert_int_equal(image->nremarks, 0);
		fib = func_named(image, "fib");
		assert_int_equal(fib->line, line);
		assert_string_equal(image->files[fib->file],
				    "tests/m68k/many.c");
		/* Its first row stands at its entry. */
		for (size_t k = 0; k < image->nrows; k++)
			row |= image->rows[k].addr == fib->addr &&
			       image->rows[k].file == fib->file &&
			       image->rows[k].line == line + 1;
		assert_true(row);
		image_close(image);
	}
}

/* dense() has 8 cases in a row, each with code of its own, and a default. */
static void
test_dense(void **state)
{
	static const char *const paths[] = {
		"tests/m68k/many-O0.m68k",    "tests/m68k/many-O2.m68k",
		"tests/m68k/many-O0.m68000",  "tests/m68k/many-O2.m68000",
		"tests/m68k/many-O0.aarch64", "tests/m68k/many-O2.aarch64",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct image *image = image_open(paths[i], NULL, IMAGE_FLOW,
						 NULL, NULL);
		struct graphs *graphs;
		struct cfg *cfg;
		size_t n = 0;

		assert_non_null(image);
		graphs = graphs_open(image);
		cfg = func_graph(graphs, func_named(image, "dense"));
		for (size_t k = 0; k < cfg->nedges; k++)
			n += cfg->edges[k].kind == EDGE_TABLE;
		assert_int_equal(n, 8);
		assert_false(cfg->unresolved);
		cfg_free(cfg);
		graphs_close(graphs);
		image_close(image);
	}
}

/* All code is decoded, no table is; all tables are found. */
static void
test_fixtures(void **state)
{
	static const char *const kinds[] = { "m68k", "m68000", "aarch64" };
	static const struct {
		const char *name;
		size_t jumps;
	} programs[] = { { "shell", 0 }, { "many", 2 } };

	for (int i = 0; i < 12; i++) {
		char path[64];
		struct sums sums;

		snprintf(path, sizeof(path), "tests/m68k/%s-O%d.%s",
			 programs[i & 1].name, i & 2, kinds[i / 4]);
		sums = image_sums(path);
		assert_true(sums.funcs > 10);
		assert_int_equal(sums.bad, 0);
		assert_int_equal(sums.jumps, programs[i & 1].jumps);
		assert_int_equal(sums.resolved, sums.jumps);
	}
}

/*
 * A library of real size: what could be resolved once still can.  Functions are
 * compared, as a compiler makes 11 jumps of those of vfprintf, or 30.
 */
static void
test_library(void **state)
{
	static const struct {
		const char *path;
		size_t percent;
	} libraries[] = {
		{ "/usr/m68k-linux-gnu/lib/libc.so.6", 90 },
		{ "/usr/aarch64-linux-gnu/lib/libc.so.6", 85 },
	};
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		struct sums sums;

		if (access(libraries[i].path, R_OK)) {
			print_message("# there is no %s\n", libraries[i].path);
			continue;
		}
		n++;
		sums = image_sums(libraries[i].path);
		assert_int_equal(sums.bad, 0);
		assert_int_equal(sums.torn, 0);
		assert_true(sums.clear * 100 >=
			    sums.jumping * libraries[i].percent);
	}
	if (!n)
		skip();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_library),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
