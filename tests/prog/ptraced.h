/*
 * For what is preloaded into pmon: each of its ptrace(2) calls comes to
 * ptraced(), which makes it by ptrace_really() or answers it in another way.
 */
#ifndef PTRACED_H
#define PTRACED_H

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/types.h>

static long ptraced(enum __ptrace_request request, pid_t pid, void *addr,
		    void *data);

static long
ptrace_really(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	static long (*real)(enum __ptrace_request, ...);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
	return real(request, pid, addr, data);
}

long
ptrace(enum __ptrace_request request, ...)
{
	pid_t pid;
	void *addr, *data;
	va_list ap;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	return ptraced(request, pid, addr, data);
}

#endif
