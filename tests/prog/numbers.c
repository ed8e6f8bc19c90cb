/*
 * System calls whose numbers come from a register that is set before a loop:
 * always the same in one(), one of two in two(), and set by a call in three().
 * argv[1]: which; argv[2]: calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long one(long n);
long two(long n);
long three(long n);

__asm__("	.text\n"
	"	.globl one, two\n"
	"	.type one, @function\n"
	"one:\n"
	"	.cfi_startproc\n"
	"	mov $186, %r8d\n"		/* gettid */
	"1:	mov %r8d, %eax\n"
	"	syscall\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size one, . - one\n"
	"	.type two, @function\n"
	"two:\n"
	"	.cfi_startproc\n"
	"	mov $186, %r8d\n"
	"	test $1, %dil\n"
	"	jz 1f\n"
	"	mov $39, %r8d\n"		/* getpid */
	"1:	mov %r8d, %eax\n"
	"	syscall\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size two, . - two\n"
	"	.type three, @function\n"
	"three:\n"
	"	.cfi_startproc\n"
	"	mov $186, %r8d\n"
	"1:	call number\n"
	"	mov %r8d, %eax\n"
	"	syscall\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size three, . - three\n"
	"	.type number, @function\n"
	"number:\n"
	"	.cfi_startproc\n"
	"	mov $39, %r8d\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size number, . - number\n");

int
main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 1;

	if (!strcmp(argv[1], "one"))
		n = one(n);
	else if (!strcmp(argv[1], "two"))
		n = two(n);
	else
		n = three(n);
	printf("%d\n", n > 0);
	return 0;
}
