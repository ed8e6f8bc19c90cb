/*
 * Opens ELF files through libelf, checks their headers, and says what these
 * tell of the file as a whole.  Never maps a file, which may be replaced while
 * pmon runs.
 */
#include "symtab/elf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/regular.h"

static const uint64_t NANO = 1000000000;
/*
 * A file's times are those of the last tick of the kernel's clock.  (A file that
 * is written through a mapping may change much later without a new time.)
 */
static const uint64_t SETTLED = 2000000000;

int
elf_table_check(const struct elf *elf, const char *what, uint64_t offset,
		uint64_t count, uint64_t size)
{
	uint64_t end, bytes;

	if (!__builtin_mul_overflow(count, size, &bytes) &&
	    !__builtin_add_overflow(offset, bytes, &end) &&
	    end <= (uint64_t)elf->stat.st_size)
		return 0;
	return fail("%s: truncated: its %s not in the file (%" PRIu64 " bytes)",
		    elf->path, what, (uint64_t)elf->stat.st_size);
}

/*
 * Refuse files that would make libelf use far more memory than their size:
 * libelf decompresses a table of names whenever it looks at one, and takes
 * memory for each section, even if all are the same bytes of the file.
 */
static int
sections_check(const struct elf *elf)
{
	uint64_t file = (uint64_t)elf->stat.st_size, size = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf->libelf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_STRTAB && sh.sh_flags & SHF_COMPRESSED)
			return fail("%s: damaged: its names are compressed",
				    elf->path);
		if (sh.sh_type != SHT_NOBITS && sh.sh_offset <= file &&
		    sh.sh_size <= file - sh.sh_offset)
			size += sh.sh_size;
		if (size / 2 > file)
			return fail("%s: damaged: its sections overlap",
				    elf->path);
	}
	return 0;
}

static int
header_check(struct elf *elf)
{
	const GElf_Ehdr *h = &elf->header;
	bool wide = h->e_ident[EI_CLASS] == ELFCLASS64;
	size_t nsections = 0;

	if (h->e_version != EV_CURRENT)
		return fail("%s: ELF version %u is unknown", elf->path,
			    h->e_version);
	if (h->e_phoff) {
		if (h->e_phentsize !=
		    (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
			return fail("%s: damaged: program headers of %u bytes",
				    elf->path, h->e_phentsize);
		if (elf_table_check(elf, "program headers are", h->e_phoff,
				    h->e_phnum, h->e_phentsize) < 0)
			return -1;
		if (elf_getphdrnum(elf->libelf, &elf->nphdrs) < 0)
			return fail("%s: damaged: %s", elf->path,
				    elf_errmsg(-1));
	}
	if (!h->e_shoff)
		return 0;
	if (h->e_shentsize != (wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return fail("%s: damaged: section headers of %u bytes",
			    elf->path, h->e_shentsize);
	if (elf_table_check(elf, "section headers are", h->e_shoff,
			    h->e_shnum ? h->e_shnum : 1, h->e_shentsize) < 0)
		return -1;
	if (elf_getshdrnum(elf->libelf, &nsections) < 0 ||
	    elf_getshdrstrndx(elf->libelf, &elf->names) < 0 ||
	    elf->names >= nsections)
		return fail("%s: damaged: its section names cannot be found",
			    elf->path);
	return sections_check(elf);
}

/* Say what kind of file this is, since it is not ELF; -1. */
static int
not_elf(const struct elf *elf)
{
	char head[PATH_MAX] = "";
	ssize_t n = pread(elf->fd, head, sizeof(head) - 1, 0);
	char *line = head + 2 + strspn(head + 2, " \t");

	if (n <= 0)
		return fail("%s: empty file", elf->path);
	if (memcmp(head, ELFMAG, SELFMAG) == 0)
		return fail("%s: truncated: its ELF header is incomplete or "
			    "damaged",
			    elf->path);
	if (head[0] != '#' || head[1] != '!')
		return fail("%s: not an ELF file", elf->path);
	line[strcspn(line, "\r\n")] = '\0';
	return fail("%s: a script; run its interpreter: pmon %s %s", elf->path,
		    line, elf->path);
}

static int
elf_begin_file(struct elf *elf, const char *file)
{
	elf->fd = regular_open(file, elf->path, &elf->stat);
	if (elf->fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	elf->libelf = elf_begin(elf->fd, ELF_C_READ, NULL);
	if (!elf->libelf || elf_kind(elf->libelf) != ELF_K_ELF)
		return not_elf(elf);
	if (!gelf_getehdr(elf->libelf, &elf->header))
		return fail("%s: truncated: its ELF header is incomplete",
			    elf->path);
	return header_check(elf);
}

struct elf *
elf_open(const char *path, const char *real_path)
{
	struct elf *elf = mem_alloc(sizeof(*elf));

	elf->path = mem_strdup(path);
	if (elf_begin_file(elf, real_path ? real_path : path) < 0) {
		elf_close(elf);
		return NULL;
	}
	elf_notes(elf);
	return elf;
}

void
elf_close(struct elf *elf)
{
	if (!elf)
		return;
	elf_end(elf->libelf);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->path);
	free(elf);
}

bool
elf_big_endian(const struct elf *elf)
{
	return elf->header.e_ident[EI_DATA] == ELFDATA2MSB;
}

bool
elf_wide(const struct elf *elf)
{
	return elf->header.e_ident[EI_CLASS] == ELFCLASS64;
}

const char *
elf_path(const struct elf *elf)
{
	return elf->path;
}

uint64_t
elf_size(const struct elf *elf)
{
	return (uint64_t)elf->stat.st_size;
}

uid_t
elf_owner(const struct elf *elf, gid_t *group)
{
	*group = elf->stat.st_gid;
	return elf->stat.st_uid;
}

struct bytes
elf_build_id(const struct elf *elf)
{
	return (struct bytes){ elf->id, elf->id_len };
}

static uint64_t
nanoseconds(struct timespec t)
{
	return (uint64_t)t.tv_sec * NANO + (uint64_t)t.tv_nsec;
}

struct file_id
elf_file_id(const struct elf *elf)
{
	struct timespec now;
	struct file_id id = {
		.dev = elf->stat.st_dev,
		.ino = elf->stat.st_ino,
		.size = (uint64_t)elf->stat.st_size,
		.mtime = nanoseconds(elf->stat.st_mtim),
		.ctime = nanoseconds(elf->stat.st_ctim),
	};

	clock_gettime(CLOCK_REALTIME, &now);
	id.settled = id.ctime + SETTLED < nanoseconds(now);
	return id;
}

bool
elf_same_file(const struct elf *a, const struct elf *b)
{
	return a->stat.st_dev == b->stat.st_dev &&
	       a->stat.st_ino == b->stat.st_ino;
}

bool
elf_same_machine(const struct elf *a, const struct elf *b)
{
	return a->header.e_machine == b->header.e_machine &&
	       a->header.e_ident[EI_CLASS] == b->header.e_ident[EI_CLASS];
}

int
elf_fd(const struct elf *elf)
{
	return elf->fd;
}

int
elf_read(const struct elf *elf, void *buf, uint64_t offset, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(elf->fd, (char *)buf + done, n - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail("%s: %s", elf->path, strerror(errno));
		if (got == 0)
			return fail("%s: truncated while pmon read it",
				    elf->path);
		done += (size_t)got;
	}
	return 0;
}
