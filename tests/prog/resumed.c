/*
 * Makes its calls by an instruction that begins a block.  A dot on its standard
 * input is answered with the number of dots so far, and q ends the program.
 * With "epoll" it waits in epoll_wait, else in read.
 */
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

long again(long a, void *b, long c, long d, long nr);

__asm__(".text\n"
	".globl again\n"
	".type again, @function\n"
	"again:	.cfi_startproc\n"
	"	mov %rcx, %r10\n"
	"	mov %r8, %rax\n"
	"	test %edi, %edi\n"
	"	js 1f\n"
	"	add $0, %edi\n"
	"1:	syscall\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size again, . - again\n");

int
main(int argc, char **argv)
{
	struct epoll_event event = { .events = EPOLLIN };
	int waits = argc > 1 && !strcmp(argv[1], "epoll") ? epoll_create1(0) :
							    -1;
	int n = 0;
	char c;

	if (waits >= 0 && epoll_ctl(waits, EPOLL_CTL_ADD, 0, &event))
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (waits >= 0 && again(waits, &event, 1, -1,
					SYS_epoll_wait) != 1)
			return 2;
		if ((waits >= 0 ? read(0, &c, 1) :
				  again(0, &c, 1, 0, SYS_read)) != 1)
			return 3;
		if (c == 'q')
			return 0;
		if (c == '.') {
			printf("%d\n", ++n);
			fflush(stdout);
		}
	}
}
