/* Says as whom it runs, and with what capabilities; works ten times. */
#include <stdio.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void
work(void)
{
	sink++;
}

/* Has it any capability? */
static int
capable(void)
{
	FILE *in = fopen("/proc/self/status", "r");
	unsigned long long caps = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		sscanf(line, "CapPrm: %llx", &caps);
	if (in)
		fclose(in);
	return caps != 0;
}

int
main(void)
{
	int i;

	for (i = 0; i < 10; i++)
		work();
	printf("uid %d euid %d gid %d egid %d caps %d\n", (int)getuid(),
	       (int)geteuid(), (int)getgid(), (int)getegid(), capable());
	return 8;
}
