/*
 * Makes one task, whose end may be told of before its beginning: `fork`, a
 * child, `thread`; both rest for ever.  `leaderless`: once the first thread has
 * ended, another says so and, when told, executes true.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *
rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int
leader_state(void)
{
	char line[512] = "", *end;
	FILE *file = fopen("/proc/self/stat", "r");

	if (file && fgets(line, sizeof(line), file) &&
	    (end = strrchr(line, ')')) && end[1]) {
		fclose(file);
		return end[2];
	}
	return 0;
}

static void *
execute(void *arg)
{
	char c;

	while (leader_state() != 'Z')
		sched_yield();
	if (write(STDOUT_FILENO, "r", 1) == 1 && read(STDIN_FILENO, &c, 1) == 1)
		execl("/bin/true", "true", (char *)NULL);
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	int status;

	if (!strcmp(argv[1], "fork")) {
		pid_t pid = fork();

		if (!pid)
			rest(NULL);
		return waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status);
	}
	if (!strcmp(argv[1], "leaderless")) {
		if (!pthread_create(&thread, NULL, execute, NULL))
			pthread_exit(NULL);
		return 1;
	}
	return pthread_create(&thread, NULL, rest, NULL) ||
	       pthread_join(thread, NULL);
}
