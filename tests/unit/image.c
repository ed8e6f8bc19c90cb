/*
 * Opening images and the functions in them, against readelf's symbol tables
 * and against assembler sources that say where everything is.
 */
#include <unistd.h>

#include "tests/lib/build.h"

/* Each way to build the sample; those a compiler cannot are left out. */
static const char *const builds[] = {
	"cc -O0 -no-pie",
	"cc -O2 -fPIE -pie",
	"cc -O2 -g -fPIE -pie",
	"cc -O2 -static",
	"cc -O1 -g -static-pie",
	"cc -O2 -g -shared -fPIC",
	"cc -O2 -g -ffunction-sections -Wl,--gc-sections",
	"cc -O2 -g -Wl,-z,noseparate-code",
	"cc -O2 -flto",
	"clang -O2 -g -fPIE -pie",
	"clang -O0 -no-pie",
};

static const char sample[] =
	"#include <stdio.h>\n"
	"static int helper(int n) { return n * n + getchar(); }\n"
	"int __attribute__((weak)) weak(int n) { return helper(n + 1); }\n"
	"int twin(int n) { return helper(n) - weak(n); }\n"
	"int twin2(int) __attribute__((alias(\"twin\")));\n"
	"static int plain(void) { return 4; }\n"
	"static int (*choose(void))(void) { return plain; }\n"
	"int chosen(void) __attribute__((ifunc(\"choose\")));\n"
	"int main(void) { return twin(3) + chosen(); }\n";

static bool
func_has_name(const struct func *func, const char *name)
{
	if (strcmp(func->name, name) == 0)
		return true;
	for (size_t i = 0; i < func->naliases; i++)
		if (strcmp(func->aliases[i], name) == 0)
			return true;
	return false;
}

/* Every function symbol that readelf shows is in the image; how many. */
static size_t
symbols_check(const struct image *image, const char *name)
{
	char line[1024], symbol[512], type[32], index[32];
	unsigned long addr;
	size_t found = 0;
	FILE *out;

	snprintf(line, sizeof(line), "readelf -sW %s 2>/dev/null", name);
	out = output(line);
	while (fgets(line, sizeof(line), out)) {
		const struct func *func;

		if (sscanf(line, " %*d: %lx %*s %31s %*s %*s %31s %511s", &addr,
			   type, index, symbol) != 4 ||
		    (strcmp(type, "FUNC") && strcmp(type, "IFUNC")) ||
		    strcmp(index, "UND") == 0 || strstr(symbol, ".cold"))
			continue;
		if (symbol[strcspn(symbol, "@")])
			symbol[strcspn(symbol, "@")] = '\0';
		func = image_func(image, addr);
		if (!func || func->addr != addr || !func_has_name(func, symbol))
			fail_msg("%s: no function %s at %lx", name, symbol,
				 addr);
		found++;
	}
	pclose(out);
	return found;
}

static void
functions_are_the_symbols(void **state)
{
	size_t built = 0;

	source("sample.c", sample);
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		struct image *image;

		if (try("%s -w -o sample sample.c 2>/dev/null", builds[i]))
			continue;
		built++;
		image = opened("sample", 0);
		assert_true(symbols_check(image, "sample") > 5);
		for (size_t k = 0; k < image->nfuncs; k++)
			assert_int_equal(image->funcs[k].origin, FUNC_SYMTAB);
		assert_int_equal(image->dyn,
				 !strstr(builds[i], "no-pie") &&
					 strcmp(builds[i], "cc -O2 -static") !=
						 0);
		assert_int_equal(image->interp != NULL,
				 !strstr(builds[i], "-static") &&
					 !strstr(builds[i], "-shared"));
		assert_false(image->stripped);
		image_close(image);
	}
	assert_true(built >= 5);
}

