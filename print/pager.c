/*
 * Owns the pager, between pmprint and the terminal, as git(1) has it: the pager
 * gets what goes to the standard output and, if that is a terminal, too, to
 * standard error.  pmprint ends after its pager, whatever ends it.
 */
#include "print/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/program_path.h"

/* The pager's process, or 0; and a copy of the standard error it has taken. */
static pid_t pager;
static int error_saved = -1;

/* Signals that end pmprint. */
static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM };

/* The command, or NULL: none. */
static const char *
pager_command(void)
{
	const char *command = getenv("PMON_PAGER");
	size_t blanks, word;
	char *name, *path = NULL;
	bool there;

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	blanks = strspn(command, " \t");
	word = strcspn(command + blanks, " \t");
	name = mem_strndup(command + blanks, word);
	/* What a shell would have to look at more closely is left to it. */
	there = *name && strcmp(command, "cat") &&
		(strpbrk(name, "/$`'\"\\;&|<>(){}=*?[~") ||
		 (path = program_path(name)));
	free(path);
	free(name);
	return there ? command : NULL;
}

/* The pager gets what is still to be printed, and the user may read on. */
static void
pager_wait(void)
{
	close(STDOUT_FILENO);
	dup2(error_saved, STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

/* pmprint ends by the signal, but not before the pager. */
static void
end_later(int number)
{
	if (pager)
		pager_wait();
	signal(number, SIG_DFL);
	raise(number);
}

static void
pager_run(const char *command, int in)
{
	/* Leave what fits the screen there, show colours, clear nothing. */
	setenv("LESS", "FRX", 0);
	/* Without a standard input the pipe may have its number. */
	if (in == STDIN_FILENO)
		fcntl(in, F_SETFD, 0);
	else
		dup2(in, STDIN_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void
pager_open(struct report_options *opts)
{
	const char *command = pager_command();
	int ends_of[2];

	if (pager || !command || !isatty(STDOUT_FILENO) ||
	    pipe2(ends_of, O_CLOEXEC))
		return;
	error_saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	report_paged(opts);
	fflush(stdout);
	pager = fork();
	if (!pager)
		pager_run(command, ends_of[0]);
	if (pager > 0) {
		dup2(ends_of[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(ends_of[1], STDERR_FILENO);
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			signal(ends[i], end_later);
	}
	close(ends_of[0]);
	close(ends_of[1]);
}

int
pager_error(void)
{
	return pager > 0 ? error_saved : STDERR_FILENO;
}

void
pager_close(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	/* Nobody need read it all. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], SIG_IGN);
	pager_wait();
}
