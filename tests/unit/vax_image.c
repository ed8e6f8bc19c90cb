/*
 * What is read of VAX programs (tests/vax): ELF of 32 bits, DWARF of a cross
 * compiler, and the graphs of their functions.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/cfg.h"
#include "symtab/image.h"
#include "util/fail.h"

#include <cmocka.h>

static const struct func *
func_named(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->nfuncs; i++)
		if (!strcmp(image->funcs[i].name, name))
			return &image->funcs[i];
	return NULL;
}

static const uint8_t *
text(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(ctx, addr, avail);
}

static const uint8_t *
data(void *ctx, uint64_t addr, size_t *avail)
{
	return image_data(ctx, addr, avail);
}

static struct cfg *
func_cfg(const struct image *image, const struct func *func)
{
	uint64_t lo = image->arch->first(func->addr);
	uint64_t hi = func->ranges[0].hi;

	return cfg_make(&(struct cfg_input){
		.arch = image->arch,
		.lo = &lo,
		.hi = &hi,
		.n = 1,
		.text = text,
		.data = data,
		.ctx = (void *)image,
	});
}

/* The line of the source that has the text, from 1 on. */
static uint32_t
source_line(const char *path, const char *what)
{
	FILE *f = fopen(path, "r");
	char line[256];
	uint32_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		n++;
		if (strstr(line, what)) {
			fclose(f);
			return n;
		}
	}
	fclose(f);
	return 0;
}

static void
test_shell(void **state)
{
	struct image *image = image_open("tests/vax/shell.O0", NULL,
					 IMAGE_LINES | IMAGE_INLINES |
						 IMAGE_FLOW,
					 NULL, NULL);
	const struct func *func;
	uint32_t line;
	bool row = false;

	assert_non_null(image);
	assert_ptr_equal(image->arch, &arch_vax);
	assert_true(image->has_dwarf);
	assert_false(image->dyn);
	assert_int_equal(image->nremarks, 0);
	func = func_named(image, "shell");
	assert_non_null(func);
	assert_string_equal(image->files[func->file], "tests/vax/src/shell.c");
	line = source_line("tests/vax/src/shell.c", "shell(int *v");
	assert_int_equal(func->line, line);
	line = source_line("tests/vax/src/shell.c", "t = v[j];");
	for (size_t i = 0; i < image->nrows; i++)
		row |= image->rows[i].line == line &&
		       image_func(image, image->rows[i].addr) == func;
	assert_true(row);
	image_close(image);
}

/*
 * All code of all functions decodes, and every switch is followed, of which
 * there are as many as objdump sees CASE instructions.
 */
static void
graphs_check(const char *path, size_t tables)
{
	struct image *image = image_open(path, NULL, IMAGE_FLOW, NULL, NULL);
	size_t ncases = 0;

	assert_non_null(image);
	for (size_t i = 0; i < image->nfuncs; i++) {
		struct cfg *cfg = func_cfg(image, &image->funcs[i]);

		if (cfg->bad || cfg->unresolved)
			print_message("# %s\n", image->funcs[i].name);
		assert_int_equal(cfg->bad, 0);
		assert_false(cfg->unresolved);
		for (size_t k = 0; k < cfg->ninsns; k++)
			ncases += cfg->insns[k].kind == INSN_JUMP_INDIRECT;
		cfg_free(cfg);
	}
	image_close(image);
	print_message("# %s: %zu tables\n", path, ncases);
	assert_int_equal(ncases, tables);
}

static void
test_graphs(void **state)
{
	graphs_check("tests/vax/shell.O0", 0);
	graphs_check("tests/vax/shell.O2", 0);
	graphs_check("tests/vax/signals.O0", 1);
	graphs_check("tests/vax/signals.O2", 1);
	graphs_check("tests/vax/lang.O0", 1);
	graphs_check("tests/vax/lang.O2", 1);
	graphs_check("tests/vax/bzip.O2", 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_graphs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
