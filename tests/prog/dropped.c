/*
 * dropped N [threads | fork | leaves]: calls `none`, which has no room for a
 * jump, N times by a pointer.  With threads two of them do; with fork a child
 * does so, too, N / 4 times; with leaves N more calls end so, or by longjmp.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int none(void);
int before(void);
int behind(void);

/* Nothing is near that no control comes to. */
__asm__(".globl before, none, behind\n"
	".type before, @function\n"
	".type none, @function\n"
	".type behind, @function\n"
	"before: .rept 100\n inc %eax\n .endr\n ret\n"
	".size before, . - before\n"
	"none: xor %eax, %eax\n ret\n"
	".size none, . - none\n"
	"behind: .rept 100\n inc %eax\n .endr\n ret\n"
	".size behind, . - behind\n");

static int (*volatile none_p)(void) = none;

static void *
calls(void *n)
{
	long sum = 0;

	for (long i = 0; i < *(long *)n; i++)
		sum += none_p();			/* x N */
	return (void *)sum;
}

static jmp_buf out;

__attribute__((noinline)) static void
leaver(long i)
{
	if (i % 3 == 0)					/* x N */
		longjmp(out, 1);			/* x THIRD */
	none_p();					/* x N - THIRD */
}

static void
leaves(long n)
{
	for (volatile long i = 0; i < n; i++)
		if (!setjmp(out))			/* x N */
			leaver(i);			/* x N */
}

int
main(int argc, char **argv)
{
	long n = atol(argv[1]), half = n / 2, quarter = n / 4;
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t thread;

	before();
	behind();
	if (!strcmp(how, "threads")) {
		if (pthread_create(&thread, NULL, calls, &half))
			return 1;
		calls(&half);
		pthread_join(thread, NULL);
	} else {
		calls(&n);
	}
	if (!strcmp(how, "leaves"))
		leaves(n);
	if (!strcmp(how, "fork")) {
		int status;

		if (!fork()) {
			calls(&quarter);
			_exit(7);
		}
		wait(&status);
		printf("%d ", WEXITSTATUS(status));
	}
	puts("done");
	return 0;
}
