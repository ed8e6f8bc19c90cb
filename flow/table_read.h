/*
 * Where the entries of a jump table lead.  For flow/ only.  Pure.
 */
#ifndef FLOW_TABLE_READ_H
#define FLOW_TABLE_READ_H

#include "flow/table_find.h"

/* Addresses that the code mentions: a table ends before the next. */
struct marks {
	uint64_t *addrs;	/* ascending */
	size_t n;
};

/* Where a jump goes; begins as 0. */
struct targets {
	uint32_t *insns;	/* in any order, some more than once */
	size_t n;
	bool leaves;		/* tables have entries of other functions */
	bool unknown;		/* or of code that is not known */
	uint64_t *outs;		/* and in the middle of other functions */
	size_t nouts;
};

void target_push(struct targets *targets, long insn);

/*
 * How many bytes a table has that lies in code which is not decoded yet, up
 * to `avail` bytes from p: as many entries as a compare lets its index have,
 * but it ends before the first place behind it that an entry or a branch leads
 * to.  0 if that makes no sense.
 */
uint64_t table_extent(struct values *v, const struct table *table,
		      const uint8_t *p, uint64_t avail);

/*
 * Add the table's targets.  1, or 0 if none is in the function, or -1 if not
 * all can be told.
 */
int table_read(struct values *v, const struct marks *marks,
	       const struct table *table, struct targets *targets);

#endif
