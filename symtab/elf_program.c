/*
 * What an ELF file's headers tell of a program: its CPU, its segments with
 * their code, and where its text is.  Never looks at symbols or at data.
 */
#include "symtab/elf_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/text.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

enum { SEGMENTS_MAX = 64 };	/* executable ones */

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
				 "machine %u: %s)",
				 elf->path, h->e_machine,
				 machine_name(h->e_machine,
					      h->e_ident[EI_CLASS]));
	if (arch->big_endian != elf_big_endian(elf))
		return fail_null("%s: damaged: a %s-endian %s program",
				 elf->path, arch->big_endian ? "little" : "big",
				 arch->name);
	if (arch->load && arch->load())
		return fail_null("%s: programs for %s need %s", elf->path,
				 arch->name, fail_message());
	return arch;
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

	if (elf_table_check(elf, "segments are", ph->p_offset, ph->p_filesz,
			    1) < 0)
		return -1;
	if (ph->p_filesz > ph->p_memsz ||
	    __builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end))
		return fail("%s: damaged: a segment at 0x%" PRIx64
			    " has no sensible size",
			    elf->path, (uint64_t)ph->p_vaddr);
	if (ph->p_flags & PF_X) {
		if (segment_check(elf, image, ph) < 0)
			return -1;
		if (r->sparse) {
			bytes = mem_map(ph->p_filesz);
			there = text_blocks(r, ph->p_filesz);
		} else {
			bytes = pool_alloc(r->pool, ph->p_filesz);
		}
		if (!there &&
		    elf_read(elf, bytes, ph->p_offset, ph->p_filesz) < 0)
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
	if (elf_table_check(elf, "interpreter's name is", ph->p_offset,
			    ph->p_filesz, 1) < 0)
		return -1;
	image->interp = mem_alloc(ph->p_filesz + 1);
	return elf_read(elf, image->interp, ph->p_offset, ph->p_filesz);
}

/*
 * Is all code left out of the file?  Program headers do not tell: eu-strip copies
 * the program's into a separate debug file, where they lead to other bytes.
 */
static bool
code_absent(const struct elf *elf)
{
	Elf_Scn *scn = NULL;
	bool absent = false;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf->libelf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
		    !sh.sh_size)
			continue;
		if (sh.sh_type != SHT_NOBITS)
			return false;
		absent = true;
	}
	return absent;
}

static int
segments_read(struct elf *elf, struct reading *r)
{
	bool absent = code_absent(elf);
	uint64_t code = 0;
	GElf_Phdr ph;

	for (size_t i = 0; i < elf->nphdrs && !absent; i++) {
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
			.lo = lo,
			.hi = hi < end ? hi : end,
			.plt = plt,
		};
		return;
	}
}

/* Add a section of code; note if its name is one that linkers give to stubs. */
static void
section_add(struct reading *r, const char *name, uint64_t lo, uint64_t hi)
{
	static const char *const plts[] = { ".plt", ".plt.got", ".plt.sec",
					    ".plt.bnd", ".iplt" };
	size_t n = r->ntexts;

	text_add(r, lo, hi, strncmp(name, ".plt", 4) == 0);
	for (size_t i = 0; i < sizeof(plts) / sizeof(plts[0]); i++)
		if (r->ntexts > n && !strcmp(name, plts[i]))
			*vec_push(r->image->plts, r->image->nplts) =
				(struct range){ lo, r->texts[n].hi };
}

static int
range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Put the sections of stubs in order; of those that overlap keep the first. */
static void
plts_sort(struct image *image)
{
	size_t n = 0;

	if (image->nplts)
		sort(image->plts, image->nplts, sizeof(*image->plts),
		     range_compare);
	for (size_t i = 0; i < image->nplts; i++)
		if (!n || image->plts[i].lo >= image->plts[n - 1].hi)
			image->plts[n++] = image->plts[i];
	image->nplts = n;
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
			section_add(r, elf_section_name(elf, &sh), sh.sh_addr,
				    sh.sh_addr + sh.sh_size);
	for (size_t i = 0; !r->ntexts && i < r->image->nsegments; i++)
		if (r->image->segments[i].flags & PF_X)
			text_add(r, r->image->segments[i].addr, UINT64_MAX,
				 false);
	if (r->ntexts)
		sort(r->texts, r->ntexts, sizeof(*r->texts), text_compare);
	for (size_t i = 0; i < r->ntexts; i++)
		if (r->texts[i].hi > r->texts_end)
			r->texts_end = r->texts[i].hi;
	plts_sort(r->image);
}

/*
 * Leave out all text: Mono has compiled the image ahead.  It binds a call when
 * it is made for the first time, and for that reads the call's instruction and
 * a stub; it aborts if they are not as it has made them
 * (mono_aot_get_plt_entry).
 */
static void
texts_leave(struct reading *r)
{
	r->ntexts = 0;
	r->texts_end = 0;
	r->image->nplts = 0;
	reading_remark(r,
		       "%s: compiled ahead by Mono, which reads this code: its "
		       "functions are not counted",
		       r->image->path);
}

/* rt_sigreturn and ud2; gettimeofday and ret. */
static const uint8_t trampolines[] = {
	0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x0f, 0x0b,
	0x48, 0xc7, 0xc0, 0x60, 0, 0, 0, 0x0f, 0x05, 0xc3,
};
/* There is much of it before and behind. */
static const uint8_t padding[] = { 0x0f, 0x0b, 0x0f, 0x0b, 0x0f, 0x0b };

/*
 * Leave out the part of a text that Valgrind has its client execute: a signal
 * restorer, and functions in place of some of the dynamic linker's
 * (coregrind/m_trampoline.S).  It runs in Valgrind's translation, in which a
 * breakpoint is the client's own.
 */
static void
text_leave(struct reading *r, size_t text, const uint8_t *code)
{
	uint64_t lo = r->texts[text].lo, hi = r->texts[text].hi;
	const uint8_t *from = memmem(code, hi - lo, trampolines,
				     sizeof(trampolines));
	const uint8_t *to = from ? memmem(from + sizeof(trampolines),
					  (size_t)(code + (hi - lo) - from) -
						  sizeof(trampolines),
					  padding, sizeof(padding)) :
				   NULL;

	if (!to)
		return;
	r->texts[text].hi = lo + (uint64_t)(from - code);
	text_add(r, lo + (uint64_t)(to - code), hi, false);
	reading_remark(r,
		       "%s: %d bytes of code are not counted: Valgrind has its "
		       "client execute them",
		       r->image->path, (int)(to - from));
}

/* The same for all texts, whose bytes have been read. */
static void
texts_translated(struct reading *r)
{
	size_t n = r->ntexts;

	for (size_t i = 0; i < n; i++) {
		uint64_t lo = r->texts[i].lo;

		for (size_t k = 0; k < r->image->nsegments; k++) {
			const struct segment *seg = &r->image->segments[k];

			if (seg->bytes && lo >= seg->addr &&
			    lo - seg->addr < seg->filesz)
				text_leave(r, i, seg->bytes + (lo - seg->addr));
		}
	}
	if (n != r->ntexts)
		sort(r->texts, r->ntexts, sizeof(*r->texts), text_compare);
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
	if (!image->interp && elf_export(elf, "mono_aot_file_info"))
		texts_leave(r);
	if (!image->interp && !r->sparse && elf->header.e_machine == EM_X86_64)
		texts_translated(r);
	if (!elf->header.e_shoff)
		reading_remark(r,
			       "%s has no section headers: its functions "
			       "cannot be found",
			       elf->path);
	return 0;
}
