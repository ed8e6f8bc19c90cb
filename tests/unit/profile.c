/*
 * Data files: what is written is what is read; what is damaged is refused;
 * a write that fails or is killed leaves what was there.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/profile/sections.h"
#include "tests/lib/profiles.h"
#include "util/fail.h"

/* After the others: it makes fail a macro. */
#include <cmocka.h>

enum { ROUNDS = 1000, KILLS = 40 };

static char work[] = "/tmp/pmon-profile-XXXXXX";

static char *
in_work(const char *name)
{
	return mem_printf("%s/%s", work, name);
}

static int
make_work(void **state)
{
	return mkdtemp(work) ? 0 : -1;
}

static int
remove_work(void **state)
{
	char *command = mem_printf("rm -rf %s", work);
	int status = system(command);

	free(command);
	return status;
}

static void
same_dump(const struct profile *a, const struct profile *b)
{
	char *text_a = profile_dump(a), *text_b = profile_dump(b);

	assert_string_equal(text_a, text_b);
	free(text_a);
	free(text_b);
}

/* ---- what is written is read */

static void
test_round_trip(void **state)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct profile *profile = world_profile(), *copy;

		assert_null(profile_fault(profile));
		copy = profile_copy(profile);
		if (!copy)
			fail_msg("%s", fail_message());
		same_dump(profile, copy);
		profile_free(profile);
		profile_free(copy);
	}
}

static void
test_empty(void **state)
{
	struct profile empty = { 0 };
	struct profile *copy = profile_copy(&empty);

	assert_non_null(copy);
	same_dump(&empty, copy);
	profile_free(copy);
}

/*
 * A million blocks without a change compress better than what is believed of
 * a file; they must be read all the same.
 */
static void
test_monotonous(void **state)
{
	enum { BLOCKS = 1000000 };
	struct profile *profile = mem_alloc(sizeof(*profile)), *copy;
	struct profile_object *object = vec_push(profile->objects,
						 profile->nobjects);
	struct profile_func *func;

	*object = (struct profile_object){ .path = mem_strdup("/bin/x") };
	func = vec_push(object->funcs, object->nfuncs);
	*func = (struct profile_func){
		.part = PART_NONE,
		.state = PROFILE_COUNTED,
		.name = mem_strdup("f"),
		.blocks = mem_alloc(BLOCKS * sizeof(struct profile_block)),
		.nblocks = BLOCKS,
	};
	for (uint64_t i = 0; i < BLOCKS; i++)
		func->blocks[i] = (struct profile_block){
			.addr = 4 * i,
			.size = 4,
			.ninsns = 1,
			.count = { .n = 7, .state = COUNT_EXACT },
		};
	copy = profile_copy(profile);
	if (!copy)
		fail_msg("%s", fail_message());
	/* Field by field: what lies between them is anything. */
	for (size_t i = 0; i < BLOCKS; i++) {
		const struct profile_block *a = &func->blocks[i];
		const struct profile_block *b =
			&copy->objects->funcs->blocks[i];

		if (a->addr != b->addr || a->size != b->size ||
		    a->ninsns != b->ninsns || a->count.n != b->count.n ||
		    a->count.state != b->count.state ||
		    a->count.reason != b->count.reason)
			fail_msg("block %zu is another", i);
	}
	profile_free(profile);
	profile_free(copy);
}

/* ---- what is derived */

