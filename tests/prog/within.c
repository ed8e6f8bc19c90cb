/*
 * A process to attach to that is always within a function that no unwinder's
 * table tells of.  A letter a line on stdin: g calls work() 100 times and is
 * answered "done"; q ends it, with status 21.
 */
#include <stdio.h>
#include <stdlib.h>

#include "through.h"

static volatile int sum;

__attribute__((noinline)) void
work(int n)
{
	sum += n;
}

static __attribute__((noinline)) void
serve(void)
{
	char line[80];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && line[0] != 'q') {
		for (int i = 0; i < 100; i++)
			work(i);
		puts("done");
		fflush(stdout);
	}
}

int
main(void)
{
	through(serve);
	return 21;
}
