/*
 * Functions in assembler that go on in the middle of another, like mempcpy in
 * memcpy: behind its first instruction, which is too short for a jump to be
 * put there, and in its last block.  N times in each of some threads and in a
 * child.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

long whole(long a, long b);
long beginning(long a, long b);
long end(long a, long b);

__asm__(
	".text\n"
	".globl whole, beginning, end\n"
	".type whole, @function\n"
	".type beginning, @function\n"
	".type end, @function\n"
	"whole:\n"
	"	mov %rdi, %rax\n"
	"inside:\n"
	"	test %rsi, %rsi\n"
	"	jz last\n"
	"again:\n"
	"	add %rsi, %rax\n"
	"	dec %rsi\n"
	"	jnz again\n"
	"last:\n"
	"	add $1, %rax\n"
	"	ret\n"
	".size whole, . - whole\n"
	"beginning:\n"
	"	lea 100(%rdi), %rax\n"
	"	jmp inside\n"
	".size beginning, . - beginning\n"
	"end:\n"
	"	lea 1000(%rdi), %rax\n"
	"	jmp last\n"
	".size end, . - end\n"
);

static int n;

static void *
work(void *arg)
{
	long sum = 0;

	(void)arg;
	for (int i = 0; i < n; i++)
		sum += whole(i, i % 3);
	/* These come when the first is relocated already. */
	for (int i = 0; i < n; i++)
		sum += beginning(i, i % 4) + whole(i, 0) + end(i, 0);
	return (void *)sum;
}

int
main(int argc, char **argv)
{
	pthread_t threads[3];
	long sum = 0;
	void *result;

	n = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	if (!fork())
		_exit(work(NULL) == NULL);
	wait(NULL);
	printf("%ld\n", sum);
	return 0;
}
