/*
 * Reads the symbol tables of an ELF file: the function symbols, single symbols
 * by name, and which of some functions it imports.  Never makes functions of
 * them: funcs.c does.
 */
#include "symtab/elf_file.h"

#include <string.h>

#include "symtab/effort.h"
#include "symtab/pool.h"
#include "symtab/text.h"
#include "util/fail.h"
#include "util/mem.h"

/* The string table that holds the names of a symbol table. */
static struct bytes
names_of(struct elf *elf, const GElf_Shdr *sh)
{
	Elf_Scn *scn = elf_getscn(elf->libelf, sh->sh_link);
	Elf_Data *data = NULL;
	GElf_Shdr names;

	if (scn && gelf_getshdr(scn, &names) && names.sh_type == SHT_STRTAB)
		data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf)
		return (struct bytes){ 0 };
	return (struct bytes){ data->d_buf, data->d_size };
}

/* A symbol's name in the pool, without the version that .symtab appends. */
static const char *
symbol_name(struct effort *effort, const struct bytes *names, uint64_t at)
{
	struct cursor c = cursor_at(names, at, false);
	const uint8_t *start = c.p;
	const char *name = c.bad ? "" : cursor_string(&c);

	if (!effort_spend(effort, EFFORT_NAMES, (uint64_t)(c.p - start)) ||
	    c.bad || !*name)
		return NULL;
	return pool_string(effort->r->pool, name, strcspn(name + 1, "@") + 1);
}

static enum symbol_rank
symbol_rank(const GElf_Sym *sym)
{
	/* The symbol's address is that of the resolver. */
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
table_read(struct elf *elf, struct effort *effort, Elf_Scn *scn,
	   const GElf_Shdr *sh)
{
	struct reading *r = effort->r;
	Elf *libelf = elf->libelf;
	bool symtab = sh->sh_type == SHT_SYMTAB;
	struct bytes names = names_of(elf, sh);
	size_t size = gelf_fsize(libelf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Data *data = elf_getdata(scn, NULL);
	uint32_t group = 0;
	GElf_Sym sym;

	if (!data || sh->sh_entsize != size)
		return fail("%s: damaged: its symbol table %s cannot be read",
			    elf_path(elf), symtab ? ".symtab" : ".dynsym");
	for (int i = 0; reading_wants_any(r) && gelf_getsym(data, i, &sym) &&
			effort_spend(effort, EFFORT_NAMES, size);
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
			.name = symbol_name(effort, &names, sym.st_name),
			.group = rank == RANK_LOCAL ? group : 0,
			.rank = rank,
			.origin = symtab ? FUNC_SYMTAB : FUNC_DYNSYM,
		};
		r->symtab |= symtab;
	}
	return 0;
}

static bool
name_is(const struct bytes *names, uint64_t at, const char *name)
{
	size_t size = strlen(name) + 1;

	return at < names->n && names->n - at >= size &&
	       memcmp(names->p + at, name, size) == 0;
}

static unsigned
table_imports(struct elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
	      const char *const *names)
{
	struct bytes strings = names_of(elf, sh);
	Elf_Data *data = elf_getdata(scn, NULL);
	unsigned found = 0;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		if (sym.st_shndx != SHN_UNDEF)
			continue;
		for (size_t k = 0; names[k]; k++)
			if (name_is(&strings, sym.st_name, names[k]))
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

	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			found |= table_imports(elf, scn, &sh, names);
	return found;
}

static bool
table_symbol(struct elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
	     const char *name, uint64_t *value)
{
	struct bytes strings = names_of(elf, sh);
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
		if (sym.st_shndx != SHN_UNDEF &&
		    name_is(&strings, sym.st_name, name)) {
			*value = sym.st_value;
			return true;
		}
	return false;
}

static bool
symbol_find(struct elf *elf, bool exported, const char *name, uint64_t *value)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_DYNSYM ||
		     (sh.sh_type == SHT_SYMTAB && !exported)) &&
		    table_symbol(elf, scn, &sh, name, value))
			return true;
	return false;
}

bool
elf_symbol(struct elf *elf, const char *name, uint64_t *value)
{
	return symbol_find(elf, false, name, value);
}

bool
elf_export(struct elf *elf, const char *name)
{
	uint64_t value;

	return symbol_find(elf, true, name, &value);
}

int
elf_symbols(struct elf *elf, struct reading *r)
{
	struct effort effort = effort_begin(r, elf);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (r->sparse && r->image->unsearched)
		return 0;
	while ((scn = elf_nextscn(elf->libelf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    table_read(elf, &effort, scn, &sh) < 0)
			return -1;
	return 0;
}
