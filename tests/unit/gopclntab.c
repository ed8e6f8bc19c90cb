/*
 * Go's table of functions, as tests/prog/gopanics.S has it in each format, and
 * damaged in every byte.
 */
#include "tests/lib/build.h"

/* work recovers behind a sub, a test, a branch, a call and a nop. */
static void
pads_check(const char *flags, bool found)
{
	struct image *image;
	char source[4096];

	assert_non_null(realpath("tests/prog/gopanics.S", source));
	run("gcc %s -o panics %s", flags, source);
	image = opened("panics", IMAGE_FLOW);
	assert_int_equal(image->npads, found);
	if (found)
		assert_int_equal(image->pads[0],
				 func_named(image, "work")->addr + 16);
	assert_int_equal(image->nremarks, 0);
	image_close(image);
}

static void
test_formats(void **state)
{
	static const int formats[] = { 2, 16, 18, 20 };
	char flags[128];

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(flags, sizeof(flags), "-no-pie -DFORMAT=%d",
			 formats[i]);
		pads_check(flags, true);
	}
}

/* Where it is in a PIE, and where addresses begin there. */
static void
test_relocated(void **state)
{
	pads_check("-pie -DFORMAT=18 '-DSECTION=.data.rel.ro.gopclntab'", true);
	pads_check("-pie '-DSECTION=.data.rel.ro'", true);
	pads_check("-no-pie -nostartfiles -Wl,-e,main -DSTART=0", true);
}

/* C's _start is in no table of Go's: where is Go's text? */
static void
test_no_start(void **state)
{
	struct image *image;
	char source[4096];

	assert_non_null(realpath("tests/prog/gopanics.S", source));
	run("gcc -no-pie -DSTART=0 -o panics %s", source);
	image = opened("panics", IMAGE_FLOW);
	assert_int_equal(image->npads, 0);
	assert_int_equal(image->nremarks, 1);
	assert_non_null(strstr(image->remarks[0], ".gopclntab"));
	image_close(image);
}

/* A stripped program has the same functions, by the names that Go has. */
static void
test_stripped(void **state)
{
	static const char *const names[][2] = {
		{ "gopanic", "runtime.gopanic" },
		{ "deferreturn", "runtime.deferreturn" },
		{ "work", "main.work" },
		{ "main", "main.main" },
	};
	struct image *image, *whole;
	char source[4096];

	assert_non_null(realpath("tests/prog/gopanics.S", source));
	run("gcc -no-pie -nostartfiles -Wl,-e,main -o whole %s", source);
	run("strip -o panics whole");
	whole = opened("whole", 0);
	image = opened("panics", 0);
	assert_int_equal(image->nfuncs, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct func *was = func_named(whole, names[i][0]);
		const struct func *is = func_named(image, names[i][1]);

		assert_true(was && is);
		assert_int_equal(is->addr, was->addr);
		assert_int_equal(is->size, was->size);
		assert_int_equal(is->origin, FUNC_GO);
	}
	assert_non_null(strstr(image->remarks[0], ".gopclntab"));
	image_close(image);
	image_close(whole);
}

static void
damaged_check(void)
{
	struct image *image = opened("panics", IMAGE_FLOW);
	size_t avail;

	for (size_t p = 0; p < image->npads; p++)
		assert_non_null(image_text(image, image->pads[p], &avail));
	image_close(image);
}

/* Whatever the table says, it is read to an end and pads are in the text. */
static void
test_hostile(void **state)
{
	static const uint8_t head[] = { 0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8 };
	char source[4096];

	assert_non_null(realpath("tests/prog/gopanics.S", source));
	run("gcc -no-pie -nostartfiles -Wl,-e,main -s -o panics %s", source);
	damage("panics", bytes_at("panics", head, sizeof(head)), 280,
	       damaged_check);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_relocated),
		cmocka_unit_test(test_no_start),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_hostile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, work_make, work_remove);
}
