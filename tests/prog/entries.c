/*
 * Calls functions (entries_asm.S), and jumps to the bytes behind their entries.
 * argv[1]: how often to call each; argv[2]: what to do then, one letter each:
 * c calls each again; 1 to 4 jump that many bytes behind the entry of a function
 * of its own; h jumps into an instruction; i has a function jump back to its own
 * beginning; f has a child process do the like, then the program itself; s calls
 * from a signal's handler; w says so and waits for a line of input.  Prints how many bytes
 * were stored.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef char body[];

extern body quiet, at_1, at_2, at_3, at_4, itself, forked, hidden;

/* Goes to `first`, and from there to `second` unless that is NULL. */
char *enter(char *at, const void *first, const void *second);

static char stored[64];
static unsigned long sum;

static void
run(const char *first, const char *second)
{
	sum += (unsigned long)(enter(stored, first, second) - stored);
}

static void
calls(int n)
{
	static char *const all[] = {
		quiet, at_1, at_2, at_3, at_4, itself, forked, hidden,
	};

	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			run(all[k], NULL);
}

static void
caught(int signal)
{
	calls(1);
}

static void
child(void)
{
	int status = 0;
	pid_t pid;

	pid = fork();
	if (!pid) {
		run(forked + 2, NULL);
		calls(1);
		_exit(sum & 0x7f);
	}
	waitpid(pid, &status, 0);
	printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	run(forked + 3, NULL);
}

static void
act(char what, int n)
{
	static char *const at[] = { at_1, at_2, at_3, at_4 };

	if (what >= '1' && what <= '4')
		run(at[what - '1'] + (what - '0'), NULL);
	else if (what == 'c')
		calls(n);
	else if (what == 'h')
		run(hidden + 1, NULL);
	else if (what == 'i')
		run(itself, itself + 2);
	else if (what == 'f')
		child();
	else if (what == 's')
		raise(SIGUSR1);
	else if (what == 'w' && puts("waits") >= 0)
		getchar();
}

int
main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGUSR1, caught);
	calls(n);
	for (const char *what = argv[2]; *what; what++)
		act(*what, n);
	printf("stored %lu\n", sum);
	return 0;
}
