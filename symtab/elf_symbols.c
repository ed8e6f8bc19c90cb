/*
 * The symbol tables of an ELF file: the functions it has, and whether it
 * imports some.  Makes no functions: funcs.c does, of these and others.
 */
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "symtab/pool.h"
#include "symtab/text.h"
#include "util/fail.h"
#include "util/mem.h"

/* Without the version that follows a name in .symtab. */
static const char *
symbol_name(struct reading *r, const char *name)
{
	size_t n;

	if (!name || !*name)
		return NULL;
	n = strcspn(name + 1, "@") + 1;
	return pool_string(r->pool, name, n);
}

static enum symbol_rank
symbol_rank(const GElf_Sym *sym)
{
	/* Its address is that of the function which chooses another. */
	if (GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		return RANK_IFUNC;
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return RANK_LOCAL;
	case STB_WEAK:
		return RANK_WEAK;
	}
	return RANK_GLOBAL;
}

static int
table_read(struct elf *elf, struct reading *r, Elf_Scn *scn,
	   const GElf_Shdr *sh)
{
	Elf *libelf = elf_handle(elf);
	bool symtab = sh->sh_type == SHT_SYMTAB;
	size_t size = gelf_fsize(libelf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Data *data = elf_getdata(scn, NULL);
	uint32_t group = 0;
	GElf_Sym sym;

	if (!data || sh->sh_entsize != size)
		return fail("%s: damaged: its symbol table %s cannot be read",
			    elf_path(elf), symtab ? ".symtab" : ".dynsym");
	for (int i = 0; reading_wants_any(r) && gelf_getsym(data, i, &sym);
	     i++) {
		unsigned type = GELF_ST_TYPE(sym.st_info);
		enum symbol_rank rank = symbol_rank(&sym);

		if (type == STT_FILE)
			group++;
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ||
		    !reading_wants(r, sym.st_value, sym.st_size) ||
		    !reading_text(r, sym.st_value))
			continue;
		*vec_push(r->symbols, r->nsymbols) = (struct symbol){
			.addr = sym.st_value,
			.size = sym.st_size,
			.name = symbol_name(r, elf_strptr(libelf,
					    sh->sh_link, sym.st_name)),
			.group = rank == RANK_LOCAL ? group : 0,
			.rank = rank,
			.origin = symtab ? FUNC_SYMTAB : FUNC_DYNSYM,
		};
		r->symtab |= symtab;
	}
	return 0;
}

static unsigned
table_imports(struct elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
	      const char *const *names)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	unsigned found = 0;
	const char *name;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		if (sym.st_shndx != SHN_UNDEF)
			continue;
		name = elf_strptr(elf_handle(elf), sh->sh_link, sym.st_name);
		for (size_t k = 0; name && names[k]; k++)
			if (!strcmp(name, names[k]))
				found |= 1U << k;
	}
	return found;
}

unsigned
elf_imports(struct elf *elf, const char *const *names)
{
	unsigned found = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf_handle(elf), scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			found |= table_imports(elf, scn, &sh, names);
	return found;
}

int
elf_symbols(struct elf *elf, struct reading *r)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf_handle(elf), scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    table_read(elf, r, scn, &sh) < 0)
			return -1;
	return 0;
}
