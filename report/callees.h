/*
 * The calls that a function makes: from where to where, and how often.  Direct
 * ones have the counts of their instructions; where indirect ones went was
 * recorded if that was asked for.
 */
#ifndef REPORT_CALLEES_H
#define REPORT_CALLEES_H

#include "report/view.h"

enum callee_where {
	CALLEE_AT,		/* at addr of plan */
	CALLEE_OUTSIDE,		/* outside the objects counted */
	CALLEE_UNSEEN,		/* it was begun, where it went was not seen */
	CALLEE_UNRECORDED,	/* not asked for (--units=call) */
};

/* A call site, or one of the places an indirect one goes to. */
struct callee {
	uint32_t insn;
	char *name;		/* as it is shown; NULL: not known */
	const char *how;	/* "tail call", "indirect" ... or "" */
	struct figure count;
	uint8_t where;		/* enum callee_where */
	const struct plan *plan;
	uint64_t addr;
};

struct callees {
	struct callee *calls;	/* of one function, that were made; by address,
				   those of one site most frequent first */
	size_t n;
	size_t never, made;	/* sites, of all functions so far */
	const struct plan *plan;	/* whose arrivals these are: */
	struct arrival *arrivals;	/* ascending site */
	size_t narrivals;
};

extern const char callees_unseen[], callees_unrecorded[];

/* What the function calls, in place of what was found before. */
void callees_find(struct callees *callees, const struct view *view);
void callees_clear(struct callees *callees);
void callees_free(struct callees *callees);

#endif
