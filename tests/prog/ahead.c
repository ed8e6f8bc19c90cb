/*
 * A library like those that Mono compiles ahead, and with -DMAIN a program that
 * treats it as Mono does: before each call it reads the call's instruction, and
 * fails if that has changed.  argv[1]: calls.
 */
#include <stdio.h>
#include <stdlib.h>

int ahead(int n);

#ifdef MAIN

void ahead_call(void);

int
main(int argc, char **argv)
{
	const volatile unsigned char *code = (const unsigned char *)ahead_call;
	int n = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	for (int i = 0; i < n; i++) {
		sum += ahead(i);
		if (*code != 0xe8)
			return 3;
	}
	printf("%d\n", sum);
	return 0;
}

#else

void *mono_aot_file_info;

__asm__("	.text\n"
	"	.globl ahead, ahead_call\n"
	"	.type ahead, @function\n"
	"	.type ahead_call, @function\n"
	"ahead:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"ahead_call:\n"
	"	call 1f\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"1:	lea 1(%rdi), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size ahead, . - ahead\n");

#endif
