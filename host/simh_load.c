/*
 * Puts a program into the simulated VAX as 4.2BSD's exec would: its segments,
 * and the arguments and environment on its stack.  Reads no more of the ELF
 * file than its headers and segments.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/simh_program.h"
#include "util/fail.h"
#include "util/mem.h"

enum {
	SEGMENTS_MAX = 64,
	ARGS_MAX = 1 << 20,	/* bytes of arguments and environment */
};

/* The file being loaded. */
struct load {
	struct program *p;
	const char *path;
	int fd;
	Elf32_Ehdr header;
};

static int
file_read(const struct load *load, void *buf, uint64_t offset, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(load->fd, (char *)buf + done, n - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail("%s: %s", load->path, strerror(errno));
		if (!got)
			return fail("%s: truncated: a part of the program is "
				    "not in the file",
				    load->path);
		done += (size_t)got;
	}
	return 0;
}

static int
machine_failed(const struct load *load, int status)
{
	if (status == HOST_GONE)
		return fail("%s: the simulator has ended", load->path);
	return fail("%s: %s", load->path, fail_message());
}

static int
segment_load(struct load *load, const Elf32_Phdr *ph)
{
	struct program *p = load->p;
	uint8_t *bytes;
	int status;

	if (ph->p_filesz > ph->p_memsz || ph->p_filesz > MACHINE_P0_SIZE)
		return fail("%s: damaged: a segment at 0x%" PRIx32 " has no "
			    "sensible size",
			    load->path, ph->p_vaddr);
	if (ph->p_vaddr >= MACHINE_P0_SIZE ||
	    ph->p_memsz > MACHINE_P0_SIZE - ph->p_vaddr)
		return fail("%s: a segment at 0x%" PRIx32 " lies beyond the "
			    "%d MB that a program has on the simulated VAX",
			    load->path, ph->p_vaddr, MACHINE_P0_SIZE >> 20);
	status = machine_map(p->m, ph->p_vaddr, ph->p_memsz,
			     ph->p_flags & PF_W ? PAGE_WRITE : PAGE_READ);
	if (status)
		return machine_failed(load, status);
	bytes = mem_alloc(ph->p_filesz + 1);
	status = file_read(load, bytes, ph->p_offset, ph->p_filesz);
	if (!status) {
		status = machine_write(p->m, ph->p_vaddr, bytes, ph->p_filesz);
		status = status ? machine_failed(load, status) : 0;
	}
	free(bytes);
	if (p->brk < ph->p_vaddr + ph->p_memsz)
		p->brk = ph->p_vaddr + ph->p_memsz;
	*vec_push(p->regions, p->nregions) = (struct region){
		.lo = ph->p_vaddr,
		.hi = ph->p_vaddr + ph->p_memsz,
		.offset = ph->p_offset,
		.page = ph->p_flags & PF_W ? PAGE_WRITE : PAGE_READ,
	};
	return status;
}

static int
header_load(struct load *load)
{
	Elf32_Ehdr *h = &load->header;

	if (file_read(load, h, 0, sizeof(*h)) < 0)
		return -1;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_ident[EI_CLASS] != ELFCLASS32 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != EM_VAX)
		return fail("%s: not a VAX program", load->path);
	if (h->e_type != ET_EXEC)
		return fail("%s: not statically linked: the simulated VAX runs "
			    "only statically linked programs",
			    load->path);
	if (h->e_phentsize != sizeof(Elf32_Phdr) || h->e_phnum > SEGMENTS_MAX)
		return fail("%s: damaged program headers", load->path);
	return 0;
}

static int
segments_load(struct load *load)
{
	struct program *p = load->p;
	bool entry = false;
	Elf32_Phdr ph;

	for (unsigned i = 0; i < load->header.e_phnum; i++) {
		if (file_read(load, &ph, load->header.e_phoff + i * sizeof(ph),
			      sizeof(ph)) < 0)
			return -1;
		if (ph.p_type == PT_INTERP)
			return fail("%s: not statically linked: the simulated "
				    "VAX runs only statically linked programs",
				    load->path);
		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		if (segment_load(load, &ph) < 0)
			return -1;
		entry |= load->header.e_entry - ph.p_vaddr < ph.p_memsz;
	}
	if (!entry)
		return fail("%s: damaged: its entry 0x%" PRIx32 " is in no "
			    "segment",
			    load->path, load->header.e_entry);
	p->entry = load->header.e_entry;
	return 0;
}

/* The stack as it is built, from its lowest address on. */
struct stack {
	uint8_t *bytes;
	uint32_t size;
	uint32_t words, strings;	/* offsets of the next word and
					   string */
};

static void
word_push(struct stack *stack, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		stack->bytes[stack->words++] = (uint8_t)(value >> 8 * i);
}

static void
strings_push(struct stack *stack, char **strings)
{
	for (; *strings; strings++) {
		size_t n = strlen(*strings) + 1;

		word_push(stack,
			  MACHINE_STACK_HI - stack->size + stack->strings);
		memcpy(stack->bytes + stack->strings, *strings, n);
		stack->strings += (uint32_t)n;
	}
	word_push(stack, 0);
}

static size_t
strings_size(char **strings, size_t *n)
{
	size_t size = 0;

	for (*n = 0; strings[*n]; ++*n)
		size += strlen(strings[*n]) + 1;
	return size;
}

/*
 * Build the stack as 4.2BSD's execve(2) does.  From the stack pointer up: the
 * number of arguments, their addresses, 0, the addresses of the environment, 0,
 * the strings.
 */
static int
stack_load(struct load *load, char **argv, char **envp)
{
	struct program *p = load->p;
	size_t argc, envc, words, size;
	struct stack stack;
	int status;

	size = strings_size(argv, &argc) + strings_size(envp, &envc);
	words = 4 * (argc + envc + 3);
	size = (size + words + 3) & ~(size_t)3;
	if (size > ARGS_MAX)
		return fail("%s: the arguments and the environment are too "
			    "long for the simulated VAX",
			    load->path);
	stack = (struct stack){
		.bytes = mem_alloc(size),
		.size = (uint32_t)size,
		.strings = (uint32_t)words,
	};
	word_push(&stack, (uint32_t)argc);
	strings_push(&stack, argv);
	strings_push(&stack, envp);
	status = machine_write(p->m, MACHINE_STACK_HI - stack.size, stack.bytes,
			       stack.size);
	free(stack.bytes);
	if (status)
		return machine_failed(load, status);
	machine_reg_set(p->m, VAX_SP, MACHINE_STACK_HI - stack.size);
	/* The program starts behind its entry's register mask. */
	machine_reg_set(p->m, VAX_PC, p->entry + 2);
	return 0;
}

int
program_load(struct program *p, const char *path, char **argv, char **envp)
{
	struct load load = { .p = p, .path = path };
	int status = -1;

	load.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (load.fd < 0)
		return fail("%s: %s", path, strerror(errno));
	if (!header_load(&load) && !segments_load(&load) &&
	    !stack_load(&load, argv, envp))
		status = 0;
	close(load.fd);
	p->brk = (p->brk + VAX_PAGE - 1) & ~(uint32_t)(VAX_PAGE - 1);
	return status;
}