static void
names_are_chosen(void **state)
{
	struct image *image;
	const struct func *func;

	source("alias.c",
	       "int alphabet(void) { return 1; }\n"
	       "int beta(void) __attribute__((alias(\"alphabet\")));\n"
	       "int _b(void) __attribute__((alias(\"alphabet\")));\n"
	       "int w(void) __attribute__((weak, alias(\"alphabet\")));\n"
	       "static int l(void) __attribute__((alias(\"alphabet\")));\n"
	       "int main(void) { return l(); }\n");
	run("cc -O0 -w -o alias alias.c");
	image = opened("alias", 0);
	func = func_named(image, "beta");
	assert_non_null(func);
	assert_int_equal(func->naliases, 4);
	assert_string_equal(func->aliases[0], "alphabet");
	assert_string_equal(func->aliases[1], "_b");
	assert_string_equal(func->aliases[2], "w");
	assert_string_equal(func->aliases[3], "l");
	image_close(image);
}

static const char assembler[] =
	"	.text\n"
	"	.globl	main, inner, outer, late\n"
	"	.type	main, @function\n"
	"	.type	outer, @function\n"
	"	.type	inner, @function\n"
	"	.type	late, @function\n"
	"	.type	data, @function\n"
	"	.p2align 4\n"
	"main:	xor	%eax, %eax\n"	/* no size: up to outer */
	"	ret\n"
	"	.p2align 4\n"
	"outer:	nop\n"
	"	nop\n"
	"inner:	nop\n"
	"	nop\n"
	"	.size	inner, 2\n"
	"	nop\n"
	"	ret\n"
	"	.size	outer, 6\n"
	"	ud2\n"			/* nobody's */
	"	.section .ending, \"ax\"\n"
	"late:	nop\n"			/* no size: up to the section's end */
	"	nop\n"
	"	ret\n"
	"	.data\n"
	"data:	.quad	0\n"		/* no code, whatever its type */
	"	.section .note.GNU-stack, \"\"\n";

static void
sizes_and_overlaps(void **state)
{
	const struct func *main_func, *outer, *inner, *late;
	struct image *image;

	source("sizes.s", assembler);
	run("cc -o sizes sizes.s");
	image = opened("sizes", 0);
	main_func = func_named(image, "main");
	outer = func_named(image, "outer");
	inner = func_named(image, "inner");
	late = func_named(image, "late");
	assert_true(main_func && outer && inner && late);
	assert_null(func_named(image, "data"));
	assert_int_equal(main_func->addr + main_func->size, outer->addr);
	assert_int_equal(late->size, 3);
	assert_int_equal(inner->addr, outer->addr + 2);
	assert_int_equal(inner->size, 2);
	assert_int_equal(inner->nranges, 1);
	assert_int_equal(outer->size, 2);
	assert_int_equal(outer->nranges, 2);
	assert_int_equal(outer->ranges[1].lo, outer->addr + 4);
	assert_int_equal(outer->ranges[1].hi, outer->addr + 6);
	assert_ptr_equal(image_func(image, outer->addr + 1), outer);
	assert_ptr_equal(image_func(image, outer->addr + 3), inner);
	assert_ptr_equal(image_func(image, outer->addr + 5), outer);
	assert_null(image_func(image, outer->addr + 6));
	image_close(image);
}

/* Two files with static functions of one name, both split. */
#define SPLIT(n) \
	"void __attribute__((cold)) fatal(int);\n" \
	"static int __attribute__((noinline)) sum(int *v, int n) {\n" \
	"	int s = 0;\n" \
	"	for (int i = 0; i < n; i++) {\n" \
	"		if (v[i] < 0) { fatal(i); fatal(s * " n "); s = 3; }" \
	"\n" \
	"		s += v[i] * " n ";\n" \
	"	}\n" \
	"	return s;\n" \
	"}\n" \
	"int sum" n "(int *v, int n) { return sum(v, n) + " n "; }\n"

