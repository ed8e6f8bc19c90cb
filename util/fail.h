/*
 * The error message of the operation that just failed, and pmon's own
 * assertions.  A function that fails sets the message and returns -1 (or
 * NULL); only main prints it.  Nothing here ends pmon but must(), which states
 * what only a bug of pmon could make false, and is checked in every build.
 */
#ifndef UTIL_FAIL_H
#define UTIL_FAIL_H

#include <stddef.h>

/*
 * Set the message, which must name the file or process and the reason.  fail
 * returns -1, so that callers can write `return fail("...")`, and fail_null
 * returns NULL.
 */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *fail_null(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The last message set; "" if none was. */
const char *fail_message(void);

/*
 * For a function whose result tells whether what it was to read, open or write
 * out is there: the compiler warns of a call that drops the result.  Not for
 * changes of a process, which a process that has ended does not need.
 */
#define MUST_CHECK __attribute__((warn_unused_result))

#define must(cond) \
	((cond) ? (void)0 : must_failed(#cond, __FILE__, __LINE__, __func__))

_Noreturn void must_failed(const char *cond, const char *file, int line,
			   const char *func);

#endif
