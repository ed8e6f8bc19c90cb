/*
 * Reads ELF files that are mapped, of 64 bits, and what a dynamic linker tells
 * debuggers, out of the program's memory: file and program headers, the dynamic
 * section and struct r_debug.  The program may have written anything there.
 * Never writes.
 */
#include "host/dynamic.h"

#include <elf.h>
#include <string.h>

enum { PHDRS_MAX = 64, DYNAMICS_MAX = 256 };

uint64_t
dynamic_brk(const struct host *host, pid_t tid)
{
	uint64_t phdrs = host->auxv(tid, AT_PHDR), bias = 0, at = 0;
	uint64_t n = host->auxv(tid, AT_PHNUM), brk = 0;
	Elf64_Phdr phdr[PHDRS_MAX];
	Elf64_Dyn dyn = { .d_tag = DT_NULL + 1 };

	if (!phdrs || !n || n > PHDRS_MAX ||
	    host->data_read(tid, phdrs, phdr, n * sizeof(*phdr)))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == PT_PHDR)
			bias = phdrs - phdr[i].p_vaddr;
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == PT_DYNAMIC)
			at = phdr[i].p_vaddr + bias;
	for (size_t i = 0; at && i < DYNAMICS_MAX; i++) {
		if (host->data_read(tid, at + i * sizeof(dyn), &dyn,
				    sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			return 0;
		if (dyn.d_tag == DT_DEBUG)
			break;
	}
	/* struct r_debug: version, list, r_brk. */
	if (dyn.d_tag != DT_DEBUG || !dyn.d_un.d_ptr ||
	    host->data_read(tid, dyn.d_un.d_ptr + 16, &brk, sizeof(brk)))
		return 0;
	return brk;
}

uint64_t
dynamic_file_size(const struct host *host, int mem, pid_t tid,
		  const struct mapping *map)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	uint64_t size, end;

	if (host->mem_read(mem, tid, map->lo, &ehdr, sizeof(ehdr)) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	size = ehdr.e_shoff + (uint64_t)ehdr.e_shnum * ehdr.e_shentsize;
	for (size_t i = 0; i < ehdr.e_phnum; i++) {
		if (host->mem_read(mem, tid,
				   map->lo + ehdr.e_phoff + i * sizeof(phdr),
				   &phdr, sizeof(phdr)))
			return 0;
		end = phdr.p_vaddr + phdr.p_memsz;
		if (phdr.p_type == PT_LOAD && end > size)
			size = end;
	}
	return size;
}