static void
test_executed(void **state)
{
	struct profile_block blocks[] = {
		{ 0x10, 8, 3, { 10, COUNT_EXACT, 0 } },
		{ 0x18, 4, 5, { 4, COUNT_DERIVED, 0 } },
	};
	struct profile_abnormal abnormals[] = {
		/* Stopped before the block, which was not counted. */
		{ 0x10, 3, false, 1, 0 },
		/* Left twice at the call, its second instruction: the
		   third did not run. */
		{ 0x14, 2, true, 2, 0 },
		/* Attached before the last instruction of the other. */
		{ 0x1b, 1, false, 0, 1 },
	};
	struct profile_func func = {
		.state = PROFILE_COUNTED,
		.blocks = blocks,
		.nblocks = 2,
		.abnormals = abnormals,
		.nabnormals = 3,
	};
	bool known;

	assert_int_equal(profile_executed(&func, &known),
			 10 * 3 + 4 * 5 - 2 + 1);
	assert_true(known);
	func.doubt = REASON_STACK;
	profile_executed(&func, &known);
	assert_false(known);
	func.doubt = REASON_NONE;
	blocks[1].count = (struct count){ .reason = REASON_LOST };
	profile_executed(&func, &known);
	assert_false(known);
	blocks[1].count = (struct count){ UINT64_MAX / 5, COUNT_EXACT, 0 };
	blocks[0].count.n = 0;
	assert_int_equal(profile_executed(&func, &known), UINT64_MAX - 1);
	assert_true(known);
	blocks[0].count.n = 1;
	profile_executed(&func, &known);
	assert_false(known);
}

static void
test_calls(void **state)
{
	struct profile_edge edge = {
		FLOW_ROOT, FLOW_EXIT, BY_NOTHING, { 12, COUNT_EXACT, 0 }
	};
	struct profile_func func = {
		.state = PROFILE_COUNTED,
		.edges = &edge,
		.nedges = 1,
	};

	assert_int_equal(profile_calls(&func).n, 12);
	assert_int_equal(profile_calls(&func).state, COUNT_EXACT);
	func.state = PROFILE_UNKNOWN;
	assert_int_equal(profile_calls(&func).state, COUNT_UNKNOWN);
	func = (struct profile_func){ .state = PROFILE_NEVER };
	assert_int_equal(profile_calls(&func).n, 0);
	assert_int_equal(profile_calls(&func).state, COUNT_EXACT);
}

/* ---- damage */

static bool
is_rich(const struct profile *profile)
{
	unsigned seen = 0;

	for (size_t i = 0; i < profile->nobjects; i++)
		for (size_t k = 0; k < profile->objects[i].nfuncs; k++) {
			const struct profile_func *func =
				&profile->objects[i].funcs[k];

			seen |= 1U << func->state;
			seen |= func->nabnormals && func->ncalls ? 8 : 0;
			seen |= func->nblocks > 1 ? 16 : 0;
		}
	return seen == 31 && profile->nruns && profile->nparts;
}

/* A small file with everything in it that there can be. */
static uint8_t *
rich_file(size_t *size)
{
	enum { SMALL = 2000 };
	uint8_t *bytes = NULL;

	do {
		struct profile *profile = world_profile();

		free(bytes);
		bytes = is_rich(profile) ? profile_encode(profile, size) : NULL;
		profile_free(profile);
	} while (!bytes || *size > SMALL);
	return bytes;
}

static void
refused(const uint8_t *bytes, size_t size, const char *what, size_t at)
{
	/* Just as long, so that a look behind the end is noticed. */
	uint8_t *copy = mem_alloc(size);
	struct profile *profile;

	memcpy(copy, bytes, size);
	profile = profile_decode("some/file", copy, size);
	free(copy);
	if (profile)
		fail_msg("%s %zu: accepted", what, at);
	if (strncmp(fail_message(), "some/file: ", 11))
		fail_msg("%s %zu: %s", what, at, fail_message());
}

static void
test_truncated(void **state)
{
	size_t size;
	uint8_t *bytes = rich_file(&size);

	for (size_t n = 0; n < size; n++)
		refused(bytes, n, "cut at", n);
	bytes = mem_grow(bytes, size + 1, 1);
	bytes[size] = 0;
	refused(bytes, size + 1, "longer than", size);
	free(bytes);
}

static void
test_flipped(void **state)
{
	size_t size;
	uint8_t *bytes = rich_file(&size);

	for (size_t i = 0; i < 8 * size; i++) {
		bytes[i / 8] ^= 1 << i % 8;
		refused(bytes, size, "bit flipped:", i);
		bytes[i / 8] ^= 1 << i % 8;
	}
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0xff;
		refused(bytes, size, "byte flipped:", i);
		bytes[i] ^= 0xff;
	}
	free(bytes);
}

