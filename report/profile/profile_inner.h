/*
 * Helpers that the files of report/profile/ share.  Private to them.
 */
#ifndef REPORT_PROFILE_PROFILE_INNER_H
#define REPORT_PROFILE_PROFILE_INNER_H

#include "report/profile/profile.h"
#include "report/profile/stream.h"

/* Free what the function or the object owns, but not itself. */
void func_clear(struct profile_func *func);
void object_clear(struct profile_object *object);

/*
 * All functions of a profile, one after another; NULL behind the last.  The
 * cursor begins as 0.  `func` is then the number of functions of the object
 * that have been given.
 */
struct func_cursor {
	size_t object, func;
};
struct profile_func *func_next(const struct profile *profile,
			       struct func_cursor *at);

/* The orders that profile.h gives. */
int func_compare(const struct profile_func *a, const struct profile_func *b);
int abnormal_compare(const struct profile_abnormal *a,
		     const struct profile_abnormal *b);
int call_compare(const struct profile_call *a, const struct profile_call *b);

/*
 * Sort a function's abnormal edges and calls, or an object's functions, and add
 * up those that are equal by these orders.
 */
void extras_sort(struct profile_func *func);
void funcs_fold(struct profile_object *object);

/*
 * profile_doubt.c: doubt_fault tells what is wrong with a function's doubt, or
 * NULL.  doubts_put and doubts_get write and read the section of a data file
 * that has the doubts of all functions.  doubt_add adds the doubt of `from`,
 * whose list it may take.
 */
const char *doubt_fault(const struct profile_func *func);
void doubts_put(const struct profile *profile, struct sink *out);
void doubts_get(struct profile *profile, struct feed *feed);
void doubt_add(struct profile_func *into, struct profile_func *from);

/*
 * profile_times.c: the same for the times of functions.  Any section of times
 * may be missing or ignored.
 */
const char *times_fault(const struct profile_func *func);
void times_put(const struct profile *profile, struct sink *out);
void times_get(struct profile *profile, struct feed *feed);
void times_merge(struct profile_func *into, struct profile_func *from);

/* Whether a and b have the same blocks and edges, whatever their counts. */
bool graph_same(const struct profile_func *a, const struct profile_func *b);

#endif
