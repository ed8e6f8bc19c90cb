/*
 * Blocks SIGCHLD and executes itself: says whether it was sent one meanwhile.
 * See tests/detours.t.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct timespec none = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (argc < 2) {
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
		return 1;
	}
	puts(sigtimedwait(&set, NULL, &none) == SIGCHLD ? "got it" : "none");
	return 0;
}
