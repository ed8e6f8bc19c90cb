/*
 * 16,000 functions of five bytes: their counters need more memory than their
 * code.  One thread calls each once, the other twice.
 */
#include <pthread.h>

enum { FUNCS = 16000, SIZE = 5 };

__asm__(".text\n"
	".altmacro\n"
	".macro one n\n"
	"	.type f\\n, @function\n"
	"f\\n:	xor %eax, %eax\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	"	.size f\\n, . - f\\n\n"
	".endm\n"
	"funcs:\n"
	"	.set i, 0\n"
	"	.rept 16000\n"
	"	one %i\n"
	"	.set i, i + 1\n"
	"	.endr\n");
extern char funcs[];

static void *
call(void *arg)
{
	for (int round = 0; round < *(int *)arg; round++)
		for (int i = 0; i < FUNCS; i++)
			((int (*)(void))(funcs + SIZE * i))();
	return arg;
}

int
main(void)
{
	int once = 1, twice = 2;
	pthread_t thread;

	pthread_create(&thread, NULL, call, &once);
	call(&twice);
	pthread_join(thread, NULL);
	return 0;
}
