/*
 * Makes N system calls while a library is mapped that has code and data in one
 * file without a page between them: loading TEST N [LIBRARY].  With -DLIBRARY:
 * that library.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef LIBRARY

long counted = 5;
static const char filled[3 * 4096] = { 1 };

long
leaf(long x)
{
	return 3 * x + filled[x];
}

#else

enum { PAGE = 4096 };

long leaf(long x);

static void
calls(long n)
{
	for (long i = 0; i < n; i++)
		getppid();
}

/*
 * Map all of the file to be executed, as the dynamic linker does, and then its
 * text alone; in between there may be code that no file has.
 */
static void
whole(const char *path, long n, int made)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	long text = 0;
	Elf64_Phdr *phdr;
	char *file;

	fstat(fd, &st);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE, fd, 0);
	phdr = (Elf64_Phdr *)(file + ((Elf64_Ehdr *)file)->e_phoff);
	for (int i = 0; i < ((Elf64_Ehdr *)file)->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
			text = (long)(phdr[i].p_filesz + PAGE - 1) / PAGE *
			       PAGE;
	calls(n);
	if (made)
		munmap(mmap(NULL, PAGE, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	munmap(file + text, (size_t)(st.st_size - text));
	calls(n);
}

int
main(int argc, char **argv)
{
	long n = atol(argv[2]);

	if (!strcmp(argv[1], "linked"))
		calls(n);
	else
		whole(argv[3], n, !strcmp(argv[1], "made"));
	printf("%ld\n", leaf(3));
	return 0;
}

#endif