static void
split_parts_belong_to_their_function(void **state)
{
	static const char *const files[] = { "split", "split-nodwarf" };
	char line[256], name[64];
	size_t parts = 0;
	unsigned long addr, size;
	FILE *out;

	source("s1.c", SPLIT("1"));
	source("s2.c", SPLIT("2"));
	source("s.c", "#include <stdlib.h>\n"
		      "void fatal(int n) { exit(n); }\n"
		      "int sum1(int *, int), sum2(int *, int);\n"
		      "int main(int c, char **v) {\n"
		      "	return sum1(&c, 1) + sum2(&c, 1); }\n");
	run("gcc -g -O2 -o split s1.c s2.c s.c");
	run("strip --strip-debug --keep-file-symbols -o split-nodwarf split");
	for (int i = 0; i < 2; i++) {
		struct image *image = opened(files[i], 0);

		for (size_t k = 0; k < image->nfuncs; k++)
			assert_null(strstr(image->funcs[k].name, ".cold"));
		out = output("readelf -sW split");
		while (fgets(line, sizeof(line), out)) {
			const struct func *func;

			if (sscanf(line, " %*d: %lx %lu %*s %*s %*s %*s %63s",
				   &addr, &size, name) != 3 ||
			    !strstr(name, ".cold"))
				continue;
			func = image_func(image, addr);
			assert_non_null(func);
			assert_string_equal(func->name, "sum");
			assert_int_equal(func->nranges, 2);
			assert_int_equal(func->ranges[1].lo, addr);
			assert_int_equal(func->ranges[1].hi, addr + size);
			parts++;
		}
		pclose(out);
		image_close(image);
	}
	if (parts != 4) {
		print_message("# SKIP gcc split %zu functions, not 4\n", parts);
		skip();
	}
}

/* Which function has which part must not depend on DWARF. */
static void
split_parts_by_name_as_by_dwarf(void **state)
{
	struct image *with = opened("split", 0);
	struct image *without = opened("split-nodwarf", 0);

	assert_int_equal(with->nfuncs, without->nfuncs);
	for (size_t i = 0; i < with->nfuncs; i++) {
		const struct func *a = &with->funcs[i];
		const struct func *b = &without->funcs[i];

		assert_int_equal(a->addr, b->addr);
		assert_int_equal(a->nranges, b->nranges);
		assert_memory_equal(a->ranges, b->ranges,
				    a->nranges * sizeof(*a->ranges));
	}
	image_close(with);
	image_close(without);
}

/* Without the files' names there is no telling: nobody gets the parts. */
static void
split_parts_in_doubt(void **state)
{
	struct image *with = opened("split", 0), *image;

	run("strip --strip-debug -o split-nofile split");
	image = opened("split-nofile", 0);
	assert_int_equal(with->nfuncs, image->nfuncs);
	for (size_t i = 0; i < image->nfuncs; i++) {
		const struct func *func = &with->funcs[i];

		assert_int_equal(image->funcs[i].nranges, 1);
		for (size_t k = 1; k < func->nranges; k++)
			assert_null(image_func(image, func->ranges[k].lo));
	}
	image_close(with);
	image_close(image);
}

static bool
func_is_named(const struct func *func, const char *name)
{
	for (size_t i = 0; i < func->naliases; i++)
		if (!strcmp(func->aliases[i], name))
			return true;
	return !strcmp(func->name, name);
}

static void
stripped_functions(void **state)
{
	struct image *full, *image;
	const struct func *func;
	char name[32];

	source("sample.c", sample);
	run("cc -O2 -w -rdynamic -o full sample.c && strip -o bare full");
	full = opened("full", 0);
	image = opened("bare", 0);
	assert_true(image->stripped);
	assert_int_equal(image->nremarks, 1);
	assert_non_null(strstr(image->remarks[0], "stripped"));
	for (size_t i = 0; i < image->nfuncs; i++) {
		func = image_func(full, image->funcs[i].addr);
		assert_non_null(func);
		assert_int_equal(func->addr, image->funcs[i].addr);
		snprintf(name, sizeof(name), "func_%lx",
			 (unsigned long)func->addr);
		if (image->funcs[i].origin == FUNC_EH_FRAME)
			assert_string_equal(image->funcs[i].name, name);
		else
			assert_true(func_is_named(func, image->funcs[i].name));
	}
	/* The resolver's own name is preferred, where it is known. */
	assert_true(func_is_named(func_named(full, "choose"), "chosen"));
	assert_null(func_named(full, "chosen"));
	/* Exported, and known to .eh_frame alone. */
	func = func_named(image, "twin");
	assert_non_null(func);
	assert_int_equal(func->origin, FUNC_DYNSYM);
	func = image_func(image, func_named(full, "plain")->addr);
	assert_non_null(func);
	assert_int_equal(func->origin, FUNC_EH_FRAME);
	image_close(full);
	image_close(image);
}

