/*
 * Maps the text of a library (its first argument) by system calls of its own,
 * five times, and calls leaf() in it seven times each.  The second argument
 * says which code makes the calls.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { ROUNDS = 5, CALLS = 7, PAGE = 4096, MMAP = 9, MPROTECT = 10,
       MUNMAP = 11 };

typedef long call(long nr, const long *arg);

#define ARGS "mov (%rsi), %rdi; mov 16(%rsi), %rdx; mov 24(%rsi), %r10;" \
	"mov 32(%rsi), %r8; mov 40(%rsi), %r9; mov 8(%rsi), %rsi;"

/*
 * In `by_ways` the constant before the system call is not that of all ways to it.
 * `changed` is getpid until the program changes its number; no symbol makes it
 * a function, so pmon patches nothing there.
 */
__asm__(".type by_ways, @function\n"
	"by_ways: cmp $9, %rdi; je 1f; cmp $11, %rdi; je 2f\n"
	"	" ARGS "	mov $10, %eax; jmp 3f\n"
	"1:	" ARGS "	mov $9, %eax; jmp 3f\n"
	"2:	" ARGS "	mov $11, %eax; jmp 3f\n"
	"	mov $39, %eax\n"
	"3:	syscall; ret\n"
	".size by_ways, .-by_ways\n"
	".type by_push, @function\n"
	"by_push: cmp $9, %rdi; je 1f; cmp $11, %rdi; je 2f\n"
	"	" ARGS "	push $10; pop %rax; syscall; ret\n"
	"1:	" ARGS "	push $9; pop %rax; syscall; ret\n"
	"2:	" ARGS "	push $11; pop %rax; syscall; ret\n"
	".size by_push, .-by_push\n"
	".section changed, \"ax\", @progbits\n.balign 4096\n"
	"by_changed:	" ARGS "	mov $39, %eax\nchanged_end: syscall; ret\n"
	".balign 4096\n.text\n");
extern call by_ways, by_push, by_changed;
extern char changed_end[];

static __attribute__((noinline)) long
by_number(long nr, const long *arg)
{
	register long r10 __asm__("r10") = arg[3], r8 __asm__("r8") = arg[4],
		 r9 __asm__("r9") = arg[5];

	__asm__ volatile("syscall" : "+a"(nr) : "D"(arg[0]), "S"(arg[1]),
			 "d"(arg[2]), "r"(r10), "r"(r8), "r"(r9) :
			 "rcx", "r11", "memory");
	return nr;
}

static long
number_at(void)
{
	return changed_end - (char *)by_changed - 4;
}

/* Code that the program makes: a copy of by_changed, with the number in it. */
static long
by_made(long nr, const long *arg)
{
	static char *made;
	int number = (int)nr;

	if (!made) {
		made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(made, (char *)by_changed, 64);
	}
	mprotect(made, PAGE, PROT_READ | PROT_WRITE);
	memcpy(made + number_at(), &number, 4);
	mprotect(made, PAGE, PROT_READ | PROT_EXEC);
	return ((call *)made)(nr, arg);
}

static long
by_change(long nr, const long *arg)
{
	char *page = (char *)by_changed;
	int number = (int)nr;

	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(page + number_at(), &number, 4);
	mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	return by_changed(nr, arg);
}

static struct {
	long fd, offset, leaf;
} lib;

static void
lib_open(const char *path)
{
	struct stat st;
	char *file, *names = NULL;
	Elf64_Ehdr *ehdr;
	Elf64_Phdr *phdr;
	Elf64_Shdr *shdr;

	lib.fd = open(path, O_RDONLY);
	fstat((int)lib.fd, &st);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
		    (int)lib.fd, 0);
	ehdr = (Elf64_Ehdr *)file;
	phdr = (Elf64_Phdr *)(file + ehdr->e_phoff);
	shdr = (Elf64_Shdr *)(file + ehdr->e_shoff);
	for (int i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X) {
			lib.offset = (long)phdr[i].p_offset;
			lib.leaf = -(long)phdr[i].p_vaddr;
		}
	for (int i = 0; i < ehdr->e_shnum; i++) {
		Elf64_Sym *sym = (Elf64_Sym *)(file + shdr[i].sh_offset);

		if (shdr[i].sh_type != SHT_DYNSYM)
			continue;
		names = file + shdr[shdr[i].sh_link].sh_offset;
		for (; strcmp(names + sym->st_name, "leaf"); sym++)
			;
		lib.leaf += (long)sym->st_value;
	}
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		call *call;
	} ways[] = {
		{ "number", by_number }, { "ways", by_ways },
		{ "push", by_push }, { "made", by_made },
		{ "change", by_change },
	};
	call *way = NULL;
	long sum = 0;

	lib_open(argv[1]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[2], ways[i].name))
			way = ways[i].call;
	for (int i = 0; way && i < ROUNDS; i++) {
		long at = way(MMAP, (long[6]){ 0, PAGE, PROT_READ,
			MAP_PRIVATE, lib.fd, lib.offset });

		way(MPROTECT, (long[6]){ at, PAGE, PROT_READ | PROT_EXEC });
		for (int k = 0; k < CALLS; k++)
			sum += ((long (*)(long))(at + lib.leaf))(k);
		way(MUNMAP, (long[6]){ at, PAGE });
	}
	printf("%ld\n", sum);
	return 0;
}
