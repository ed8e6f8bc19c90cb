/*
 * Preloaded into pmon: when pmon first lets a task go on to a system call, the
 * task has stopped where it enters that, and pmon has been asked for a report
 * (SIGUSR1), before pmon looks at either.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

long
ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	static int entered;
	siginfo_t info;
	long result;
	va_list ap;
	pid_t pid;
	void *addr, *data;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	result = real(request, pid, addr, data);
	if (request != PTRACE_SYSCALL || result || entered++)
		return result;
	if (waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT | __WALL))
		abort();
	raise(SIGUSR1);
	return result;
}
