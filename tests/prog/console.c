/*
 * A program of the terminal: works for each line it reads; says when it was
 * stopped and goes on, and when the window changes or it is interrupted.  At a
 * line that begins with t it stops its job, itself included.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts;
static volatile long sink;

__attribute__((noinline)) void
work(void)
{
	sink++;
}

static void
say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(99);
}

__attribute__((noinline)) void
on_interrupt(int sig)
{
	interrupts++;
	say("interrupted\n");
	if (interrupts == 2)
		_exit(12);
}

__attribute__((noinline)) void
on_continue(int sig)
{
	say("continued\n");
}

/* A loop that never asks the kernel, until interrupted. */
static void
spin(void)
{
	while (!interrupts)
		work();
}

int
main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_continue,
				    .sa_flags = SA_RESTART };
	char line[80];

	sigaction(SIGCONT, &action, NULL);
	action.sa_handler = on_interrupt;
	if (argc > 1 && !strcmp(argv[1], "handle"))
		sigaction(SIGINT, &action, NULL);
	if (argc > 1 && !strcmp(argv[1], "catch"))
		sigaction(SIGTSTP, &action, NULL);
	say("ready\n");
	if (argc > 2)
		spin();
	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == 't')
			kill(0, SIGTSTP);
		work();
		say("worked\n");
		if (line[0] == 'q')
			return 13;
	}
	return 14;
}
