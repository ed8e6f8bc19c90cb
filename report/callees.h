/*
 * The calls that a function makes: from where to where, and how often.  Direct
 * calls have the counts of their instructions; the targets of indirect calls
 * are known if --units=call recorded them.  Never prints.
 */
#ifndef REPORT_CALLEES_H
#define REPORT_CALLEES_H

#include "report/view.h"

enum callee_where {
	CALLEE_AT,		/* at addr of plan */
	CALLEE_OUTSIDE,		/* outside the objects counted */
	CALLEE_UNSEEN,		/* call was begun, its target not seen */
	CALLEE_UNRECORDED,	/* target not asked for (--units=call) */
};

/* A direct call site, or one target of an indirect call site. */
struct callee {
	uint32_t insn;
	char *name;		/* as shown; NULL: not known */
	const char *how;	/* "tail call", "indirect" ... or "" */
	struct figure count;
	uint8_t where;		/* enum callee_where */
	const struct plan *plan;
	uint64_t addr;
};

struct callees {
	struct callee *calls;	/* that one function made; by address, those
				   of one site most frequent first */
	size_t n;
	size_t never, made;	/* sites, of all functions so far */
	const struct plan *plan;	/* the plan of the arrivals */
	struct arrival *arrivals;	/* ascending site */
	size_t narrivals;
};

/* The reasons for CALLEE_UNSEEN and CALLEE_UNRECORDED. */
extern const char callees_unseen[], callees_unrecorded[];

/*
 * Find the calls of the view's function; they replace those found before.
 * A zeroed struct callees is empty.
 */
void callees_find(struct callees *callees, const struct view *view);
/* Remove the calls and keep their memory; callees_free frees everything. */
void callees_clear(struct callees *callees);
void callees_free(struct callees *callees);

#endif
