/*
 * PROGRAM ROUNDS: exceptions as OCaml's: a chain of handlers on the stack, and
 * a raise that loads the stack pointer from its head, pops the rest of it to
 * memory and returns to the handler, which no table tells of.  Lines say how
 * often they run.
 */
#include <stdlib.h>

int guarded(void (*f)(int), int n);
void raised(void);

__asm__(".local top\n"
	".comm top, 8, 8\n"
	".text\n"
	".globl guarded\n"
	".type guarded, @function\n"
	"guarded:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset rbx, 0\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset rbp, 0\n"
	"	lea 1f(%rip), %r11\n"
	"	push %r11\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push top(%rip)\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rsp, top(%rip)\n"
	"	mov %rdi, %rax\n"
	"	mov %esi, %edi\n"
	"	call *%rax\n"
	"	pop top(%rip)\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	xor %eax, %eax\n"
	"	jmp 2f\n"
	"1:	mov $1, %eax\n"
	"2:	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore rbp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size guarded, . - guarded\n"
	".globl raised\n"
	".type raised, @function\n"
	"raised:\n"
	"	.cfi_startproc\n"
	"	mov top(%rip), %rsp\n"
	"	pop top(%rip)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size raised, . - raised\n");

static volatile int began, ended;

static __attribute__((noinline)) void
work(int n)
{
	began++;			/* x N */
	if (n & 1)
		raised();		/* x RAISED */
	ended++;			/* x N - RAISED */
}

int
main(int argc, char **argv)
{
	int n = atoi(argv[1]), caught = 0;

	for (int i = 0; i < n; i++)
		caught += guarded(work, i);	/* x N */
	return began == n && ended + caught == n ? 0 : 1;	/* x 1 */
}
