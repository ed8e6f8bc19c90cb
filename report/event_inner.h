/*
 * What the files that add up events share.  Private to them.
 */
#ifndef REPORT_EVENT_INNER_H
#define REPORT_EVENT_INNER_H

#include "report/callees.h"
#include "report/event_sums.h"
#include "report/view.h"

/* The function that is being added. */
struct adding {
	const struct events *events;
	const struct view *view;
	const struct func *func;	/* or NULL */
	bool *chosen;		/* per event: it counts in this function, as
				   far as functions and objects tell */
	struct figure *sums;	/* per event */
	struct callees *callees;	/* empty, but for memory to use again */
};

/* event_sums.c: what the instruction is, a set of enum insn_set and insn_class. */
unsigned event_insn_classes(const struct image *image, const struct insn *insn);

/* Add weight * count. */
void event_sum_add(struct figure *sum, uint64_t weight, struct figure count);

/* Whether the function, or NULL for nameless code, is among those meant. */
bool event_func_is(const struct selection *of, const struct func *func);
/* Whether the event may count in this function, whatever its files. */
bool event_where_func(const struct event_def *event, const struct plan *plan,
		      const struct func *func);
/* Whether it counts in this file; index into table->files, or FILE_NONE. */
bool event_where_file(const struct event_def *event, const struct table *table,
		      uint32_t file);
/* Whether the event counts at this instruction, as far as files tell. */
bool event_where_insn(const struct event_def *event, const struct view *view,
		      uint32_t insn);

/*
 * Find the next edge that a term means in its function, which has a flow: from
 * the block with one instruction to that which begins with another.  *edge is
 * where to look from on, and is set.  False if there is none.
 */
bool event_edge_next(const struct func_plan *fplan, const struct func *func,
		     const struct event_term *term, uint32_t *edge);

/*
 * event_match.c: a name in the event that is nothing that was counted, neither
 * in the table nor in the other, which may be NULL.  Lent; NULL if all are.
 */
const char *event_missing(const struct event_def *event,
			  const struct table *table, const struct table *other);

/*
 * event_calls.c: add the calls that the function makes, which are in
 * adding->callees, to the sum of event e as far as the term means them.
 */
void event_calls_add(const struct adding *adding, size_t e,
		     const struct event_term *term);

/* event_unknown.c: add what is not known as it was not counted. */
void event_unknown_add(struct event_sums *sums, const struct table *table,
		       const struct events *events);

#endif
