/*
 * Reads what flow/ needs to know of an ELF file's data: the bytes that the
 * program cannot write, the addresses of code that data holds, and the
 * pointers that the dynamic linker fills in.  Leaves out damaged parts; never
 * fails.
 */
#include "symtab/elf_file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/frametable.h"
#include "symtab/text.h"
#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

struct span {
	uint64_t lo, hi;
};

struct filling {
	struct elf *elf;
	Elf *libelf;
	struct reading *r;
	struct span relro;	/* only the dynamic linker writes this */
	uint64_t room;		/* bytes that may still be read */
	bool bare;		/* fill in constants alone */
	size_t word;		/* bytes of an address */
	bool big_endian;
	uint64_t *words;	/* ascending: where frame tables have return
				   addresses */
	size_t nwords;
	uint64_t *returns;	/* what they have there */
	size_t nreturns;
};

/* The relocation types of a machine, as its ABI numbers them. */
struct relocations {
	unsigned machine;
	unsigned relative;	/* base + addend */
	unsigned absolute;	/* symbol + addend */
	unsigned glob_dat, jump_slot;	/* symbol */
};

static const struct relocations relocations[] = {
	{ EM_X86_64, R_X86_64_RELATIVE, R_X86_64_64, R_X86_64_GLOB_DAT,
	  R_X86_64_JUMP_SLOT },
	{ EM_68K, R_68K_RELATIVE, R_68K_32, R_68K_GLOB_DAT, R_68K_JMP_SLOT },
	{ EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_ABS64, R_AARCH64_GLOB_DAT,
	  R_AARCH64_JUMP_SLOT },
};

/* Read an address of `size` bytes. */
static uint64_t
address_get(const uint8_t *p, size_t size, bool big_endian)
{
	uint64_t word;
	struct cursor c = {
		.p = p,
		.end = p + size,
		.big_endian = big_endian,
	};

	/* Tens of millions of words may be looked at. */
	if (size == sizeof(word) && !big_endian) {
		memcpy(&word, p, sizeof(word));
		return le64toh(word);
	}
	return cursor_take(&c, size);
}

/* Read an address in the file's size and byte order. */
static uint64_t
word_get(const struct filling *f, const uint8_t *p)
{
	return address_get(p, f->word, f->big_endian);
}

static void
word_set(const struct filling *f, uint8_t *p, uint64_t value)
{
	for (size_t i = 0; i < f->word; i++)
		p[i] = (uint8_t)(value >>
				 8 * (f->big_endian ? f->word - 1 - i : i));
}

/* Add an address that the data have at `at`, if it is one of code. */
static void
ref_add(struct filling *f, uint64_t at, uint64_t addr)
{
	struct image *image = f->r->image;
	size_t word;

	if (!reading_text(f->r, addr))
		return;
	word = search_first(f->nwords, i, f->words[i] >= at);
	if (word < f->nwords && f->words[word] == at)
		*vec_push(f->returns, f->nreturns) = addr;
	else
		*vec_push(image->refs, image->nrefs) = addr;
}

static struct span
relro_find(Elf *libelf)
{
	struct span span = { 0 };
	GElf_Phdr ph;
	size_t n;

	if (elf_getphdrnum(libelf, &n) < 0)
		return span;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(libelf, (int)i, &ph) &&
		    ph.p_type == PT_GNU_RELRO &&
		    ph.p_vaddr + ph.p_memsz > ph.p_vaddr)
			span = (struct span){ ph.p_vaddr,
					      ph.p_vaddr + ph.p_memsz };
	return span;
}

/*
 * Data at addr, which the file has at offset; the caller owns the bytes.  None
 * if they cannot be read.  A sparse image's are read when they are needed.
 */
static struct data
data_read(struct filling *f, uint64_t addr, uint64_t offset, uint64_t size)
{
	struct data data = { .addr = addr, .size = size, .offset = offset };
	uint64_t end;

	if (!size || size > f->room ||
	    __builtin_add_overflow(offset, size, &end) ||
	    end > elf_size(f->elf))
		return data;
	f->room -= size;
	if (f->r->sparse) {
		data.bytes = mem_map(size);
		data.there = text_blocks(f->r, size);
		return data;
	}
	data.bytes = mem_alloc(size);
	if (elf_read(f->elf, data.bytes, offset, size) == 0)
		return data;
	free(data.bytes);
	data.bytes = NULL;
	return data;
}

/* Add constant data to the image, which takes over the bytes. */
static void
data_add(const struct filling *f, const struct data *data)
{
	struct image *image = f->r->image;

	if (data->addr + data->size < data->addr)
		text_data_free(data);
	else if (data->bytes)
		*vec_push(image->data, image->ndata) = *data;
}

/*
 * Take every word of a section for a possible address of code, since a
 * program linked to fixed addresses has no relocations.  Words are aligned to
 * two bytes only on the 68000, and to as many as the section is, which may be
 * less than a word if all of it is assembly language.
 */
