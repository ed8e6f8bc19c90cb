/*
 * Has code like Valgrind's: a client would execute a translation of it, so it
 * must stay as it is.  Calls functions beside that code, and then says whether
 * the code is intact.
 */
#include <stdio.h>
#include <string.h>

extern const unsigned char stuff_start[], stuff_end[];
extern const unsigned char copy_start[];
int near_before(int), near_behind(int);
size_t stuff_strlen(const char *);

#define STUFF(name)                                                            \
	".rept 8\n ud2\n .endr\n" name "_start:\n"                             \
	"movq $15, %rax\n syscall\n ud2\n"                                     \
	"movq $0x60, %rax\n syscall\n ret\n"                                   \
	name "_strlen: xor %eax, %eax\n"                                       \
	"1: cmpb $0, (%rdi, %rax)\n je 2f\n inc %rax\n jmp 1b\n"               \
	"2: ret\n"                                                             \
	name "_end: .rept 8\n ud2\n .endr\n"

__asm__(".globl stuff_start, stuff_end, stuff_strlen, near_before\n"
	".globl near_behind, copy_start\n"
	".type near_before, @function\n"
	".type near_behind, @function\n"
	"near_before: lea 1(%rdi), %eax\n ret\n"
	".size near_before, . - near_before\n"
	STUFF("stuff")
	"near_behind: lea 2(%rdi), %eax\n ret\n"
	".size near_behind, . - near_behind\n"
	".section .rodata\n"
	STUFF("copy")
	".text\n");

/* What leads to the code as Valgrind's table does. */
size_t (*volatile replaced)(const char *) = stuff_strlen;

int
main(void)
{
	int sum = 0;
	size_t n;

	for (int i = 0; i < 100; i++)
		sum += near_before(i) + near_behind(i);
	n = replaced("four");
	printf("%d %zu %s\n", sum, n,
	       memcmp(stuff_start, copy_start,
		      (size_t)(stuff_end - stuff_start)) ?
		       "changed" :
		       "intact");
	return 0;
}
