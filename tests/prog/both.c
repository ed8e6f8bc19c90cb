/*
 * A file that is a library and a program (LIBRARY), which calls a function
 * three times; and a program that loads that library and calls the function
 * five times: `load`, then executes the library in its place; `run`, after a
 * child has executed the library.
 */
#ifdef LIBRARY
#include <sys/syscall.h>

static volatile int sink;

__attribute__((noinline)) int
shared_work(int n)
{
	sink += n;
	return sink;
}

/* It has no relocations, so it needs no dynamic linker. */
__asm__(".globl library_start\n"
	".type library_start, @function\n"
	"library_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	and $-16, %rsp\n"
	"	call library_main\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	"	.size library_start, . - library_start\n");

extern __typeof__(shared_work) own_work
	__attribute__((alias("shared_work"), visibility("hidden")));

__attribute__((visibility("hidden"), noreturn, used)) void
library_main(void)
{
	for (int i = 0; i < 3; i++)
		own_work(i);
	for (;;)
		__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0)
				 : "rcx", "r11", "memory");
}
#else
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int
load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*work)(int) = library ? (int (*)(int))dlsym(library,
							 "shared_work") : 0;

	for (int i = 0; work && i < 5; i++)
		work(i);
	return work ? 0 : 1;
}

int
main(int argc, char **argv)
{
	int status;

	if (!strcmp(argv[1], "load")) {
		if (!load(argv[2]))
			execl(argv[2], argv[2], (char *)NULL);
		return 1;
	}
	if (!fork()) {
		execl(argv[2], argv[2], (char *)NULL);
		_exit(1);
	}
	wait(&status);
	return status || load(argv[2]);
}
#endif