static void
words_scan(struct filling *f, const GElf_Shdr *sh, const uint8_t *bytes)
{
	const struct reading *r = f->r;
	uint64_t align = r->image->arch->machine == EM_68K ? 2 : f->word;
	uint64_t own = sh->sh_addralign ? sh->sh_addralign : 1;
	uint64_t lo = r->ntexts ? r->texts[0].lo : r->texts_end;
	uint64_t span = r->texts_end - lo, size = sh->sh_size;
	bool big_endian = f->big_endian;
	size_t n = f->word;

	/* A power of 2 in a sound file. */
	if (own < align && !(own & (own - 1)))
		align = own;
	for (uint64_t i = -sh->sh_addr & (align - 1); i + n <= size;
	     i += align) {
		uint64_t word = address_get(bytes + i, n, big_endian);

		if (word - lo < span)
			ref_add(f, sh->sh_addr + i, word);
	}
}

/*
 * Does the program never write the section?  In a program that is not
 * position-independent the global offset table stays as it was linked.
 */
static bool
section_constant(const struct filling *f, const GElf_Shdr *sh)
{
	const char *name;
	size_t names;

	if (sh->sh_type != SHT_PROGBITS)
		return false;
	if (!(sh->sh_flags & SHF_WRITE) ||
	    (sh->sh_addr >= f->relro.lo &&
	     sh->sh_addr + sh->sh_size <= f->relro.hi))
		return true;
	if (elf_getshdrstrndx(f->libelf, &names) < 0)
		return false;
	name = elf_strptr(f->libelf, names, sh->sh_name);
	return name && (!strcmp(name, "__rseq_cs") ||
			(!f->r->image->dyn && !strcmp(name, ".got")));
}

static void
section_fill(struct filling *f, const GElf_Shdr *sh)
{
	struct image *image = f->r->image;
	bool constant = section_constant(f, sh);
	struct data data;

	if (sh->sh_type == SHT_NOBITS || !(sh->sh_flags & SHF_ALLOC) ||
	    sh->sh_flags & (SHF_EXECINSTR | SHF_TLS) ||
	    ((image->dyn || f->bare) && !constant))
		return;
	data = data_read(f, sh->sh_addr, sh->sh_offset, sh->sh_size);
	if (data.bytes && !image->dyn && !f->bare)
		words_scan(f, sh, data.bytes);
	if (constant)
		data_add(f, &data);
	else
		text_data_free(&data);
}

static void
sections_fill(struct filling *f)
{
	struct image *image = f->r->image;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	bool any = false;

	while ((scn = elf_nextscn(f->libelf, scn)))
		if (gelf_getshdr(scn, &sh)) {
			section_fill(f, &sh);
			any = true;
		}
	for (size_t i = 0; !any && i < image->nsegments; i++) {
		const struct segment *seg = &image->segments[i];
		struct data data;

		if (seg->flags & (PF_X | PF_W))
			continue;
		data = data_read(f, seg->addr, seg->offset, seg->filesz);
		data_add(f, &data);
	}
	sort_by_addr(image->data, image->ndata, sizeof(*image->data));
}

/* The word at addr of constant data, or NULL. */
static uint8_t *
data_word(const struct filling *f, uint64_t addr)
{
	const struct image *image = f->r->image;
	size_t lo;
	const struct data *data;

	lo = search_first(image->ndata, i, image->data[i].addr > addr);
	if (!lo)
		return NULL;
	data = &image->data[lo - 1];
	if (addr - data->addr >= data->size ||
	    data->size - (addr - data->addr) < f->word)
		return NULL;
	return data->bytes + (addr - data->addr);
}

static void
pointer_set(struct filling *f, uint64_t at, uint64_t value)
{
	uint8_t *word = data_word(f, at);

	if (word)
		word_set(f, word, value);
	ref_add(f, at, value);
}

/* The symbol of that index that relocations of the section `rel` refer to. */
static bool
symbol_get(const struct filling *f, const GElf_Shdr *rel, uint64_t index,
	   GElf_Sym *sym, const char **name)
{
	Elf_Scn *scn = elf_getscn(f->libelf, rel->sh_link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr sh;

	if (!data || !gelf_getshdr(scn, &sh) || index > INT32_MAX ||
	    !gelf_getsym(data, (int)index, sym))
		return false;
	*name = elf_strptr(f->libelf, sh.sh_link, sym->st_name);
	return true;
}

/* Apply one relocation: System V ABI for AMD64, 4.4.1, and its like. */
static void
relocation_fill(struct filling *f, const struct relocations *kinds,
		const GElf_Shdr *sh, const GElf_Rela *rela)
{
	struct image *image = f->r->image;
	unsigned type = GELF_R_TYPE(rela->r_info);
	const char *name;
	GElf_Sym sym;

	if (type == kinds->relative) {
		pointer_set(f, rela->r_offset, (uint64_t)rela->r_addend);
	} else if (type == kinds->absolute) {
		if (symbol_get(f, sh, GELF_R_SYM(rela->r_info), &sym, &name) &&
		    sym.st_shndx != SHN_UNDEF)
			pointer_set(f, rela->r_offset,
				    sym.st_value + (uint64_t)rela->r_addend);
	} else if (type == kinds->glob_dat || type == kinds->jump_slot) {
		if (symbol_get(f, sh, GELF_R_SYM(rela->r_info), &sym, &name) &&
		    name && *name)
			*vec_push(image->imports,
				  image->nimports) = (struct import){
				.slot = rela->r_offset,
				.name = pool_string(f->r->pool, name,
						    strlen(name)),
			};
	}
}

/* The relocation types of that machine, or NULL. */
static const struct relocations *
relocations_of(unsigned machine)
{
	for (size_t i = 0; i < sizeof(relocations) / sizeof(*relocations); i++)
		if (relocations[i].machine == machine)
			return &relocations[i];
	return NULL;
}

static void
rela_fill(struct filling *f, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	const struct relocations *kinds = relocations_of(
		f->r->image->arch->machine);
	GElf_Rela rela;

	if (!kinds)
		return;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++)
		if (gelf_getrela(data, (int)i, &rela))
			relocation_fill(f, kinds, sh, &rela);
}

