/*
 * A library that leaves stacks by words of its own: SP, PC and FP say where in
 * the buffer they are.  ROOM is the size of a frame.  Built twice, it has the
 * same functions at the same addresses.
 */
#define TEXT(x) #x
#define AT(x) TEXT(x) "(%rdi)"

__asm__(".globl save, go\n"
	".type save, @function\n"
	"save: .cfi_startproc\n"
	"	lea 8(%rsp), %rax\n"
	"	mov %rax, " AT(SP) "\n"
	"	mov (%rsp), %rax\n"
	"	mov %rax, " AT(PC) "\n"
	"	mov %rbp, " AT(FP) "\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size save, . - save\n"
	".type go, @function\n"
	"go:	.cfi_startproc\n"
	"	mov " AT(FP) ", %rbp\n"
	"	mov " AT(SP) ", %rsp\n"
	"	mov $1, %eax\n"
	"	jmp *" AT(PC) "\n"
	"	.cfi_endproc\n"
	"	.size go, . - go\n");

void
call(void (*f)(void))
{
	volatile char room[ROOM];

	room[0] = 1;
	f();
	room[1] = 2;
}
