/*
 * What DWARF says of lines, inlined copies and declarations: against
 * readelf's decoding, against assembler sources that give every row, and
 * against C sources whose lines are known.
 */
#include <unistd.h>

#include "tests/lib/build.h"

enum { BOTH = IMAGE_LINES | IMAGE_INLINES };

/* Each way to build rows.c; those a compiler cannot are left out. */
static const char *const builds[] = {
	"gcc -O0 -gdwarf-2",
	"gcc -O2 -gdwarf-3",
	"gcc -O2 -gdwarf-4 -no-pie",
	"gcc -O2 -gdwarf-5 -static",
	"gcc -O0 -gdwarf-5 -static-pie",
	"gcc -O2 -gdwarf-5 -shared -fPIC",
	"gcc -O2 -g -gz=zlib",
	"gcc -O2 -gdwarf-4 -gz=zlib-gnu",
	"gcc -O2 -g -ffunction-sections -Wl,--gc-sections",
	"gcc -O2 -g -gdwarf64",
	"gcc -O2 -g -flto",
	"clang -O0 -gdwarf-2",
	"clang -O2 -gdwarf-4",
	"clang -O2 -gdwarf-5",
	"clang -O0 -gdwarf-5 -gz=zlib -no-pie",
};

static void
sources_write(void)
{
	run("mkdir -p src/sub inc");
	source("inc/rows.h", "#ifndef ROWS_H\n#define ROWS_H\n"
			     "static inline int square(int n)\n"
			     "{\n"
			     "	volatile int copy = n;\n"
			     "\n"
			     "	return copy * copy;\n"
			     "}\n"
			     "int second(int n);\n"
			     "#endif\n");
	source("src/sub/rows.c",
	       "#include \"rows.h\"\n"
	       "int unused(int n) { return square(n) - 7; }\n"
	       "static void __attribute__((cold, noinline)) rare(int n)\n"
	       "{\n"
	       "	volatile int v = n; while (v) v--;\n"
	       "}\n"
	       "int first(int n)\n"
	       "{\n"
	       "	int sum = 0;\n"
	       "	for (int i = 0; i < n; i++) {\n"
	       "		if (i > 1000)\n"
	       "			rare(i);\n"
	       "		sum += square(i);\n"
	       "	}\n"
	       "	return sum;\n"
	       "}\n"
	       "int main(int argc, char **argv)\n"
	       "{\n"
	       "	return first(argc) + second(argc);\n"
	       "}\n");
	source("src/second.c", "#include \"../inc/./rows.h\"\n"
			       "int second(int n)\n"
			       "{\n"
			       "	return square(n + 1);\n"
			       "}\n");
}

static bool
built(const char *command, const char *flags)
{
	return try("cd src && %s -w %s -I../inc -o ../rows sub/../sub/rows.c "
		   "second.c 2>/dev/null",
		   command, flags) == 0;
}

struct expected {
	uint64_t addr, end;
	unsigned line;
	bool is_stmt;
	char file[256];
};

/* The rows that readelf shows, but for sequences of discarded code. */
static size_t
readelf_rows(struct expected *rows, size_t max)
{
	FILE *out = output("readelf -W -wNL rows 2>/dev/null || "
			   "readelf -W -wL rows");
	size_t n = 0, first = 0;
	char text[512];

	while (fgets(text, sizeof(text), out)) {
		struct expected *row = &rows[n];
		char file[256], line[32];
		int used = 0;

		if (sscanf(text, "%255s %31s 0x%lx%n", file, line, &row->addr,
			   &used) != 3) {
			/* readelf writes address 0 so. */
			if (sscanf(text, "%255s %31s 0 %n", file, line,
				   &used) != 2 ||
			    !used || !strchr("-0123456789", *line))
				continue;
			row->addr = 0;
		}
		snprintf(row->file, sizeof(row->file), "%s",
			 strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
		if (n > first)
			row[-1].end = row->addr;
		if (*line == '-' || strstr(text + used, "END")) {
			if (n > first && rows[first].addr == 0)
				n = first;
			first = n;
			continue;
		}
		row->line = (unsigned)strtoul(line, NULL, 10);
		row->is_stmt = strchr(text + used, 'x') != NULL;
		assert_true(++n < max);
	}
	pclose(out);
	return n;
}

/* Stable, for rows of one address have an order. */
static void
rows_sort(struct expected *rows, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k && rows[k].addr < rows[k - 1].addr; k--) {
			struct expected row = rows[k];

			rows[k] = rows[k - 1];
			rows[k - 1] = row;
		}
}

