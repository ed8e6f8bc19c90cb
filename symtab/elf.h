/*
 * ELF files: headers, segments, symbols, where the separate debug file is.
 * Private to symtab/.
 */
#ifndef SYMTAB_ELF_H
#define SYMTAB_ELF_H

#include "symtab/reading.h"

struct elf;

/*
 * Open an ELF file; path names it in messages, real_path, if not NULL, is
 * what is opened.  NULL with the message set.
 */
struct elf *elf_open(const char *path, const char *real_path);
void elf_close(struct elf *elf);

int elf_fd(const struct elf *elf);
const char *elf_path(const struct elf *elf);

/* The arch of a program; NULL, with the message, if it is not one. */
const struct arch *elf_program(const struct elf *elf);

/*
 * Fill in what the headers say: segments with their bytes, entry, build-id,
 * and r->texts.  0 or -1 with the message set.
 */
int elf_headers(struct elf *elf, struct reading *r);

/*
 * Append the function symbols of .symtab and .dynsym (those in no text are
 * left out).  0 or -1 with the message set: the table is damaged.
 */
int elf_symbols(struct elf *elf, struct reading *r);

/* Has DWARF, or a .symtab. */
bool elf_has_dwarf(const struct elf *elf);
bool elf_has_symtab(const struct elf *elf);

/*
 * The separate debug file of elf, by build-id or debug link, or NULL; then
 * no message is set.  One that does not match is told in a remark.
 */
struct elf *elf_debug_file(struct elf *elf, struct reading *r);

/* The file that elf's DWARF shares with others (dwz), or NULL. */
struct elf *elf_supplement(struct elf *elf);

#endif
