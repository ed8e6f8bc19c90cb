/*
 * A function that no unwinder's table tells of, for programs whose stacks
 * cannot be walked past it.
 */
#ifndef THROUGH_H
#define THROUGH_H

/* Call f. */
void through(void (*f)(void));

__asm__(".text\n"
	".globl through\n"
	".type through, @function\n"
	"through:\n"
	"	push %rbx\n"
	"	call *%rdi\n"
	"	pop %rbx\n"
	"	ret\n"
	".size through, . - through\n");

#endif
