/*
 * Runs a command in a session of its own on a pseudo terminal, types what
 * comes on stdin when what is awaited was printed, and prints what the
 * terminal shows: a small expect(1).  Each line of stdin is
 *
 *	TEXT<tab>KEYS
 *
 * wait until TEXT was printed (after what was awaited before), then type
 * KEYS, in which \n is the return key, \c ^C, \z ^Z, \\ ^\, \d ^D, and \f
 * waits until another program than the command itself has the terminal and
 * catches ^C.  Ends with the command's exit status when that has hung up, 124 if
 * a text does not come within ten minutes, which no load of the machine explains.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { SHOWN_MAX = 1 << 20 };

static char shown[SHOWN_MAX];
static size_t nshown, seen;

static int
terminal_open(char **name)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) || unlockpt(fd)) {
		perror("pty");
		exit(125);
	}
	*name = ptsname(fd);
	return fd;
}

static void
command_run(const char *name, char **argv)
{
	int fd;

	setsid();
	fd = open(name, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0)) {
		perror(name);
		_exit(125);
	}
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

/* Read what is shown; 0 when the terminal is hung up. */
static int
terminal_read(int fd, int timeout)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	ssize_t n;

	if (poll(&pfd, 1, timeout) <= 0)
		return -1;
	n = read(fd, shown + nshown, SHOWN_MAX - 1 - nshown);
	if (n <= 0)
		return 0;
	nshown += n;
	shown[nshown] = '\0';
	return 1;
}

static int
await(int fd, const char *text)
{
	int waited = 0, got;
	char *at;

	for (;;) {
		at = strstr(shown + seen, text);
		if (at) {
			seen = at - shown + strlen(text);
			return 0;
		}
		got = terminal_read(fd, 1000);
		if (got == 0 || (got < 0 && ++waited == 600))
			return -1;
	}
}

static void
command_name(pid_t pid, char *name, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "r");
	if (!f || !fgets(name, size, f))
		*name = '\0';
	if (f)
		fclose(f);
}

static int
catches_interrupts(pid_t pid)
{
	unsigned long caught = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "SigCgt: %lx", &caught);
	if (f)
		fclose(f);
	return caught >> (SIGINT - 1) & 1;
}

/*
 * A shell names a job before it gives it the terminal, and the job is a copy
 * of the shell, with its signal handlers, before it is the program.
 */
static void
await_job(int fd, pid_t shell)
{
	char own[64], name[64];
	pid_t job;

	command_name(shell, own, sizeof(own));
	for (;;) {
		job = tcgetpgrp(fd);
		command_name(job, name, sizeof(name));
		if (job != shell && strcmp(name, own) != 0 &&
		    catches_interrupts(job))
			return;
		poll(NULL, 0, 1);
	}
}

static void
type(int fd, pid_t shell, const char *keys)
{
	static const char from[] = "nczd\\", to[] = "\r\3\32\4\34";

	for (; *keys; keys++) {
		char c = *keys;
		const char *at;

		if (c == '\\' && keys[1] == 'f') {
			await_job(fd, shell);
			keys++;
			continue;
		}
		if (c == '\\' && keys[1] && (at = strchr(from, keys[1]))) {
			c = to[at - from];
			keys++;
		}
		if (write(fd, &c, 1) != 1)
			return;
	}
}

int
main(int argc, char **argv)
{
	char line[1024], *name, *keys;
	int fd = terminal_open(&name), status, failed = 0;
	pid_t pid;

	if (argc < 2)
		return 125;
	pid = fork();
	if (!pid)
		command_run(name, argv + 1);
	while (!failed && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		keys = strchr(line, '\t');
		if (keys)
			*keys++ = '\0';
		failed = await(fd, line);
		if (failed)
			fprintf(stderr, "'%s' does not come\n", line);
		else if (keys)
			type(fd, pid, keys);
	}
	if (failed)
		kill(-pid, SIGKILL);
	/* What was killed may have left others that keep the terminal. */
	while (terminal_read(fd, failed ? 10000 : -1) > 0)
		;
	close(fd);
	fwrite(shown, 1, nshown, stdout);
	waitpid(pid, &status, 0);
	return failed ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) :
		128 + WTERMSIG(status);
}