static void
stripped_parts_are_no_functions(void **state)
{
	struct image *full, *image;

	run("strip -o split-bare split");
	full = opened("split", 0);
	image = opened("split-bare", 0);
	for (size_t i = 0; i < image->nfuncs; i++)
		assert_int_equal(image_func(full, image->funcs[i].addr)->addr,
				 image->funcs[i].addr);
	image_close(full);
	image_close(image);
}

static const struct {
	const char *command;	/* makes "bad" */
	const char *expect;
} bad_files[] = {
	{ "true", "No such file" },
	{ "mkdir bad", "not a regular file" },
	{ "mkfifo bad", "not a regular file" },
	{ ": >bad", "empty file" },
	{ "echo Hello >bad", "not an ELF file" },
	{ "echo '#! /bin/sh -e' >bad", "pmon /bin/sh -e " },
	{ "cc -c -o bad bad.c", "not linked yet" },
	{ "head -c 30 full >bad", "truncated" },
	{ "head -c 100 full >bad", "truncated: its program headers" },
	{ "head -c 2000 full >bad", "truncated: its section headers" },
	{ "cp full bad && printf '\\4' | dd of=bad bs=1 seek=16 conv=notrunc",
	  "core dump" },
	{ "cp full bad && printf '\\3' | dd of=bad bs=1 seek=18 conv=notrunc",
	  "machine 3: 32-bit x86, i386" },
	{ "cp full bad && printf '\\1' | dd of=bad bs=1 seek=32 conv=notrunc",
	  "bad: " },
	{ "objcopy --only-keep-debug full bad", "has no code" },
	/* With the program's headers, as eu-strip leaves them. */
	{ "objcopy --only-keep-debug full bad && dd if=full of=bad bs=8 skip=8 "
	  "seek=8 count=91 conv=notrunc && truncate -s +64K bad",
	  "has no code" },
};

static void
bad_files_are_refused(void **state)
{
	source("bad.c", "int main(void) { return 0; }\n");
	run("cc -o full bad.c");
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++) {
		struct image *image;

		run("rm -rf bad; { %s; } 2>/dev/null", bad_files[i].command);
		image = image_open(in_work("bad"), NULL, 0, NULL, NULL);
		if (image)
			fail_msg("opened after: %s", bad_files[i].command);
		if (!strstr(fail_message(), bad_files[i].expect) ||
		    strncmp(fail_message(), in_work("bad: "),
			    strlen(in_work("bad: "))) != 0)
			fail_msg("%s: said: %s", bad_files[i].command,
				 fail_message());
	}
	assert_ptr_equal(image_probe(in_work("full")), &arch_x86_64);
	run("rm -rf bad; echo Hello >bad");
	assert_null(image_probe(in_work("bad")));
	assert_non_null(strstr(fail_message(), "not an ELF file"));
}

static void
text_survives_the_file(void **state)
{
	struct image *image, *original;
	const uint8_t *text, *expect;
	size_t avail, same;

	run("cc -o full bad.c && cp full gone");
	original = opened("full", 0);
	image = opened("gone", 0);
	assert_int_equal(truncate(in_work("gone"), 0), 0);
	text = image_text(image, image->entry, &avail);
	expect = image_text(original, original->entry, &same);
	assert_int_equal(avail, same);
	assert_memory_equal(text, expect, same);
	assert_null(image_text(image, 1, &avail));
	image_close(original);
	image_close(image);
}

static void
name_and_file_may_differ(void **state)
{
	struct image *image = image_open("/no/such/name", in_work("full"), 0,
					 NULL, NULL);

	assert_non_null(image);
	assert_string_equal(image->path, "/no/such/name");
	assert_non_null(func_named(image, "main"));
	assert_int_equal(image->build_id_len, 20);
	image_close(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_the_symbols),
		cmocka_unit_test(names_are_chosen),
		cmocka_unit_test(sizes_and_overlaps),
		cmocka_unit_test(split_parts_belong_to_their_function),
		cmocka_unit_test(split_parts_by_name_as_by_dwarf),
		cmocka_unit_test(split_parts_in_doubt),
		cmocka_unit_test(stripped_functions),
		cmocka_unit_test(stripped_parts_are_no_functions),
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(text_survives_the_file),
		cmocka_unit_test(name_and_file_may_differ),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("image", tests, work_make,
					   work_remove);
}