bool
elf_relative(struct elf *elf, uint64_t at, uint64_t *value)
{
	const struct relocations *kinds = relocations_of(elf->header.e_machine);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Rela rela;

	while (kinds && (scn = elf_nextscn(elf->libelf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &sh) &&
						 sh.sh_type == SHT_RELA &&
						 sh.sh_flags & SHF_ALLOC ?
					 elf_getdata(scn, NULL) :
					 NULL;

		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == at &&
			    GELF_R_TYPE(rela.r_info) == kinds->relative) {
				*value = (uint64_t)rela.r_addend;
				return true;
			}
	}
	return false;
}

/*
 * Apply packed relative relocations: an address, then bit maps that each tell
 * which of the next 63 words (31 if words have 32 bits) are relocated (gABI
 * draft, "Relative Relocation Table").
 */
static void
relr_fill(struct filling *f, Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	size_t n = data ? data->d_size / f->word : 0;
	uint64_t at = 0, entry;
	const uint8_t *word;

	for (size_t i = 0; i < n; i++) {
		entry = word_get(f, (uint8_t *)data->d_buf + i * f->word);
		if (!(entry & 1)) {
			at = entry;
			entry = 3;
		}
		for (unsigned k = 0; entry >>= 1; k++) {
			word = entry & 1 ? data_word(f, at + f->word * k) :
					   NULL;
			if (word)
				ref_add(f, at + f->word * k, word_get(f, word));
		}
		entry = word_get(f, (uint8_t *)data->d_buf + i * f->word);
		at += entry & 1 ? (8 * f->word - 1) * f->word : f->word;
	}
}

static void
relocations_fill(struct filling *f)
{
	enum { TYPE_RELR = 19 };
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(f->libelf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		if (sh.sh_type == SHT_RELA)
			rela_fill(f, scn, &sh);
		else if (sh.sh_type == TYPE_RELR)
			relr_fill(f, scn);
	}
}

/* Sort addresses, each once; how many there are then. */
static size_t
refs_sort(uint64_t *addrs, size_t n)
{
	size_t kept = 0;

	sort_by_addr(addrs, n, sizeof(*addrs));
	for (size_t i = 0; i < n; i++)
		if (!kept || addrs[kept - 1] != addrs[i])
			addrs[kept++] = addrs[i];
	return kept;
}

/*
 * Sort the addresses found, each once.  An address that frame tables have and
 * other data, too, is no return address alone.
 */
static void
refs_merge(struct filling *f)
{
	struct image *image = f->r->image;
	size_t nrefs = refs_sort(image->refs, image->nrefs);
	size_t n = refs_sort(f->returns, f->nreturns);

	image->nrefs = nrefs;
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = f->returns[i];
		size_t at = search_first(nrefs, k, image->refs[k] >= addr);

		if (at < nrefs && image->refs[at] == addr)
			continue;
		*vec_push(image->frames, image->nframes) = addr;
		*vec_push(image->refs, image->nrefs) = addr;
	}
	sort_by_addr(image->refs, image->nrefs, sizeof(*image->refs));
	free(f->returns);
	free(f->words);
}

static struct filling
filling_begin(struct elf *elf, struct reading *r)
{
	return (struct filling){
		.elf = elf,
		.libelf = elf->libelf,
		.r = r,
		.room = 4 * elf_size(elf),
		.word = elf_wide(elf) ? 8 : 4,
		.big_endian = elf_big_endian(elf),
	};
}

void
elf_constants(struct elf *elf, struct reading *r)
{
	struct filling f = filling_begin(elf, r);

	f.bare = true;
	sections_fill(&f);
}

void
elf_data(struct elf *elf, struct reading *r)
{
	struct image *image = r->image;
	struct filling f = filling_begin(elf, r);

	f.words = frametable_words(elf, r, &f.nwords);
	f.relro = relro_find(f.libelf);
	sections_fill(&f);
	relocations_fill(&f);
	refs_merge(&f);
	sort_by_addr(image->imports, image->nimports, sizeof(*image->imports));
}
