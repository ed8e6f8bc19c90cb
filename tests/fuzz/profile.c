/*
 * Fuzz target: takes the input as a data file, as sections of one, whose
 * checksums are then right, or as changes to the sections of a good one.  What
 * is accepted is a profile that reads the same when it is written again, and
 * can be merged and compared.
 */
#include "report/profile/sections.h"
#include "tests/fuzz/target.h"
#include "tests/lib/profiles.h"
#include "util/fail.h"

bool target_accepted;

static void
check(struct profile *profile)
{
	struct profile none = { 0 }, *copy;
	uint8_t *bytes, *again;
	size_t size, again_size;

	must(!profile_fault(profile));
	bytes = profile_encode(profile, &size);
	copy = profile_decode("copy", bytes, size);
	must(copy);
	again = profile_encode(copy, &again_size);
	must(again_size == size && !memcmp(bytes, again, size));
	must(profile_merge(copy, &none) == 0);
	must(!profile_fault(copy));
	profile_join_parts(copy);
	profile_join_parts(profile);
	must(!profile_fault(copy));
	profile_diff_free(profile_diff(profile, copy));
	profile_free(copy);
	free(bytes);
	free(again);
}

static void
try(const uint8_t *data, size_t size)
{
	struct profile *profile = profile_decode("input", data, size);

	target_accepted |= profile != NULL;
	if (profile)
		check(profile);
	else
		must(!strncmp(fail_message(), "input: ", 7));
	profile_free(profile);
}

/* Sections of which the input gives the length, a byte or two, and bytes. */
static void
try_sections(const uint8_t *data, size_t size)
{
	struct feed feed = { .at = data, .end = data + size };
	struct sink sections[SECTIONS] = { 0 }, file = { 0 };

	for (size_t i = 0; i < SECTIONS; i++) {
		size_t n = get_max(&feed, feed_left(&feed));

		if (n > feed_left(&feed))
			n = feed_left(&feed);
		put_bytes(&sections[i], feed.at, n);
		feed.at += n;
	}
	sections_pack(sections, &file);
	try(file.bytes, file.n);
	sections_free(sections);
	free(file.bytes);
}

/* A random profile, and bytes of its sections changed. */
static void
try_changes(const uint8_t *data, size_t size)
{
	struct feed feed = { .at = data, .end = data + size };
	struct sink sections[SECTIONS], file = { 0 };
	struct profile *profile;
	uint8_t *bytes;

	random_state = get_fixed(&feed, 2) + 1;
	profile = world_profile();
	bytes = profile_encode(profile, &size);
	must(sections_unpack("world", bytes, size, sections) == 0);
	while (feed_left(&feed) >= 4) {
		struct sink *section = &sections[get_byte(&feed) % SECTIONS];
		size_t at = get_fixed(&feed, 2);
		unsigned value = get_byte(&feed);

		if (at < section->n)
			section->bytes[at] = (uint8_t)value;
		else if (value < section->n)
			section->n -= value;
	}
	sections_pack(sections, &file);
	try(file.bytes, file.n);
	sections_free(sections);
	profile_free(profile);
	free(file.bytes);
	free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 0x89)
		try(data, size);
	else if (size && data[0] % 2)
		try_sections(data + 1, size - 1);
	else if (size)
		try_changes(data + 1, size - 1);
	return 0;
}
