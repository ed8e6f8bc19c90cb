/*
 * ELF files: their headers, segments, sections and symbols.  Private to
 * symtab/.
 */
#ifndef SYMTAB_ELF_H
#define SYMTAB_ELF_H

#include "symtab/cursor.h"
#include "symtab/reading.h"
#include "util/fail.h"

struct elf;

/*
 * Open an ELF file and check its headers.  path is its name in messages;
 * real_path, if not NULL, is the file to open.  NULL with the message set.
 */
struct elf *elf_open(const char *path, const char *real_path);
void elf_close(struct elf *elf);

bool elf_big_endian(const struct elf *elf);
bool elf_wide(const struct elf *elf);	/* 64 bits */
const char *elf_path(const struct elf *elf);
uint64_t elf_size(const struct elf *elf);
uid_t elf_owner(const struct elf *elf, gid_t *group);
struct bytes elf_build_id(const struct elf *elf);	/* or none */
struct file_id elf_file_id(const struct elf *elf);
bool elf_same_file(const struct elf *a, const struct elf *b);
bool elf_same_machine(const struct elf *a, const struct elf *b);

/* Read n bytes at offset of the file; 0 or -1 with the message set. */
MUST_CHECK int elf_read(const struct elf *elf, void *buf, uint64_t offset,
			size_t n);

/* A program's arch; NULL with the message set if pmon cannot run the file. */
const struct arch *elf_program(const struct elf *elf);

/*
 * Fill in the image from the headers: arch, segments with their bytes, entry,
 * build-id; and r->texts.  0 or -1 with the message set.
 */
MUST_CHECK int elf_headers(struct elf *elf, struct reading *r);

/*
 * Append the function symbols of .symtab and .dynsym that lie in text.  0, or
 * -1 with the message set if a table is damaged.
 */
MUST_CHECK int elf_symbols(struct elf *elf, struct reading *r);

/*
 * Which of these functions the file imports: bit i for names[i].  At most 32
 * names, with NULL behind the last.
 */
unsigned elf_imports(struct elf *elf, const char *const *names);

/* Set *value to what the symbol of that name stands for; false: none. */
bool elf_symbol(struct elf *elf, const char *name, uint64_t *value);

/* Whether the file exports a symbol of that name. */
bool elf_export(struct elf *elf, const char *name);

/*
 * Fill in the image's constant data, code addresses in data, and imports.
 * Parts that cannot be read are left out without a message: pmon then knows
 * less, but nothing wrong.
 */
void elf_data(struct elf *elf, struct reading *r);

/* The same of the constant data that the dynamic linker does not change. */
void elf_constants(struct elf *elf, struct reading *r);

/*
 * Set *value to the address, as linked, that the dynamic linker puts into the
 * word at `at` when it relocates the file.  False if it does not.
 */
bool elf_relative(struct elf *elf, uint64_t at, uint64_t *value);

/* Does the file have DWARF?  A .symtab? */
bool elf_has_dwarf(const struct elf *elf);
bool elf_has_symtab(const struct elf *elf);

/*
 * 0 if the compressed sections together have a sensible size; else -1 with
 * the message set, and elf_section gives none of them.
 */
MUST_CHECK int elf_inflate_check(struct elf *elf);

/*
 * The uncompressed contents of section .NAME or .zNAME, empty if there is
 * none; they live as long as elf.  addr, if not NULL, is set to the section's
 * address.
 */
struct bytes elf_section(struct elf *elf, const char *name, uint64_t *addr);

/* The file's descriptor, which is elf's. */
int elf_fd(const struct elf *elf);

#endif
