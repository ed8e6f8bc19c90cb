/*
 * Calls the function that is named so many times, which dies in the last call,
 * in the line that says so.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

static volatile int zero, *nowhere;

APART static int
reads(int turn, int turns)
{
	return *(turn == turns ? nowhere : &zero); /* dies */
}

APART static int
divides(int turn, int turns)
{
	return 4711 / (turns - turn); /* dies */
}

APART static void
illegal(int turn, int turns)
{
	if (turn == turns)
		__asm__ volatile("ud2"); /* dies */
}

/* In a call of code that is not counted. */
APART static void
aborts(int turn, int turns)
{
	if (turn == turns)
		abort(); /* dies */
}

APART static void
kills(int turn, int turns)
{
	kill(getpid(), turn == turns ? SIGTERM : 0); /* dies */
}

/* A child dies first, of the same. */
APART static void
after_child(int turn, int turns)
{
	if (turn == turns && !fork())
		abort();
	if (turn == turns && wait(NULL) > 0)
		kill(getpid(), SIGTERM); /* dies */
}

/* A signal that has a handler first, which then is no longer its. */
static void
handler(int signal)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(signal, &action, NULL);
}

APART static int
resets(int turn, int turns)
{
	struct sigaction action = { .sa_handler = handler };

	if (turn == turns)
		sigaction(SIGSEGV, &action, NULL);
	return *(turn == turns ? nowhere : &zero); /* dies */
}

static void *
thread(void *arg)
{
	return arg;
}

APART static int
threaded(int turn, int turns)
{
	pthread_t other;

	if (turn == 1 && !pthread_create(&other, NULL, thread, NULL))
		pthread_join(other, NULL);
	return *(turn == turns ? nowhere : &zero); /* dies */
}

int
main(int argc, char **argv)
{
	const char *way = argv[1];
	int turns = atoi(argv[2]), sum = argc;

	for (int i = 1; i <= turns; i++) {
		if (!strcmp(way, "reads"))
			sum += reads(i, turns);
		else if (!strcmp(way, "divides"))
			sum += divides(i, turns);
		else if (!strcmp(way, "illegal"))
			illegal(i, turns);
		else if (!strcmp(way, "aborts"))
			aborts(i, turns);
		else if (!strcmp(way, "kills"))
			kills(i, turns);
		else if (!strcmp(way, "after_child"))
			after_child(i, turns);
		else if (!strcmp(way, "resets"))
			sum += resets(i, turns);
		else if (!strcmp(way, "threaded"))
			sum += threaded(i, turns);
	}
	return sum;
}