/*
 * Damage that no checksum shows: any byte of any section's contents has any
 * other value, or the section ends early.  What is accepted is a profile.
 */
static void
test_hostile(void **state)
{
	struct sink sections[SECTIONS], file = { 0 };
	size_t size, accepted = 0, tried = 0;
	uint8_t *bytes = rich_file(&size);

	assert_int_equal(sections_unpack("x", bytes, size, sections), 0);
	for (size_t s = 0; s < SECTIONS; s++) {
		for (size_t i = 0; i < sections[s].n * 10; i++) {
			struct sink whole = sections[s];
			uint8_t byte = whole.bytes[i / 10];
			struct profile *profile;

			if (i % 10 < 8)
				sections[s].bytes[i / 10] ^= 1 << i % 10;
			else if (i % 10 == 8)
				sections[s].bytes[i / 10] = 0xff;
			else
				sections[s].n = i / 10;
			file.n = 0;
			sections_pack(sections, &file);
			profile = profile_decode("x", file.bytes, file.n);
			if (profile)
				assert_null(profile_fault(profile));
			accepted += profile != NULL;
			tried++;
			profile_free(profile);
			sections[s] = whole;
			sections[s].bytes[i / 10] = byte;
		}
	}
	/* Most bytes are counts and names, of which any is possible. */
	assert_in_range(accepted, 1, tried - 1);
	sections_free(sections);
	free(file.bytes);
	free(bytes);
}

static void
message_is(const uint8_t *bytes, size_t size, const char *message)
{
	assert_null(profile_decode("f", bytes, size));
	assert_string_equal(fail_message(), message);
}

/* A section's bytes, with the checksum that they should have. */
static size_t
section_add(uint8_t *file, size_t n, const char *tag, uint64_t stored,
	    uint64_t size, const uint8_t *bytes)
{
	size_t start = n;
	uint32_t crc;

	memcpy(file + n, tag, 4);
	n += 4;
	for (int i = 0; i < 8; i++)
		file[n++] = (uint8_t)(stored >> 8 * i);
	for (int i = 0; i < 8; i++)
		file[n++] = (uint8_t)(size >> 8 * i);
	memcpy(file + n, bytes, stored);
	n += stored;
	crc = crc_more(0, file + start, n - start);
	for (int i = 0; i < 4; i++)
		file[n++] = (uint8_t)(crc >> 8 * i);
	return n;
}

static void
test_frame(void **state)
{
	/* An empty profile: RUNS, OBJS of one zero each, END. */
	struct profile empty = { 0 };
	size_t size, n, head = 12, section = 4 + 16 + 9 + 4;
	uint8_t *bytes = profile_encode(&empty, &size), file[512];
	const uint8_t *end = bytes + size - section;

	assert_int_equal(size, head + 3 * section);
	assert_memory_equal(bytes, "\211PMON\r\n\032\1\0\0\0", head);
	message_is(bytes, 0, "f: the file is empty");
	message_is((const uint8_t *)"#!/bin/sh\n", 10,
		   "f: not a data file of pmon");
	message_is(bytes, 7, "f: truncated");
	memcpy(file, bytes, size);
	file[8] = 2;
	message_is(file, size,
		   "f: a data file of version 2; this pmon reads "
		   "version 1");
	/* A section is missing: END says there are two. */
	memcpy(file + head + section, end, section);
	file[8] = 1;
	message_is(file, head + 2 * section,
		   "f: damaged: sections are missing");
	/* Unknown ones: such that may be ignored, and not. */
	n = section_add(file, head + section, "newX", 5, 7, bytes);
	message_is(file, n, "f: truncated");
	n = section_add(file, head, "NewX", 5, 7, bytes);
	message_is(file, n, "f: this pmon does not know section NewX");
	/* One that says it is enormous, and one that is not compressed. */
	n = section_add(file, head, "RUNS", 9, UINT64_MAX, bytes);
	message_is(file, n, "f: damaged: section RUNS has an impossible size");
	n = section_add(file, head, "RUNS", 9, 5, bytes);
	message_is(file, n, "f: damaged: section RUNS cannot be decompressed");
	memcpy(file, bytes, head + section);
	memcpy(file + head + section, bytes + head, section);
	message_is(file, head + 2 * section,
		   "f: damaged: section RUNS appears twice");
	free(bytes);
}

