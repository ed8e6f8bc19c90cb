/*
 * Finds the file that holds another's debugging information, by build-id or
 * by name and checksum (GDB manual, "Debugging Information in Separate
 * Files"), and the file to which dwz has moved what several share.  Never
 * reads the information itself.
 */
#include "symtab/separate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/build_id.h"
#include "util/fail.h"
#include "util/mem.h"

static const char debug_root[] = "/usr/lib/debug";

/* A sparse file may have any size without having contents. */
static const uint64_t CRC_MAX = (uint64_t)2 << 30;

/* tables[k] has the checksums of a byte that k zero bytes follow. */
static void
crc_tables(uint32_t tables[8][256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
		tables[0][i] = c;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = tables[k - 1][i];

			tables[k][i] = tables[0][c & 0xff] ^ c >> 8;
		}
}

/* Add n bytes, eight at a time: Kounavis and Berry, ISCC 2005. */
static uint32_t
crc_add(uint32_t tables[8][256], uint32_t c, const uint8_t *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		c ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		     (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		c = tables[7][c & 0xff] ^ tables[6][c >> 8 & 0xff] ^
		    tables[5][c >> 16 & 0xff] ^ tables[4][c >> 24] ^
		    tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
		    tables[0][p[7]];
	}
	for (; n; p++, n--)
		c = tables[0][(c ^ *p) & 0xff] ^ c >> 8;
	return c;
}

/* The checksum of a whole file, as .gnu_debuglink has it. */
static int
file_crc(const struct elf *elf, struct reading *r, uint32_t *crc)
{
	static uint32_t tables[8][256];
	uint32_t c = UINT32_MAX;
	uint8_t buf[64 << 10];
	uint64_t offset = 0, size = elf_size(elf);

	if (size > CRC_MAX)
		return fail("%s: pmon does not compute its checksum: the file "
			    "has %" PRIu64 " bytes, and the limit is %" PRIu64,
			    elf_path(elf), size, CRC_MAX);
	if (!tables[0][1])
		crc_tables(tables);
	while (offset < size) {
		size_t n = size - offset < sizeof(buf) ?
				   (size_t)(size - offset) :
				   sizeof(buf);

		if (elf_read(elf, buf, offset, n) < 0)
			return -1;
		if (!reading_goes_on(r, n))
			return fail("%s: pmon was told to stop while it "
				    "computed the checksum",
				    elf_path(elf));
		c = crc_add(tables, c, buf, n);
		offset += n;
	}
	*crc = ~c;
	return 0;
}

/* Open a file, unless it is elf's own; NULL if it cannot be.  Frees path. */
static struct elf *
candidate_open(const struct elf *elf, struct reading *r, char *path)
{
	struct elf *found = NULL;

	if (access(path, F_OK) == 0) {
		found = elf_open(path, NULL);
		if (!found && r)
			reading_remark(r, "debug file not used: %s",
				       fail_message());
	}
	free(path);
	if (found && elf_same_file(found, elf)) {
		elf_close(found);
		return NULL;
	}
	return found;
}

/* Return found if it is right; else say so, close it and return NULL. */
static struct elf *
candidate_check(struct elf *found, const struct elf *elf, bool same,
		struct reading *r)
{
	if (!found)
		return NULL;
	if (same && elf_same_machine(found, elf))
		return found;
	if (r)
		reading_remark(r,
			       "debug file not used: %s does not belong to "
			       "%s",
			       elf_path(found), elf_path(elf));
	elf_close(found);
	return NULL;
}

static bool
id_is(const struct elf *elf, struct bytes id)
{
	struct bytes own = elf_build_id(elf);

	return own.n == id.n && memcmp(own.p, id.p, id.n) == 0;
}

static struct elf *
by_build_id(const struct elf *elf, const char *dir, struct bytes id,
	    struct reading *r)
{
	char *path = id.n <= BUILD_ID_MAX ?
			     build_id_path(dir, id.p, id.n, ".debug") :
			     NULL;
	struct elf *found;

