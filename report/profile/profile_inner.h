/*
 * What the files of profiles share.  Private to them.
 */
#ifndef REPORT_PROFILE_PROFILE_INNER_H
#define REPORT_PROFILE_PROFILE_INNER_H

#include "report/profile/profile.h"
#include "report/profile/stream.h"

void func_clear(struct profile_func *func);
void object_clear(struct profile_object *object);

/* The orders that profile.h gives. */
int func_compare(const struct profile_func *a, const struct profile_func *b);
int abnormal_compare(const struct profile_abnormal *a,
		     const struct profile_abnormal *b);
int call_compare(const struct profile_call *a, const struct profile_call *b);

/*
 * Sort abnormal edges and calls, and an object's functions, and make those one
 * that are one by these orders.
 */
void extras_sort(struct profile_func *func);
void funcs_fold(struct profile_object *object);

/*
 * What is wrong with a function's doubt, or NULL; the section of a data file
 * that has those of all functions; and one added to another, which is used up.
 */
const char *doubt_fault(const struct profile_func *func);
void doubts_put(const struct profile *profile, struct sink *out);
void doubts_get(struct profile *profile, struct feed *feed);
void doubt_add(struct profile_func *into, struct profile_func *from);

/* The same blocks and edges, whatever their counts. */
bool graph_same(const struct profile_func *a, const struct profile_func *b);

#endif
