/*
 * Is in a restartable sequence (rseq(2)) that never ends but by an abort, and
 * begins it anew.  After an abort a dot on the standard input is answered with
 * "aborted", and q ends the program.  Status 77: there is no rseq.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/rseq.h>
#include <stdio.h>
#include <sys/rseq.h>
#include <unistd.h>

__attribute__((noinline, noclone)) static void
spin(struct rseq *rseq)
{
	__asm__ goto volatile(
		".pushsection __rseq_cs, \"aw\"\n"
		".balign 32\n"
		"3: .long 0, 0\n"
		".quad 1f, 2f - 1f, 4f\n"
		".popsection\n"
		"lea 3b(%%rip), %%rax\n"
		"mov %%rax, %[cs]\n"
		"1: jmp 1b\n"
		"2: ud2\n"
		".pushsection __rseq_failure, \"ax\"\n"
		".byte 0x0f, 0xb9, 0x3d\n"
		".long 0x53053053\n"
		"4: jmp %l[aborted]\n"
		".popsection\n"
		:
		: [cs] "m"(rseq->rseq_cs)
		: "memory", "cc", "rax"
		: aborted);
aborted:
	return;
}

int
main(void)
{
	ssize_t n;
	char c = 0;

	if (!__rseq_size)
		return 77;
	fcntl(0, F_SETFL, O_NONBLOCK);
	while (c != 'q') {
		spin((struct rseq *)((char *)__builtin_thread_pointer() +
				     __rseq_offset));
		c = 0;
		n = read(0, &c, 1);
		if (!n)
			return 2;
		if (n == 1 && c == '.') {
			puts("aborted");
			fflush(stdout);
		}
	}
	return 0;
}
