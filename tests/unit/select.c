/* Globs and unit names: what program/select.h promises. */
#include "program/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

/* Before cmocka.h, which has a macro fail(). */
#include "util/fail.h"

#include <cmocka.h>

static void
test_units(void **state)
{
	struct selection sel = { 0 };

	assert_int_equal(select_units(&sel, "func"), 0);
	assert_int_equal(sel.units, 1 << UNIT_FUNC);
	assert_int_equal(select_units(&sel, "line,inline"), 0);
	assert_int_equal(sel.units,
			 1 << UNIT_FUNC | 1 << UNIT_LINE | 1 << UNIT_INLINE);
	select_free(&sel);
	assert_int_equal(select_units(&sel, "block"), 0);
	assert_int_equal(sel.units, 1 << UNIT_BLOCK);
	assert_int_equal(select_units(&sel, "edge,insn"), 0);
	assert_int_equal(select_units(&sel, "call"), 0);
	assert_int_equal(sel.units, 1 << UNIT_BLOCK | 1 << UNIT_EDGE |
					    1 << UNIT_INSN | 1 << UNIT_CALL);
	assert_int_equal(select_units(&sel, "funcs"), -1);
	assert_non_null(strstr(fail_message(), "\"funcs\""));
	assert_int_equal(select_units(&sel, ""), -1);
	assert_int_equal(select_units(&sel, "func,"), -1);
	select_free(&sel);
}

static void
test_line_arguments(void **state)
{
	struct selection sel = { 0 };

	assert_int_equal(select_line(&sel, "a.c:7"), 0);
	assert_int_equal(select_line(&sel, "x:y.c:10-20"), 0);
	assert_string_equal(sel.lines.globs[0].pattern, "a.c");
	assert_int_equal(sel.lines.globs[0].lo, 7);
	assert_int_equal(sel.lines.globs[0].hi, 7);
	assert_string_equal(sel.lines.globs[1].pattern, "x:y.c");
	assert_int_equal(sel.lines.globs[1].lo, 10);
	assert_int_equal(sel.lines.globs[1].hi, 20);

	static const char *const bad[] = {
		"a.c",
		"a.c:",
		":7",
		"a.c:0",
		"a.c:x",
		"a.c:7-",
		"a.c:7-x",
		"a.c:20-10",
		"a.c:7x",
		"a.c:-7",
		"a.c:4294967296",
		"",
		"a.c:99999999999999999999",
		"a.c:1-2-3",
		"a.c:+7",
		"a.c: 7",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(select_line(&sel, bad[i]), -1);
	assert_int_equal(sel.lines.n, 2);
	select_free(&sel);
}

static bool
func(const struct selection *sel, const char *name)
{
	return select_func(sel, name, NULL, 0);
}

static void
test_functions(void **state)
{
	struct selection sel = { 0 };
	static const char *const aliases[] = { "memcpy", "_ZN1a3putEi" };

	assert_true(func(&sel, "main"));
	assert_true(func(&sel, NULL));
	select_glob(&sel.funcs, "ma*");
	assert_true(func(&sel, "main"));
	assert_false(func(&sel, "amain"));
	assert_false(func(&sel, NULL));
	select_glob(&sel.funcs, "!main");
	assert_false(func(&sel, "main"));
	assert_true(func(&sel, "mail"));

	/* By an alias, by what it demangles to, and that without (int). */
	assert_false(select_func(&sel, "f", aliases, 2));
	select_glob(&sel.funcs, "memc?y");
	assert_true(select_func(&sel, "f", aliases, 1));
	select_free(&sel);
	select_glob(&sel.funcs, "a::put");
	assert_true(select_func(&sel, "f", aliases, 2));
	assert_true(func(&sel, "_ZN1a3putEi"));
	assert_false(func(&sel, "_ZN1b3putEi"));
	select_free(&sel);
	select_glob(&sel.funcs, "a::put(int)");
	assert_true(func(&sel, "_ZN1a3putEi"));
	assert_false(func(&sel, "_ZN1a3putEc"));
	select_free(&sel);
	select_glob(&sel.funcs, "_ZN1a3putEi");
	assert_true(func(&sel, "_ZN1a3putEi"));
	select_free(&sel);
	/* Not only a pattern. */
	select_glob(&sel.funcs, "a::operator[]");
	assert_true(func(&sel, "_ZN1aixEi"));
	select_free(&sel);
}

static void
test_all_negated(void **state)
{
	struct selection sel = { 0 };

	select_glob(&sel.funcs, "!x*");
	assert_true(func(&sel, "main"));
	assert_true(func(&sel, NULL));
	assert_false(func(&sel, "xmain"));
	select_free(&sel);
}

static void
test_files(void **state)
{
	struct selection sel = { 0 };

	assert_true(select_file(&sel, "/src/lib/a.c"));
	assert_true(select_file(&sel, NULL));
	select_glob(&sel.files, "lib/*.c");
	assert_true(select_file(&sel, "/src/lib/a.c"));
	assert_true(select_file(&sel, "lib/a.c"));
	assert_false(select_file(&sel, "/src/mylib/a.c"));
	assert_false(select_file(&sel, "/src/a.c"));
	assert_false(select_file(&sel, NULL));
	select_glob(&sel.files, "./b.c");
	assert_true(select_file(&sel, "/x/b.c"));
	select_glob(&sel.files, "!/src/*");
	assert_false(select_file(&sel, "/src/lib/a.c"));
	select_free(&sel);
}

static void
test_lines(void **state)
{
	struct selection sel = { 0 };

	assert_true(select_file_line(&sel, "/s/a.c", 1));
	assert_int_equal(select_line(&sel, "a.c:10-20"), 0);
	assert_false(select_file_line(&sel, "/s/a.c", 9));
	assert_true(select_file_line(&sel, "/s/a.c", 10));
	assert_true(select_file_line(&sel, "/s/a.c", 20));
	assert_false(select_file_line(&sel, "/s/a.c", 21));
	assert_false(select_file_line(&sel, "/s/b.c", 15));
	assert_true(select_file_some(&sel, "/s/a.c"));
	assert_false(select_file_some(&sel, "/s/b.c"));
	assert_int_equal(select_line(&sel, "!a.c:12"), 0);
	assert_false(select_file_line(&sel, "/s/a.c", 12));
	assert_true(select_file_line(&sel, "/s/a.c", 13));
	select_glob(&sel.files, "b.c");
	assert_false(select_file_line(&sel, "/s/a.c", 13));
	select_free(&sel);
	/* All but one line: the other lines of that file are chosen. */
	assert_int_equal(select_line(&sel, "!a.c:12"), 0);
	assert_true(select_file_some(&sel, "/s/a.c"));
	assert_true(select_file_line(&sel, "/s/a.c", 11));
	select_free(&sel);
}

static void
test_objects(void **state)
{
	struct selection sel = { 0 };

	assert_true(select_object(&sel, "/bin/prog", true));
	assert_false(select_object(&sel, "/lib/libc.so.6", false));
	select_glob(&sel.objects, "libc.so*");
	assert_false(select_object(&sel, "/bin/prog", true));
	assert_true(select_object(&sel, "/lib/libc.so.6", false));
	select_free(&sel);
	select_glob(&sel.objects, "*");
	assert_true(select_object(&sel, "/bin/prog", true));
	assert_true(select_object(&sel, "/lib/libc.so.6", false));
	select_free(&sel);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_line_arguments),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_all_negated),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_objects),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
