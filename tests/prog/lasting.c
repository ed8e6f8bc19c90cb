/*
 * Works until a note of pmon's is in the file that its standard error output
 * goes to.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 1000 };

static volatile unsigned sum;

__attribute__((noinline)) static void
work(unsigned n)
{
	sum = sum * 31 + n;
}

static int
noted(void)
{
	char text[4096];
	int fd = open("/proc/self/fd/2", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "pmon: note: ") && strchr(text, '\n');
}

int
main(void)
{
	while (!noted())
		for (unsigned i = 0; i < CALLS; i++)
			work(i);
	puts("noted");
	return 0;
}
