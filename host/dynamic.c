/*
 * Reads ELF files that are mapped, of 64 bits, and what a dynamic linker tells
 * debuggers, out of the program's memory: file and program headers, the dynamic
 * section and struct r_debug.  The program may have written anything there.
 * Never writes.
 */
#include "host/dynamic.h"

#include <elf.h>
#include <link.h>
#include <string.h>

enum {
	PHDRS_MAX = 64,
	DYNAMICS_MAX = 256,
	DYNAMICS = 32,		/* read together */
	/* Offsets in struct r_debug. */
	DEBUG_BRK = 16,
	DEBUG_STATE = 24,
};

/*
 * What DT_DEBUG in the dynamic section at `at` tells, or 0.  Entries are read
 * together, or one by one where the memory ends among them.
 */
static uint64_t
section_debug(const struct host *host, pid_t tid, uint64_t at)
{
	Elf64_Dyn dyns[DYNAMICS];
	size_t n = 0, k = 0;	/* read, and looked at of these */

	for (size_t i = 0; i < DYNAMICS_MAX; i++, k++) {
		uint64_t va = at + i * sizeof(*dyns);

		if (k == n) {
			k = 0;
			n = DYNAMICS;
			if (host->data_read(tid, va, dyns, sizeof(dyns)))
				n = 1;
			if (n == 1 &&
			    host->data_read(tid, va, dyns, sizeof(*dyns)))
				return 0;
		}
		if (dyns[k].d_tag == DT_NULL)
			return 0;
		if (dyns[k].d_tag == DT_DEBUG)
			return dyns[k].d_un.d_ptr;
	}
	return 0;
}

uint64_t
dynamic_debug(const struct host *host, pid_t tid)
{
	uint64_t phdrs = host->auxv(tid, AT_PHDR), bias = 0, at = 0;
	uint64_t n = host->auxv(tid, AT_PHNUM);
	Elf64_Phdr phdr[PHDRS_MAX];

	if (!phdrs || !n || n > PHDRS_MAX ||
	    host->data_read(tid, phdrs, phdr, n * sizeof(*phdr)))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == PT_PHDR)
			bias = phdrs - phdr[i].p_vaddr;
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == PT_DYNAMIC)
			at = phdr[i].p_vaddr + bias;
	return at ? section_debug(host, tid, at) : 0;
}

uint64_t
dynamic_brk(const struct host *host, pid_t tid, uint64_t debug)
{
	uint64_t brk;

	if (!debug ||
	    host->data_read(tid, debug + DEBUG_BRK, &brk, sizeof(brk)))
		return 0;
	return brk;
}

bool
dynamic_changes(const struct host *host, pid_t tid, uint64_t debug)
{
	int32_t state;

	return debug &&
	       !host->data_read(tid, debug + DEBUG_STATE, &state,
				sizeof(state)) &&
	       (state == RT_ADD || state == RT_DELETE);
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