static void
test_optional_section(void **state)
{
	/* END of three sections: a stored block of deflate, Adler-32. */
	static const uint8_t three[] = { 0x78, 0x01, 1, 1, 0, 0xfe,
					 0xff, 3,    0, 4, 0, 4 };
	struct profile empty = { 0 }, *profile;
	size_t size, n, section = 4 + 16 + 9 + 4;
	uint8_t *bytes = profile_encode(&empty, &size), file[512];

	n = size - section;
	memcpy(file, bytes, n);
	n = section_add(file, n, "newX", 5, 7, bytes);
	n = section_add(file, n, "END ", sizeof(three), 1, three);
	profile = profile_decode("f", file, n);
	if (!profile)
		fail_msg("%s", fail_message());
	profile_free(profile);
	free(bytes);
}

/* ---- files */

static size_t
files_in_work(void)
{
	DIR *dir = opendir(work);
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void
test_file(void **state)
{
	char *path = in_work("file");
	struct profile *profile = world_profile(), *copy;

	assert_int_equal(profile_write(profile, path), 0);
	copy = profile_read(path);
	assert_non_null(copy);
	same_dump(profile, copy);
	assert_int_equal(files_in_work(), 1);
	profile_free(profile);
	profile_free(copy);
	unlink(path);
	assert_null(profile_read(path));
	assert_non_null(strstr(fail_message(), path));
	free(path);
	assert_null(profile_read("/"));
	assert_string_equal(fail_message(), "/: Is a directory");
	assert_int_equal(profile_write(&(struct profile){ 0 }, "/nowhere/x"),
			 -1);
	assert_non_null(strstr(fail_message(), "/nowhere/x: "));
}

/* No room: an error, and the old file is as it was. */
static void
test_full(void **state)
{
	char *path = in_work("full");
	struct rlimit limit, small;
	struct profile *old = world_profile(), *new = world_profile(), *copy;
	int result;

	assert_int_equal(profile_write(old, path), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 100;
	setrlimit(RLIMIT_FSIZE, &small);
	result = profile_write(new, path);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(result, -1);
	assert_non_null(strstr(fail_message(), path));
	copy = profile_read(path);
	assert_non_null(copy);
	same_dump(old, copy);
	assert_int_equal(files_in_work(), 1);
	unlink(path);
	assert_int_equal(profile_write(new, "/dev/full"), -1);
	assert_string_equal(fail_message(),
			    "/dev/full: No space left on device");
	profile_free(old);
	profile_free(new);
	profile_free(copy);
	free(path);
}

static _Noreturn void
write_for_ever(const struct profile *a, const struct profile *b,
	       const char *path)
{
	for (;;) {
		if (profile_write(a, path) || profile_write(b, path))
			_exit(1);
	}
}

/* Killed at any moment, a writer leaves one whole file. */
static void
test_killed(void **state)
{
	char *path = in_work("killed");
	struct profile *a = world_profile(), *b = world_profile();
	char *text_a = profile_dump(a), *text_b = profile_dump(b);

	assert_int_equal(profile_write(a, path), 0);
	for (int i = 0; i < KILLS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			write_for_ever(a, b, path);
		/* As many looks as it takes to be at another moment. */
		for (int k = 0; k <= i; k++) {
			struct profile *copy = profile_read(path);
			char *text;

			if (!copy)
				fail_msg("%s", fail_message());
			text = profile_dump(copy);
			assert_true(!strcmp(text, text_a) ||
				    !strcmp(text, text_b));
			free(text);
			profile_free(copy);
			if (k == i)
				kill(pid, SIGKILL);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	free(text_a);
	free(text_b);
	profile_free(a);
	profile_free(b);
	free(path);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_monotonous),
		cmocka_unit_test(test_executed),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_optional_section),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_killed),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_work, remove_work);
}
