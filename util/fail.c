/*
 * Keeps the message of the last failure, and aborts pmon when an assertion
 * fails.  Never prints a failure's message: main does.
 */
#include "util/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char message[1024];

static void
message_set(const char *fmt, va_list ap)
{
	char buf[sizeof(message)];

	/* An argument may be the previous message. */
	vsnprintf(buf, sizeof(buf), fmt, ap);
	snprintf(message, sizeof(message), "%s", buf);
}

int
fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_set(fmt, ap);
	va_end(ap);
	return -1;
}

void *
fail_null(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_set(fmt, ap);
	va_end(ap);
	return NULL;
}

const char *
fail_message(void)
{
	return message;
}

_Noreturn void
must_failed(const char *cond, const char *file, int line, const char *func)
{
	fprintf(stderr, "pmon: bug: %s:%d: %s: %s\n", file, line, func, cond);
	abort();
}