	if (!path)
		return NULL;
	found = candidate_open(elf, r, path);
	return candidate_check(found, elf, found && id_is(found, id), r);
}

/* The file's directory, with a slash at the end; owned by the caller. */
static char *
directory(const struct elf *elf)
{
	char *full = realpath(elf_path(elf), NULL);
	char *slash = full ? strrchr(full, '/') : NULL;

	if (slash)
		slash[1] = '\0';
	return full ? full : mem_strdup("./");
}

/* Check by build-id if both files have one: it is surer and quicker. */
static struct elf *
link_check(struct elf *found, const struct elf *elf, uint32_t want,
	   struct reading *r)
{
	struct bytes id = elf_build_id(elf);
	uint32_t crc;

	if (!found)
		return NULL;
	if (id.n && elf_build_id(found).n)
		return candidate_check(found, elf, id_is(found, id), r);
	if (file_crc(found, r, &crc) == 0)
		return candidate_check(found, elf, crc == want, r);
	reading_remark(r, "debug file not used: %s", fail_message());
	elf_close(found);
	return NULL;
}

static struct elf *
by_link(const struct elf *elf, const char *name, uint32_t want,
	struct reading *r)
{
	char *dir = directory(elf);
	char *paths[] = {
		mem_printf("%s%s", dir, name),
		mem_printf("%s.debug/%s", dir, name),
		mem_printf("%s%s%s", debug_root, dir, name),
	};
	struct elf *found = NULL;

	for (int i = 0; i < 3; i++) {
		if (found) {
			free(paths[i]);
			continue;
		}
		found = candidate_open(elf, r, paths[i]);
		found = link_check(found, elf, want, r);
	}
	free(dir);
	return found;
}

/* Elsewhere, as the caller of image_open_with knows. */
static struct elf *
by_call(const struct elf *elf, struct bytes id, struct reading *r)
{
	char *path = r->debug_find && id.n ? r->debug_find(id.p, id.n) : NULL;
	struct elf *found = path ? candidate_open(elf, r, path) : NULL;

	return candidate_check(found, elf, found && id_is(found, id), r);
}

struct elf *
separate_debug(struct elf *elf, struct reading *r)
{
	struct bytes id = elf_build_id(elf);
	struct elf *found = NULL;
	struct bytes link = elf_section(elf, ".gnu_debuglink", NULL);
	size_t len = link.n ? strnlen((const char *)link.p, link.n) : 0;
	size_t crc = (len + 4) / 4 * 4;

	for (size_t i = 0; i < r->ndebug_dirs && !found; i++)
		found = by_build_id(elf, r->debug_dirs[i], id, r);
	if (!found)
		found = by_build_id(elf, debug_root, id, r);
	if (!found && len && crc + 4 <= link.n && !memchr(link.p, '/', len))
		found = by_link(elf, (const char *)link.p,
				(uint32_t)link.p[crc] |
					(uint32_t)link.p[crc + 1] << 8 |
					(uint32_t)link.p[crc + 2] << 16 |
					(uint32_t)link.p[crc + 3] << 24,
				r);
	return found ? found : by_call(elf, id, r);
}

struct elf *
separate_supplement(struct elf *elf)
{
	struct bytes link = elf_section(elf, ".gnu_debugaltlink", NULL);
	size_t len = link.n ? strnlen((const char *)link.p, link.n) : 0;
	struct elf *found;
	struct bytes id;
	char *dir;

	if (!len || len + 1 >= link.n)
		return NULL;
	id = (struct bytes){ link.p + len + 1, link.n - len - 1 };
	dir = *link.p == '/' ? mem_strdup("") : directory(elf);
	found = candidate_open(elf, NULL,
			       mem_printf("%s%s", dir, (const char *)link.p));
	free(dir);
	found = candidate_check(found, elf, found && id_is(found, id), NULL);
	return found ? found : by_build_id(elf, debug_root, id, NULL);
}
