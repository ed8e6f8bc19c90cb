/*
 * An open ELF file, for symtab/elf*.c alone: no other file uses libelf.
 */
#ifndef SYMTAB_ELF_FILE_H
#define SYMTAB_ELF_FILE_H

#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include "symtab/elf.h"
#include "util/fail.h"

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

/*
 * Check that a table of `count` elements of `size` bytes at offset lies within
 * the file.  what names the table and ends with the verb.  0, or -1 with the
 * message set.
 */
MUST_CHECK int elf_table_check(const struct elf *elf, const char *what,
			       uint64_t offset, uint64_t count, uint64_t size);

/* Set the build-id from the file's notes, if they have one. */
void elf_notes(struct elf *elf);

/* The section's name, "" if it has none; owned by elf. */
const char *elf_section_name(const struct elf *elf, const GElf_Shdr *sh);

#endif
