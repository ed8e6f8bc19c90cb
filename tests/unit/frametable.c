/*
 * OCaml's frame tables, as tests/prog/frames.S has them, and damaged in every
 * byte.
 */
#include "tests/lib/build.h"

static struct image *
frames_opened(const char *flags)
{
	char source[4096];

	assert_non_null(realpath("tests/prog/frames.S", source));
	run("gcc -nostartfiles -Wl,-e,main %s -o frames %s", flags, source);
	return opened("frames", IMAGE_FLOW);
}

/* The five return addresses, but not those that other data have. */
static void
frames_check(const char *flags, size_t frames, bool ocaml)
{
	struct image *image = frames_opened(flags);

	assert_int_equal(image->nframes, frames);
	assert_int_equal(image->ocaml, ocaml);
	/* leaf and the five. */
	assert_int_equal(image->nrefs, 6);
	for (size_t i = 1; i < image->nrefs; i++)
		assert_true(image->refs[i - 1] < image->refs[i]);
	image_close(image);
}

static void
test_tables(void **state)
{
	frames_check("-pie", 5, true);
	frames_check("-no-pie", 5, true);
	frames_check("-pie -DLABEL", 4, true);
	frames_check("-no-pie -DLABEL", 4, true);
	/* OCaml's linker exports the symbols. */
	frames_check("-pie -rdynamic -s", 5, true);
	frames_check("-pie -s", 0, false);
}

static void
damaged_check(void)
{
	struct image *image = opened("frames", IMAGE_FLOW);

	assert_true(image->nframes <= 6);
	assert_int_equal(image->nrefs, 6);
	image_close(image);
}

/* Whatever the tables say, they are read to an end and nothing else is lost. */
static void
test_hostile(void **state)
{
	/* The frame whose size is 17, 40 bytes behind the table. */
	static const uint8_t frame[] = { 17, 0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0 };

	image_close(frames_opened("-pie -rdynamic -s"));
	damage("frames", bytes_at("frames", frame, sizeof(frame)) - 40, 144,
	       damaged_check);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_hostile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, work_make, work_remove);
}
