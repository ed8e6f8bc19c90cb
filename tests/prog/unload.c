/*
 * As a library: leaves its constructor, and the dynamic linker that calls it,
 * by longjmp.  As a program: loads that library, its argument.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>

#ifdef LIBRARY
extern jmp_buf env;

__attribute__((constructor)) static void
leave(void)
{
	longjmp(env, 1);
}
#else
jmp_buf env;

int
main(int argc, char **argv)
{
	if (setjmp(env)) {
		puts("left");
		return 0;
	}
	return argc > 1 && dlopen(argv[1], RTLD_NOW) ? 2 : 3;
}
#endif
