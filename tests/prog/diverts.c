/*
 * A signal handler changes the context that it returns to.  f is called 80
 * times; a signal interrupts each eighth call: a fault in the middle of a block
 * (argument 1: middle), in a block's first instruction (first), or a signal
 * that f sends the program itself (sent).  Argument 2 says what the handler
 * does:
 *
 *   back    has g called, which returns to where the signal came
 *   beyond  has g called, which returns behind that instruction
 *   skip    goes on behind that instruction
 *   out     returns from f
 *   fix     goes on at a block of f
 *   inside  goes on in the middle of a block of f
 *   other   goes on in the middle of a block of h
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

long f(long n, long *p, long *q, long pid), g(void), h(long n);
extern char f_fix[], f_inside[], h_inside[];
__asm__(".type f, @function\n"
	"f:	.cfi_startproc\n"
	"	nop\n"
	"f_fault: mov (%rsi), %rax\n"
	"f_behind: add $3, %rax\n"
	"	test $1, %dil\n"
	"	jz 1f\n"
	"	inc %rax\n"
	"1:\n"
	"f_first: mov (%rdx), %r8\n"
	"f_second: add %r8, %rax\n"
	"	test $2, %dil\n"
	"	jz 2f\n"
	"	mov %rdi, %r9\n"
	"	mov %rax, %r10\n"
	"	mov %rcx, %rdi\n"
	"	mov $10, %esi\n"
	"	mov $62, %eax\n"
	"	syscall\n"
	"f_after: mov %r9, %rdi\n"
	"	mov %r10, %rax\n"
	"2:	test $4, %dil\n"
	"	jz 3f\n"
	"f_fix:	inc %rax\n"
	"	nop\n"
	"f_inside: nop\n"
	"	nop\n"
	"3:\n"
	"f_return: ret\n"
	"	.cfi_endproc\n"
	".size f, . - f\n"
	".type g, @function\n"
	"g:	.cfi_startproc\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size g, . - g\n"
	".type h, @function\n"
	"h:	.cfi_startproc\n"
	"	nop\n"
	"	test $1, %dil\n"
	"	jz 1f\n"
	"	nop\n"
	"h_inside: nop\n"
	"	nop\n"
	"1:	mov $7, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size h, . - h\n");

static long value;
static const char *how;

static void
handler(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	long len = signal == SIGSEGV ? 3 : 0;

	(void)info;
	r[REG_RSI] = (greg_t)&value;
	r[REG_RDX] = (greg_t)&value;
	if (!strcmp(how, "back") || !strcmp(how, "beyond")) {
		r[REG_RSP] -= sizeof(greg_t);
		*(greg_t *)r[REG_RSP] = r[REG_RIP] +
			(how[2] == 'y' ? len : 0);
		r[REG_RIP] = (greg_t)g;
	} else if (!strcmp(how, "skip")) {
		r[REG_RIP] += len;
	} else if (!strcmp(how, "out")) {
		r[REG_RIP] = *(greg_t *)r[REG_RSP];
		r[REG_RSP] += sizeof(greg_t);
	} else {
		r[REG_RIP] = (greg_t)(!strcmp(how, "fix") ? f_fix :
				      !strcmp(how, "inside") ? f_inside :
				      h_inside);
	}
}

int
main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO,
	};
	const char *where = argv[1];
	long pid = getpid();

	how = argv[2];
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < 80; i++) {
		long n = i % 16 == 15 ? 5 : i % 16 == 7 ? 1 : i % 2;

		if (!strcmp(where, "sent"))
			f(i % 8 == 7 ? n | 2 : n, &value, &value, pid);
		else
			f(n, i % 8 == 7 && !strcmp(where, "middle") ? NULL :
			  &value, i % 8 == 7 && !strcmp(where, "first") ? NULL :
			  &value, pid);
		if (i % 8 == 0)
			h(i % 16 == 8);
	}
	return 0;
}
