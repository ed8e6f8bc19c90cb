/*
 * A process to attach to that is always within functions that no unwinder's
 * table tells of.  A letter a line on stdin: g calls work() 100 times and is
 * answered "done"; q has again() jump to its own entry, for which the answer is
 * "ready", or the second time ends the process, with status 21.
 */
#include <stdio.h>
#include <stdlib.h>

#include "through.h"

static volatile int sum;

__attribute__((noinline)) void
work(int n)
{
	sum += n;
}

static __attribute__((noinline, used)) void
serve(void)
{
	char line[80];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q') {
		for (int i = 0; i < 100; i++)
			work(i);
		puts("done");
		fflush(stdout);
	}
}

/* Call serve() n times, and begin anew by a jump, not a call. */
void again(int n);

__asm__(".text\n"
	".globl again\n"
	".type again, @function\n"
	"again:\n"
	"	push %rbx\n"
	"	mov %edi, %ebx\n"
	"	lea serve(%rip), %rdi\n"
	"	call through\n"
	"	lea -1(%rbx), %edi\n"
	"	test %edi, %edi\n"
	"	pop %rbx\n"
	"	jnz again\n"
	"	ret\n"
	".size again, . - again\n");

int
main(void)
{
	again(2);
	return 21;
}