static const char *
base(const struct image *image, uint32_t file)
{
	assert_true(file < image->nfiles);
	return strrchr(image->files[file], '/') + 1;
}

/* Nothing is remarked, but that the code is optimised if gcc says so. */
static void
optimised_alone(const struct image *image)
{
	for (size_t i = 0; i < image->nremarks; i++)
		assert_non_null(
			strstr(image->remarks[i], ": compiled with -O"));
	assert_true(image->nremarks <= 1);
}

static void
rows_are_readelfs(void **state)
{
	static struct expected rows[4096];
	size_t done = 0;

	sources_write();
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		struct image *image;
		size_t n;

		if (!built(builds[i], ""))
			continue;
		n = readelf_rows(rows, sizeof(rows) / sizeof(*rows));
		/* A readelf that cannot read this is no oracle. */
		if (n < 10)
			continue;
		done++;
		rows_sort(rows, n);
		image = opened("rows", IMAGE_LINES);
		optimised_alone(image);
		assert_true(image->has_dwarf);
		assert_int_equal(image->nrows, n);
		for (size_t k = 0; k < n; k++) {
			const struct row *row = &image->rows[k];

			if (row->addr != rows[k].addr ||
			    row->end != rows[k].end ||
			    row->line != rows[k].line ||
			    row->is_stmt != rows[k].is_stmt ||
			    strcmp(base(image, row->file), rows[k].file))
				fail_msg("%s: row %zu at %lx", builds[i], k,
					 row->addr);
		}
		image_close(image);
	}
	print_message("# %zu builds compared\n", done);
	assert_true(done >= 8);
}

static size_t
files_named(const struct image *image, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < image->nfiles; i++)
		n += strcmp(image->files[i], path) == 0;
	return n;
}

/* However it is reached, a file has one path and one index. */
static void
a_file_has_one_path(void **state)
{
	static const char *const compilers[] = {
		"gcc -gdwarf-4",
		"gcc -gdwarf-5",
		"clang -gdwarf-4",
		"clang -gdwarf-5",
	};

	sources_write();
	for (size_t i = 0; i < 4; i++) {
		struct image *image;

		if (!built(compilers[i], "-O0"))
			continue;
		image = opened("rows", IMAGE_LINES);
		assert_int_equal(files_named(image, in_work("src/sub/rows.c")),
				 1);
		assert_int_equal(files_named(image, in_work("src/second.c")),
				 1);
		assert_int_equal(files_named(image, in_work("inc/rows.h")), 1);
		image_close(image);
	}
}

static void
declared_at(const struct image *image, const char *name, const char *file,
	    unsigned line)
{
	const struct func *func = func_named(image, name);

	assert_non_null(func);
	assert_string_equal(base(image, func->file), file);
	assert_int_equal(func->line, line);
}

static void
functions_know_their_declaration(void **state)
{
	static const unsigned wants[] = { 0, BOTH };

	sources_write();
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++)
		for (int k = 0; k < 2; k++) {
			struct image *image;

			if (!built(builds[i], "-fno-inline-functions"))
				continue;
			image = opened("rows", wants[k]);
			declared_at(image, "main", "rows.c", 17);
			declared_at(image, "rare", "rows.c", 3);
			image_close(image);
		}
}

