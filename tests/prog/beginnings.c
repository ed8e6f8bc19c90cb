/*
 * Calls functions each argv[1] times, of which some lead to their own first
 * instructions, or to others', other than by calls: from the program, from a
 * handler, from two threads and from a child process, so five times as often in
 * all.  Prints what they return.  Calls mprotect, so no call may be redirected.
 * With a second argument the program says so and waits for a line first.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asm_functions.h"

__asm__(ASM_FUNCTIONS
	"	.text\n"
	/* It has three rounds. */
	"	begin	plain\n"
	"	push	%rbx\n"
	"	mov	%rdi, %rbx\n"
	"	mov	$3, %edi\n"
	"	xor	%eax, %eax\n"
	"1:	add	%edi, %eax\n"
	"	dec	%edi\n"
	"	jnz	1b\n"
	"	mov	%eax, %edi\n"
	"	call	leaf\n"
	"	pop	%rbx\n"
	"	ret\n"
	"	end	plain\n"
	"	begin	leaf\n"
	"	endbr64\n"
	"	lea	(%rdi, %rdi), %eax\n"
	"	test	%eax, %eax\n"
	"	jz	1f\n"
	"	add	$1, %eax\n"
	"1:	ret\n"
	"	end	leaf\n"
	/* Five rounds to its second instruction. */
	"	begin	loops\n"
	"	xor	%eax, %eax\n"
	"1:	inc	%eax\n"
	"	cmp	$5, %eax\n"
	"	jne	1b\n"
	"	ret\n"
	"	end	loops\n"
	/* Jumps to its beginning, which are no calls, and calls itself once. */
	"	begin	again\n"
	"	mov	%edi, %eax\n"
	"	dec	%edi\n"
	"	cmp	$7, %edi\n"
	"	jg	again\n"
	"	test	%edi, %edi\n"
	"	jz	1f\n"
	"	mov	$1, %edi\n"
	"	call	again\n"
	"1:	ret\n"
	"	end	again\n"
	/* Calls its second instruction. */
	"	begin	within\n"
	"	xor	%eax, %eax\n"
	"1:	inc	%eax\n"
	"	cmp	$4, %eax\n"
	"	jge	2f\n"
	"	call	1b\n"
	"2:	ret\n"
	"	end	within\n"
	/* Entered in its second instruction, too, by the next. */
	"	begin	entered\n"
	"	xor	%eax, %eax\n"
	"inside: lea	1(%rax), %eax\n"
	"	ret\n"
	"	end	entered\n"
	"	.skip	200, 0x90\n"
	"	begin	enters\n"
	"	mov	$40, %eax\n"
	"	test	%eax, %eax\n"
	"	jmp	inside\n"
	"	end	enters\n"
	/* The caller's flags are its result. */
	"	begin	flagged\n"
	"	mov	$0, %eax\n"
	"	setz	%al\n"
	"	ret\n"
	"	end	flagged\n"
	"	begin	flags\n"
	"	sub	$8, %rsp\n"
	"	cmp	%edi, %edi\n"
	"	call	flagged\n"
	"	add	$8, %rsp\n"
	"	ret\n"
	"	end	flags\n"
	/* A part apart, which jumps into the beginning. */
	"	begin	parted\n"
	"	xor	%eax, %eax\n"
	"2:	inc	%eax\n"
	"	cmp	$2, %eax\n"
	"	jl	1f\n"
	"	ret\n"
	"	end	parted\n"
	"	.section .text.unlikely, \"ax\", @progbits\n"
	"	.type	parted.cold, @function\n"
	"parted.cold:\n"
	"1:	nop\n"
	"	jmp	2b\n"
	"	.size	parted.cold, . - parted.cold\n"
	"	.text\n"
	/* Leaves by a jump to another. */
	"	begin	tail\n"
	"	mov	$2, %edi\n"
	"	test	%edi, %edi\n"
	"	jmp	leaf\n"
	"	end	tail\n"
	"	begin	tiny\n"
	"	mov	%edi, %eax\n"
	"	ret\n"
	"	end	tiny\n");

int plain(int), leaf(int), loops(int), again(int), within(int), entered(int),
	enters(int), flags(int), parted(int), tail(int), tiny(int);

static int (*const all[])(int) = {
	plain,	leaf,  loops,  again, within, entered,
	enters, flags, parted, tail,  tiny,
};

static int rounds;

static unsigned long
calls(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < rounds; i++)
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			sum = sum * 3 + (unsigned)all[k](20);
	return sum;
}

static unsigned long handled;

static void
handler(int signal)
{
	handled = calls();
}

static void *
thread(void *sum)
{
	*(unsigned long *)sum = calls();
	return NULL;
}

int
main(int argc, char **argv)
{
	unsigned long sums[4];
	pthread_t other;
	int status;
	pid_t pid;

	rounds = atoi(argv[1]);
	/* No page begins there: always refused. */
	if (mprotect((char *)sums + 1, 0, PROT_READ) == 0)
		return 1;
	signal(SIGUSR1, handler);
	if (argc > 2) {
		puts("waits");
		fflush(stdout);
		getchar();
	}
	pthread_create(&other, NULL, thread, &sums[0]);
	sums[1] = calls();
	pthread_join(other, NULL);
	raise(SIGUSR1);
	sums[2] = handled;
	pid = fork();
	if (!pid)
		_exit(calls() != sums[1]);
	waitpid(pid, &status, 0);
	sums[3] = calls();
	printf("%lx %lx %lx %lx %d\n", sums[0], sums[1], sums[2], sums[3],
	       status);
	return 0;
}
