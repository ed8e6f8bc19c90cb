/* Says as whom it runs, works ten times. */
#include <stdio.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void
work(void)
{
	sink++;
}

int
main(void)
{
	int i;

	for (i = 0; i < 10; i++)
		work();
	printf("uid %d euid %d\n", (int)getuid(), (int)geteuid());
	return 8;
}
