/*
 * The sections of an ELF file: found by name, uncompressed if their sizes are
 * sensible, and the build-id out of the notes.  Knows nothing of DWARF but the
 * names of its sections.
 */
#include "symtab/elf_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

/* Compression makes debugging information 3 to 10 times smaller. */
enum { INFLATED_RATIO_MAX = 50 };

/* Nearly all DWARF has offsets of 32 bits. */
static const uint64_t INFLATED_MAX = UINT32_MAX;

const char *
elf_section_name(const struct elf *elf, const GElf_Shdr *sh)
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
		    strcmp(elf_section_name(elf, sh), name) == 0)
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
	    strncmp(elf_section_name(elf, sh), ".zdebug", 7) != 0)
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
		    elf->path, elf->inflated, size);
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
					       elf_compress_gnu(scn, 0, 0) < 0 ?
				       NULL :
				       elf_rawdata(scn, NULL);
	}
	free(gnu);
	if (addr)
		*addr = scn ? sh.sh_addr : 0;
	if (!data || !data->d_buf)
		return (struct bytes){ 0 };
	return (struct bytes){ data->d_buf, data->d_size };
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

void
elf_notes(struct elf *elf)
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
			notes_read(elf,
				   elf_getdata_rawchunk(elf->libelf,
							(int64_t)ph.p_offset,
							ph.p_filesz,
							ph.p_align == 8 ?
								ELF_T_NHDR8 :
								ELF_T_NHDR));
}
