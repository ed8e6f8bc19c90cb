/*
 * linked N [LIBRARY]: calls a function N times, and says after each tenth
 * where the call leads, which it reads from its own text: to where the
 * function begins, or elsewhere.  The library, made of this too, is loaded
 * before the last ten; it can make text writable.
 */
#ifdef LIBRARY
#include <sys/mman.h>

int
unlock(void *page)
{
	return mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}
#else
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int callee(int n);
extern const char call_site[];

__attribute__((noinline, used)) int
callee(int n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) static int
caller(int n)
{
	int result;

	/* There is room before it and behind it. */
	__asm__ volatile("mov %%edi, %%edi\n\tmov %%edi, %%edi\n"
			 "\tmov %%edi, %%edi\n\tmov %%edi, %%edi\n"
			 ".globl call_site\ncall_site:\n\tcall callee\n"
			 "\tmov %%eax, %%eax\n\tmov %%eax, %%eax\n"
			 "\tmov %%eax, %%eax\n\tmov %%eax, %%eax"
			 : "=a"(result), "+D"(n)
			 : : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
			 "cc", "memory");
	return result;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
	int32_t rel;

	for (int i = 1; i <= n; i++) {
		if (i == n - 9 && argc > 2 && !dlopen(argv[2], RTLD_NOW))
			return 1;
		sum += caller(i);
		if (i % 10)
			continue;
		memcpy(&rel, call_site + 1, sizeof(rel));
		puts((uintptr_t)call_site + 5 + (uintptr_t)(intptr_t)rel ==
		     (uintptr_t)callee ? "there" : "elsewhere");
	}
	printf("%d\n", sum);
	return 0;
}
#endif
