/*
 * Reads the headers, segments and sections of ELF files through libelf.  Never
 * maps a file, which may be replaced while pmon runs.  Knows nothing of DWARF
 * but the names of its sections.
 */
#include "symtab/text.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/regular.h"

enum {
	SEGMENTS_MAX = 64,		/* executable ones */
	/* Compression makes debugging information 3 to 10 times smaller. */
	INFLATED_RATIO_MAX = 50,
};

/* Nearly all DWARF has offsets of 32 bits. */
static const uint64_t INFLATED_MAX = UINT32_MAX;

struct elf {
	Elf *libelf;
	int fd;
	char *path;		/* in messages */
	struct stat stat;
	GElf_Ehdr header;
	size_t nphdrs, names;	/* names: index of the section with them */
	uint8_t id[BUILD_ID_MAX];
	size_t id_len;
	bool measured;		/* inflated is known */
	uint64_t inflated;	/* bytes of all its compressed sections */
};

/* Check that a table lies within the file; 0 or -1 with the message set. */
static int
table_check(const struct elf *elf, const char *what, uint64_t offset,
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
		if (h->e_phentsize != (wide ? sizeof(Elf64_Phdr) :
					      sizeof(Elf32_Phdr)))
			return fail("%s: damaged: program headers of %u bytes",
				    elf->path, h->e_phentsize);
		if (table_check(elf, "program headers are", h->e_phoff,
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
	if (table_check(elf, "section headers are", h->e_shoff,
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
			    "damaged", elf->path);
	if (head[0] != '#' || head[1] != '!')
		return fail("%s: not an ELF file", elf->path);
	line[strcspn(line, "\r\n")] = '\0';
	return fail("%s: a script; run its interpreter: pmon %s %s",
		    elf->path, line, elf->path);
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

static void build_id_read(struct elf *elf);

struct elf *
elf_open(const char *path, const char *real_path)
{
	struct elf *elf = mem_alloc(sizeof(*elf));

	elf->path = mem_strdup(path);
	if (elf_begin_file(elf, real_path ? real_path : path) < 0) {
		elf_close(elf);
		return NULL;
	}
	build_id_read(elf);
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

static const char *
machine_name(unsigned machine, unsigned class)
{
	switch (machine) {
	case EM_386:
		return "32-bit x86, i386";
	case EM_X86_64:
		return class == ELFCLASS32 ? "x32" : "x86-64";
	case EM_ARM:
		return "32-bit ARM";
	case EM_AARCH64:
		return "64-bit ARM";
	case EM_MIPS:
		return "MIPS";
	case EM_PPC:
	case EM_PPC64:
		return "PowerPC";
	case EM_S390:
		return "S/390";
	case EM_RISCV:
		return "RISC-V";
	case EM_SPARC:
	case EM_SPARCV9:
		return "SPARC";
	case EM_68K:
		return "68000";
	case EM_VAX:
		return "VAX";
	}
	return "unknown";
}

const struct arch *
elf_program(const struct elf *elf)
{
	const GElf_Ehdr *h = &elf->header;
	const struct arch *arch;

	switch (h->e_type) {
	case ET_EXEC:
	case ET_DYN:
		break;
	case ET_REL:
		return fail_null("%s: an object file that is not linked yet",
				 elf->path);
	case ET_CORE:
		return fail_null("%s: a core dump, not a program", elf->path);
	default:
		return fail_null("%s: not a program (ELF type %u)", elf->path,
				 h->e_type);
	}
	arch = arch_find(h->e_machine, h->e_ident[EI_CLASS], h->e_flags);
	if (!arch)
		return fail_null("%s: pmon does not support its CPU (ELF "
				 "machine %u: %s)", elf->path, h->e_machine,
				 machine_name(h->e_machine,
					      h->e_ident[EI_CLASS]));
	if (arch->big_endian != elf_big_endian(elf))
		return fail_null("%s: damaged: a %s-endian %s program",
				 elf->path, arch->big_endian ? "little" :
				 "big", arch->name);
	return arch;
}

/* The section's name, "" when it has none. */
static const char *
section_name(const struct elf *elf, const GElf_Shdr *sh)
{
	const char *name = elf_strptr(elf->libelf, elf->names, sh->sh_name);

	return name ? name : "";
}

/* The first section of that name that has contents, or NULL. */
static Elf_Scn *
section_find(const struct elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type != SHT_NOBITS &&
		    strcmp(section_name(elf, sh), name) == 0)
			return scn;
	return NULL;
}

bool
elf_has_dwarf(const struct elf *elf)
{
	GElf_Shdr sh;

	return section_find(elf, ".debug_info", &sh) ||
	       section_find(elf, ".zdebug_info", &sh);
}

bool
elf_has_symtab(const struct elf *elf)
{
	GElf_Shdr sh;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

/* A compressed section's size as it states it; 0 if it is not compressed. */
static uint64_t
section_inflated(const struct elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	static const char gnu[] = "ZLIB";
	enum { HEAD = 12 };	/* "ZLIB", then the size, big-endian */
	Elf_Data *data;
	GElf_Chdr ch;
	uint64_t size = 0;

	if (sh->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
	if (sh->sh_type == SHT_NOBITS ||
	    strncmp(section_name(elf, sh), ".zdebug", 7) != 0)
		return 0;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size < HEAD ||
	    memcmp(data->d_buf, gnu, sizeof(gnu) - 1) != 0)
		return 0;
	for (size_t i = sizeof(gnu) - 1; i < HEAD; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

int
elf_inflate_check(struct elf *elf)
{
	uint64_t size = elf_size(elf);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (!elf->measured && (scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    __builtin_add_overflow(elf->inflated,
					   section_inflated(elf, scn, &sh),
					   &elf->inflated))
			elf->inflated = UINT64_MAX;
	elf->measured = true;
	if (elf->inflated <= INFLATED_MAX &&
	    elf->inflated / INFLATED_RATIO_MAX <= size)
		return 0;
	return fail("%s: pmon does not read its compressed sections: they "
		    "would take %" PRIu64 " bytes, and the file has %" PRIu64,
		    elf->path,
		    elf->inflated, size);
}

struct bytes
elf_section(struct elf *elf, const char *name, uint64_t *addr)
{
	char *gnu = mem_printf(".z%s", name + 1);
	GElf_Shdr sh;
	Elf_Scn *scn = section_find(elf, name, &sh);
	Elf_Data *data = NULL;

	if (scn && sh.sh_flags & SHF_COMPRESSED) {
		if (!elf_inflate_check(elf) && elf_compress(scn, 0, 0) >= 0)
			data = elf_rawdata(scn, NULL);
	} else if (scn || (scn = section_find(elf, gnu, &sh))) {
		data = elf_rawdata(scn, NULL);
		/* An earlier call may have uncompressed the section. */
		if (data && data->d_size > 4 &&
		    memcmp(data->d_buf, "ZLIB", 4) == 0)
			data = elf_inflate_check(elf) ||
			       elf_compress_gnu(scn, 0, 0) < 0 ? NULL :
			       elf_rawdata(scn, NULL);
	}
	free(gnu);
	if (addr)
		*addr = scn ? sh.sh_addr : 0;
	if (!data || !data->d_buf)
		return (struct bytes){ 0 };
	return (struct bytes){ data->d_buf, data->d_size };
}

Elf *
elf_handle(const struct elf *elf)
{
	return elf->libelf;
}

int
elf_fd(const struct elf *elf)
{
	return elf->fd;
}

/* Take the build-id, if it is there, out of a block of notes. */
static void
notes_read(struct elf *elf, Elf_Data *data)
{
	size_t offset = 0, name, desc;
	GElf_Nhdr note;

	while (data && !elf->id_len &&
	       (offset = gelf_getnote(data, offset, &note, &name, &desc)))
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp((char *)data->d_buf + name, "GNU", 4) == 0 &&
		    note.n_descsz <= BUILD_ID_MAX) {
			elf->id_len = note.n_descsz;
			memcpy(elf->id, (char *)data->d_buf + desc,
			       elf->id_len);
		}
}

static void
build_id_read(struct elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Phdr ph;

	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE)
			notes_read(elf, elf_getdata(scn, NULL));
	for (size_t i = 0; !elf->id_len && i < elf->nphdrs; i++)
		if (gelf_getphdr(elf->libelf, (int)i, &ph) &&
		    ph.p_type == PT_NOTE)
			notes_read(elf, elf_getdata_rawchunk(elf->libelf,
				(int64_t)ph.p_offset, ph.p_filesz,
				ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
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

/* Check that a new executable segment overlaps no earlier one. */
static int
segment_check(const struct elf *elf, const struct image *image,
	      const GElf_Phdr *ph)
{
	size_t n = 0;

	for (size_t i = 0; i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];

		if (!(seg->flags & PF_X))
			continue;
		if (++n == SEGMENTS_MAX ||
		    (ph->p_vaddr < seg->addr + seg->memsz &&
		     seg->addr < ph->p_vaddr + ph->p_memsz))
			return fail("%s: damaged: its segments overlap",
				    elf->path);
	}
	return 0;
}

static int
segment_read(struct elf *elf, struct reading *r, const GElf_Phdr *ph)
{
	struct image *image = r->image;
	struct segment *seg;
	uint8_t *bytes = NULL;
	bool *there = NULL;
	uint64_t end;

	if (table_check(elf, "segments are", ph->p_offset, ph->p_filesz,
			1) < 0)
		return -1;
	if (ph->p_filesz > ph->p_memsz ||
	    __builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end))
		return fail("%s: damaged: a segment at 0x%" PRIx64
			    " has no sensible size", elf->path,
			    (uint64_t)ph->p_vaddr);
	if (ph->p_flags & PF_X) {
		if (segment_check(elf, image, ph) < 0)
			return -1;
		bytes = pool_alloc(r->pool, ph->p_filesz);
		if (r->sparse)
			there = text_blocks(r, ph->p_filesz);
		else if (elf_read(elf, bytes, ph->p_offset, ph->p_filesz) < 0)
			return -1;
	}
	seg = vec_push(image->segments, image->nsegments);
	*seg = (struct segment){
		.addr = ph->p_vaddr,
		.filesz = ph->p_filesz,
		.memsz = ph->p_memsz,
		.offset = ph->p_offset,
		.flags = ph->p_flags,
		.bytes = bytes,
		.there = there,
	};
	return 0;
}

static int
interp_read(struct elf *elf, struct image *image, const GElf_Phdr *ph)
{
	if (image->interp || ph->p_filesz > PATH_MAX)
		return 0;
	if (table_check(elf, "interpreter's name is", ph->p_offset,
			ph->p_filesz, 1) < 0)
		return -1;
	image->interp = mem_alloc(ph->p_filesz + 1);
	return elf_read(elf, image->interp, ph->p_offset, ph->p_filesz);
}

static int
segments_read(struct elf *elf, struct reading *r)
{
	uint64_t code = 0;
	GElf_Phdr ph;

	for (size_t i = 0; i < elf->nphdrs; i++) {
		if (!gelf_getphdr(elf->libelf, (int)i, &ph))
			return fail("%s: damaged: program header %zu: %s",
				    elf->path, i, elf_errmsg(-1));
		if (ph.p_type == PT_INTERP &&
		    interp_read(elf, r->image, &ph) < 0)
			return -1;
		if (ph.p_type != PT_LOAD)
			continue;
		if (segment_read(elf, r, &ph) < 0)
			return -1;
		if (ph.p_flags & PF_X)
			code += ph.p_filesz;
		/* A small file must not ask for any amount of memory. */
		if (code / 2 > (uint64_t)elf->stat.st_size)
			return fail("%s: damaged: its segments overlap",
				    elf->path);
	}
	if (!code)
		return fail("%s: has no code (a separate debug file?)",
			    elf->path);
	return 0;
}

static int
text_compare(const void *a, const void *b)
{
	const struct text *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Add the part of [lo, hi) in the executable segment that holds lo, if any. */
static void
text_add(struct reading *r, uint64_t lo, uint64_t hi, bool plt)
{
	for (size_t i = 0; i < r->image->nsegments; i++) {
		const struct segment *seg = &r->image->segments[i];
		uint64_t end = seg->addr + seg->filesz;

		if (!(seg->flags & PF_X) || lo < seg->addr || lo >= end)
			continue;
		*vec_push(r->texts, r->ntexts) = (struct text){
			.lo = lo, .hi = hi < end ? hi : end, .plt = plt,
		};
		return;
	}
}

static void
texts_read(struct elf *elf, struct reading *r)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_ALLOC &&
		    sh.sh_flags & SHF_EXECINSTR && sh.sh_size &&
		    sh.sh_addr + sh.sh_size > sh.sh_addr)
			text_add(r, sh.sh_addr, sh.sh_addr + sh.sh_size,
				 strncmp(section_name(elf, &sh), ".plt",
					 4) == 0);
	for (size_t i = 0; !r->ntexts && i < r->image->nsegments; i++)
		if (r->image->segments[i].flags & PF_X)
			text_add(r, r->image->segments[i].addr, UINT64_MAX,
				 false);
	if (r->ntexts)
		qsort(r->texts, r->ntexts, sizeof(*r->texts),
		      text_compare);
}

int
elf_headers(struct elf *elf, struct reading *r)
{
	struct image *image = r->image;

	image->arch = elf_program(elf);
	if (!image->arch)
		return -1;
	image->dyn = elf->header.e_type == ET_DYN;
	image->entry = elf->header.e_entry;
	image->build_id_len = elf->id_len;
	memcpy(image->build_id, elf->id, elf->id_len);
	if (segments_read(elf, r) < 0)
		return -1;
	texts_read(elf, r);
	if (!elf->header.e_shoff)
		reading_remark(r, "%s has no section headers: its functions "
			       "cannot be found", elf->path);
	return 0;
}
