/*
 * Preloaded into pmon: sends signals to tasks by the number of ptrace(2) calls
 * made since the file PMON_KILL_FROM had a byte that is not 0, just before the
 * call that is about the task.  PMON_KILL_AT is the call of SIGKILL.  Each
 * PMON_ALARM_EACH calls there is a SIGALRM, if the task handles it.  0 or none:
 * never.  With PMON_KILL_DETACH a process is killed just before the first request
 * that detaches a task, which waits until all its tasks are at their last stops.
 * With PMON_KILL_SLOW the killed task answers no request until pmon waits
 * for the next event, as if it took its time to die, unless it is at its end.
 * With PMON_KILL_BORN the first task that is resumed after another is killed just
 * before that, so that the request finds it at its last stop.  Nobody else may
 * kill it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "ptraced.h"

static pid_t dying;

static long
number(const char *name)
{
	const char *n = getenv(name);

	return n ? atol(n) : 0;
}

/* Has the program begun to say what it does? */
static int
begun(const char *path)
{
	char bytes[4096];
	size_t n;
	FILE *file = fopen(path, "r");

	if (!file)
		return 0;
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	while (n && !bytes[n - 1])
		n--;
	return n != 0;
}

static int
handles_alarm(pid_t pid)
{
	unsigned long long caught = 0;
	char name[64], line[128];
	FILE *status;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	status = fopen(name, "r");
	while (status && fgets(line, sizeof(line), status) &&
	       sscanf(line, "SigCgt: %llx", &caught) != 1)
		;
	if (status)
		fclose(status);
	return caught >> (SIGALRM - 1) & 1;
}

/* Kill the task's process, and wait until its tasks are at their last stops. */
static void
kill_all(pid_t pid)
{
	char name[64];
	const struct dirent *entry;
	siginfo_t info;
	DIR *tasks;

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	tasks = opendir(name);
	kill(pid, SIGKILL);
	while (tasks && (entry = readdir(tasks)))
		if (atoi(entry->d_name))
			waitid(P_PID, (id_t)atoi(entry->d_name), &info,
			    WSTOPPED | WEXITED | WNOWAIT | __WALL);
	if (tasks)
		closedir(tasks);
}

static void
born_kill(pid_t pid)
{
	static pid_t first, born;

	if (!first)
		first = pid;
	if (pid == first || born || !number("PMON_KILL_BORN"))
		return;
	born = pid;
	kill_all(pid);
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	static bool looked;
	static long calls, at, each, detached;
	static const char *from;

	if (!looked) {
		looked = true;
		at = number("PMON_KILL_AT");
		each = number("PMON_ALARM_EACH");
		from = getenv("PMON_KILL_FROM");
	}
	if (from && begun(from))
		from = NULL;
	if (from)
		return ptrace_really(request, pid, addr, data);
	if (request == PTRACE_CONT || request == PTRACE_SYSCALL)
		born_kill(pid);
	calls++;
	if (request == PTRACE_DETACH && !detached++ &&
	    number("PMON_KILL_DETACH"))
		kill_all(pid);
	if (calls == at) {
		siginfo_t info = { 0 };

		ptrace_really(PTRACE_GETSIGINFO, pid, NULL, &info);
		kill(pid, SIGKILL);
		if (number("PMON_KILL_SLOW") &&
		    info.si_code >> 8 != PTRACE_EVENT_EXIT)
			dying = pid;
	} else if (each && calls % each == 0 && handles_alarm(pid)) {
		kill(pid, SIGALRM);
	}
	if (pid == dying) {
		errno = ESRCH;
		return -1;
	}
	return ptrace_really(request, pid, addr, data);
}

pid_t
waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*real)(pid_t, int *, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "waitpid");
	dying = 0;
	return real(pid, status, options);
}