static void
discarded_code_has_no_rows(void **state)
{
	size_t with = 0, without = 0;
	struct image *image;

	sources_write();
	assert_true(built("gcc", "-g -O0 -ffunction-sections"));
	image = opened("rows", IMAGE_LINES);
	assert_non_null(func_named(image, "unused"));
	for (size_t i = 0; i < image->nrows; i++)
		with += image->rows[i].line == 2;
	image_close(image);
	assert_true(built("gcc", "-g -O0 -ffunction-sections "
				 "-Wl,--gc-sections"));
	image = opened("rows", IMAGE_LINES);
	assert_null(func_named(image, "unused"));
	for (size_t i = 0; i < image->nrows; i++)
		without += image->rows[i].line == 2 &&
			   strcmp(base(image, image->rows[i].file), "rows.c") ==
				   0;
	image_close(image);
	assert_true(with > 0);
	assert_int_equal(without, 0);
}

/* A line table by hand: DWARF 5, 6.2.4 and 6.2.5. */
static const char known[] =
	"	.text\n"
	"	.globl	main\n"
	"	.type	main, @function\n"
	"main:	.skip	28, 0x90\n"
	"	xor	%eax, %eax\n"
	"	ret\n"
	"	.size	main, .-main\n"
	"	.section .debug_abbrev\n"
	"	.uleb128 1, 0x11\n"
	"	.byte	0\n"
	"	.uleb128 0x10, 0x17, 3, 8, 0, 0, 0\n"
	"	.section .debug_info\n"
	"	.long	2f - 1f\n"
	"1:	.short	5\n"
	"	.byte	1, 8\n"
	"	.long	0\n"
	"	.uleb128 1\n"
	"	.long	table\n"
	"	.string	\"known.c\"\n"
	"2:	.section .debug_line\n"
	"table:	.long	4f - 3f\n"
	"3:	.short	5\n"
	"	.byte	8, 0\n"
	"	.long	6f - 5f\n"
	"5:	.byte	1, 1, 1\n"
	"	.byte	-3, 12, 14\n"	/* line base and range, opcode base */
	"	.byte	0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2\n"
	"	.byte	1, 1, 8, 2\n"	/* two directories: strings */
	"	.string	\"/dir\", \"sub\"\n"
	"	.byte	2, 1, 8, 2, 11, 2\n"	/* files: string, data1 */
	"	.string	\"zero.c\"\n"
	"	.byte	0\n"
	"	.string	\"known.c\"\n"
	"	.byte	1\n"
	"6:	.byte	0, 9, 2\n"		/* set_address */
	"	.quad	main\n"
	"	.byte	3, 9, 1\n"	/* line 10, copy: of file 1 */
	"	.byte	13, 5, 6\n"	/* unknown, with two operands */
	"	.byte	0, 3, 0x88, 1, 2\n"	/* unknown, extended */
	"	.byte	3, 0x76, 29\n"	/* line 0, special: address +1 */
	"	.byte	3, 11, 6\n"	/* line 11, no statement */
	"	.byte	2, 1, 1, 6\n"	/* address +1, copy, statement */
	"	.byte	9\n"		/* fixed_advance_pc */
	"	.short	2\n"
	"	.byte	19\n"		/* special: line +2 */
	"	.byte	4, 0, 18\n"	/* file 0, special: line +1 */
	"	.byte	8, 1\n"	/* const_add_pc: 241 / 12; copy */
	"	.byte	2, 7, 0, 1, 1\n"	/* address +7, end_sequence */
	"4:	.section .note.GNU-stack, \"\"\n";

static void
rows_known_to_the_byte(void **state)
{
	static const struct {
		unsigned offset, size, line;
		bool is_stmt;
		const char *file;
	} expect[] = {
		{ 0, 1, 10, true, "/dir/sub/known.c" },
		{ 1, 1, 0, true, "/dir/sub/known.c" },
		{ 2, 2, 11, false, "/dir/sub/known.c" },
		{ 4, 0, 13, true, "/dir/sub/known.c" },
		{ 4, 20, 14, true, "/dir/zero.c" },
		{ 24, 7, 14, true, "/dir/zero.c" },
	};
	const size_t n = sizeof(expect) / sizeof(*expect);
	struct image *image;
	uint64_t start;

	source("known.s", known);
	run("gcc -o known known.s");
	image = opened("known", IMAGE_LINES);
	start = func_named(image, "main")->addr;
	assert_int_equal(image->nremarks, 0);
	assert_int_equal(image->nrows, n);
	for (size_t i = 0; i < n; i++) {
		const struct row *row = &image->rows[i];

		assert_int_equal(row->addr - start, expect[i].offset);
		assert_int_equal(row->end - row->addr, expect[i].size);
		assert_int_equal(row->line, expect[i].line);
		assert_int_equal(row->is_stmt, expect[i].is_stmt);
		assert_string_equal(image->files[row->file], expect[i].file);
	}
	image_close(image);
}

