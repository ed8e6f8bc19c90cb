/*
 * Preloaded into pmon: kills the task that its nth ptrace(2) call is about,
 * just before that is made.  PMON_KILL_AT is n; 0 or none: never.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>

long
ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	static long calls, at;
	va_list ap;
	pid_t pid;
	void *addr, *data;

	if (!real) {
		const char *n = getenv("PMON_KILL_AT");

		*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
		at = n ? atol(n) : 0;
	}
	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (++calls == at)
		kill(pid, SIGKILL);
	return real(request, pid, addr, data);
}
