/*
 * Calls places in the middle of a function, as Go's compiler does to clear
 * memory: each of two functions calls another place, the first once, the second
 * argv[1] times.
 */
#include <stdlib.h>

void first(void), second(void);

__asm__(
	".type zero, @function\n"
	"zero:	.cfi_startproc\n"
	"	movups	%xmm0, (%rdi)\n"
	"	movups	%xmm0, 16(%rdi)\n"
	"zero_32: movups	%xmm0, 32(%rdi)\n"
	"	movups	%xmm0, 48(%rdi)\n"
	"	movups	%xmm0, 64(%rdi)\n"
	"zero_80: movups	%xmm0, 80(%rdi)\n"
	"	movups	%xmm0, 96(%rdi)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	zero, . - zero\n");

__attribute__((used)) static char memory[128];

__asm__(
	".type first, @function\n"
	"first:	.cfi_startproc\n"
	"	lea	memory(%rip), %rdi\n"
	"	call	zero_32\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	first, . - first\n"
	".type second, @function\n"
	"second: .cfi_startproc\n"
	"	lea	memory(%rip), %rdi\n"
	"	call	zero_80\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	second, . - second\n");

int
main(int argc, char **argv)
{
	first();
	for (int i = atoi(argv[1]); i > 0; i--)
		second();
	return memory[0];
}