static const char inlining[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int leaf(int n)\n"
	"{\n"
	"	sink = n;\n"
	"	return sink * 3;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int n)\n"
	"{\n"
	"	sink = 5;\n"
	"	return leaf(n) + leaf(n + 1);\n"
	"}\n"
	"int outer(int n)\n"
	"{\n"
	"	return middle(n) +\n"
	"	       leaf(n * 2);\n"
	"}\n"
	"int main(void) { return outer(1); }\n";

static void
inlined_check(const struct image *image, const char *function)
{
	const struct func *outer = func_named(image, function);
	size_t leaves = 0, middles = 0;

	assert_non_null(outer);
	for (size_t i = 0; i < image->ninlines; i++) {
		const struct inlined *in = &image->inlines[i];

		assert_true(i == 0 || in[-1].addr <= in->addr);
		/* Those copied into main do not count. */
		if (image_func(image, in->addr) != outer)
			continue;
		assert_string_equal(base(image, in->file), "inline.c");
		assert_string_equal(base(image, in->call_file), "inline.c");
		if (strstr(in->name, "leaf")) {
			leaves++;
			assert_int_equal(in->line, 2);
			assert_true(in->call_line == 10 || in->call_line == 15);
		} else if (strstr(in->name, "middle")) {
			middles++;
			assert_int_equal(in->line, 7);
			assert_int_equal(in->call_line, 14);
		}
		for (size_t k = 0; k < in->nranges; k++)
			assert_true(in->ranges[k].lo < in->ranges[k].hi);
	}
	assert_int_equal(leaves, 3);
	assert_int_equal(middles, 1);
}

static void
inlined_copies(void **state)
{
	static const char *const compilers[] = {
		"gcc -O1 -gdwarf-2",
		"gcc -O2 -gdwarf-3",
		"gcc -O2 -gdwarf-4",
		"gcc -O2 -gdwarf-5",
		"gcc -O0 -g",
		"g++ -x c++ -O2 -g",
		"gcc -O2 -g -flto -fno-ipa-icf",
		"clang -O1 -gdwarf-4",
		"clang -O2 -gdwarf-5",
		"clang -x c++ -O1 -g",
	};
	size_t done = 0;

	source("inline.c", inlining);
	for (size_t i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
		struct image *image;

		if (try("%s -fno-inline-functions -o inline inline.c "
			"2>/dev/null",
			compilers[i]))
			continue;
		done++;
		image = opened("inline", IMAGE_INLINES);
		assert_int_equal(image->nrows, 0);
		assert_true(image->has_dwarf);
		if (func_named(image, "outer"))
			inlined_check(image, "outer");
		else if (func_named(image, "_Z5outeri"))
			inlined_check(image, "_Z5outeri");
		image_close(image);
	}
	assert_true(done >= 6);
}

/* Of an inline function in two units the linker keeps one copy. */
static void
one_copy_of_many_is_kept(void **state)
{
	static const char *const compilers[] = { "g++", "clang++" };
	struct image *image;
	size_t copies, rows;

	source("many.h",
	       "volatile int sink;\n"
	       "static inline __attribute__((always_inline)) int in(int n)\n"
	       "{ sink = n; return sink; }\n"
	       "inline __attribute__((noinline)) int twice(int n)\n"
	       "{\n"
	       "	return in(n) + 1;\n"
	       "}\n");
	source("m1.cc",
	       "extern \"C++\" {\n#define sink sink1\n"
	       "#include \"many.h\"\n}\nint other(int);\n"
	       "int main(int c, char **) { return twice(c) + other(c); }\n");
	source("m2.cc", "extern \"C++\" {\n#define sink sink2\n"
			"#include \"many.h\"\n}\n"
			"int other(int n) { return twice(n + 1); }\n");
	for (int i = 0; i < 2; i++) {
		if (try("%s -g -O1 -o many m1.cc m2.cc 2>/dev/null",
			compilers[i]))
			continue;
		image = opened("many", BOTH);
		copies = rows = 0;
		for (size_t k = 0; k < image->ninlines; k++)
			copies += strstr(image->inlines[k].name, "in") != NULL;
		assert_int_equal(copies, 1);
		for (size_t k = 1; k < image->nrows; k++)
			rows += image->rows[k].addr < image->rows[k - 1].end;
		assert_int_equal(rows, 0);
		image_close(image);
	}
}

static void
images_equal(const struct image *a, const struct image *b)
{
	assert_int_equal(a->nfuncs, b->nfuncs);
	assert_int_equal(a->nrows, b->nrows);
	assert_int_equal(a->ninlines, b->ninlines);
	assert_true(a->nrows > 0);
	for (size_t i = 0; i < a->nfuncs; i++) {
		assert_int_equal(a->funcs[i].addr, b->funcs[i].addr);
		assert_string_equal(a->funcs[i].name, b->funcs[i].name);
		assert_int_equal(a->funcs[i].line, b->funcs[i].line);
	}
	for (size_t i = 0; i < a->nrows; i++) {
		assert_int_equal(a->rows[i].addr, b->rows[i].addr);
		assert_int_equal(a->rows[i].line, b->rows[i].line);
	}
}

static void
debug_file_by_link(void **state)
{
	struct image *whole, *image;

	sources_write();
	assert_true(built("gcc", "-g -O2 -Wl,--build-id=none"));
	run("rm -rf .debug; mkdir .debug &&"
	    "objcopy --only-keep-debug rows .debug/rows.dbg &&"
	    "objcopy --strip-all --add-gnu-debuglink=.debug/rows.dbg rows "
	    "linked");
	whole = opened("rows", BOTH);
	image = opened("linked", BOTH);
	assert_string_equal(image->debug_path, in_work(".debug/rows.dbg"));
	assert_false(image->stripped);
	assert_int_equal(image->nremarks, 1);
	assert_non_null(strstr(image->remarks[0], ": compiled with -O2, "));
	images_equal(whole, image);
	image_close(image);

	/* Beside it, too. */
	run("mv .debug/rows.dbg .");
	image = opened("linked", BOTH);
	assert_string_equal(image->debug_path, in_work("rows.dbg"));
	images_equal(whole, image);
	image_close(image);
	image_close(whole);

	/* One that was changed since is not used. */
	run("printf x >>rows.dbg");
	image = opened("linked", BOTH);
	assert_null(image->debug_path);
	assert_true(image->stripped);
	assert_int_equal(image->nremarks, 2);
	assert_non_null(strstr(image->remarks[0], "does not belong"));
	image_close(image);
}

static bool
count_call(void *arg)
{
	++*(int *)arg;
	return true;
}

static void
progress_is_told(void **state)
{
	struct image *image;
	int calls = 0;

	sources_write();
	assert_true(built("gcc", "-g"));
	image = image_open(in_work("rows"), NULL, BOTH, count_call, &calls);
	assert_non_null(image);
	assert_true(calls >= 2);	/* there are two units */
	image_close(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_readelfs),
		cmocka_unit_test(a_file_has_one_path),
		cmocka_unit_test(functions_know_their_declaration),
		cmocka_unit_test(discarded_code_has_no_rows),
		cmocka_unit_test(rows_known_to_the_byte),
		cmocka_unit_test(inlined_copies),
		cmocka_unit_test(one_copy_of_many_is_kept),
		cmocka_unit_test(debug_file_by_link),
		cmocka_unit_test(progress_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lines", tests, work_make,
					   work_remove);
}
