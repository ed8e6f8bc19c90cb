/*
 * ELF files: headers, segments, sections, symbols.  Private to symtab/.
 */
#ifndef SYMTAB_ELF_H
#define SYMTAB_ELF_H

#include "symtab/cursor.h"
#include "symtab/reading.h"

struct elf;

/*
 * Open an ELF file; path names it in messages, real_path, if not NULL, is
 * what is opened.  NULL with the message set.
 */
struct elf *elf_open(const char *path, const char *real_path);
void elf_close(struct elf *elf);

bool elf_big_endian(const struct elf *elf);
bool elf_wide(const struct elf *elf);	/* 64 bits */
const char *elf_path(const struct elf *elf);
uint64_t elf_size(const struct elf *elf);
uid_t elf_owner(const struct elf *elf, gid_t *group);
struct bytes elf_build_id(const struct elf *elf);	/* or none */
bool elf_same_file(const struct elf *a, const struct elf *b);
bool elf_same_machine(const struct elf *a, const struct elf *b);

/* Read n bytes of the file; 0 or -1 with the message set. */
int elf_read(const struct elf *elf, void *buf, uint64_t offset, size_t n);

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

/*
 * Which of these functions the file imports, a bit each; no more than 32 names,
 * of which NULL is the end.
 */
unsigned elf_imports(struct elf *elf, const char *const *names);

/*
 * Fill in the image's constant data, code addresses in data, and imports, as
 * far as they can be read: without them less is known, nothing wrong.
 */
void elf_data(struct elf *elf, struct reading *r);

/* Has DWARF, or a .symtab. */
bool elf_has_dwarf(const struct elf *elf);
bool elf_has_symtab(const struct elf *elf);

/*
 * Whether its compressed sections, all together, are no bomb: 0, or -1 with
 * the message, and then none of them is read.
 */
int elf_inflate_check(struct elf *elf);

/*
 * The contents of .NAME or .zNAME, uncompressed, none if there is none; they
 * live as long as elf.  addr, if not NULL, is set to its address.
 */
struct bytes elf_section(struct elf *elf, const char *name, uint64_t *addr);

/* libelf's own, for elf_data.c and elf_symbols.c. */
struct Elf *elf_handle(const struct elf *elf);
int elf_fd(const struct elf *elf);

#endif
