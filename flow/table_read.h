/*
 * Reads the entries of a jump table and finds where they lead.  For flow/ only.
 * Pure.
 */
#ifndef FLOW_TABLE_READ_H
#define FLOW_TABLE_READ_H

#include "flow/table_find.h"

/*
 * Addresses that the code mentions: what is read from the next of them on may
 * be no entry, and an entry that is absurd there ends the table.
 */
struct marks {
	uint64_t *addrs;	/* ascending */
	size_t n;
};

/* Where a jump goes; all 0 at first. */
struct targets {
	uint32_t *insns;	/* in any order, some more than once */
	size_t n;
	bool leaves;		/* some entries lead to other functions */
	bool unknown;		/* some lead to code that is not known */
	uint64_t *outs;		/* targets in the middle of other functions */
	size_t nouts;
	uint64_t read;		/* entries that were read for that */
	bool pointer;		/* it may also go where a pointer leads */
	bool failed;		/* not all of its targets can be told */
};

/* Add a target: the instruction with this index. */
void target_push(struct targets *targets, long insn);

/*
 * The size in bytes, at most `avail`, of a table whose bytes are at p and that
 * lies in code which is not decoded yet.  The table has as many entries as a
 * compare allows its index, but ends before the first place behind it to which
 * an entry or a branch leads.  0 if the two contradict each other.
 */
uint64_t table_extent(struct values *v, const struct table *table,
		      const uint8_t *p, uint64_t avail);

enum table_goes {
	TABLE_NONE,		/* nowhere: it is no table of this jump */
	TABLE_HERE,		/* some entries lead to the function */
	TABLE_AWAY,		/* a compare says how many entries there are,
				   and all lead elsewhere */
	TABLE_BAD,		/* not all of its entries can be told */
};

/* Add the table's targets, and say where it leads. */
enum table_goes table_read(struct values *v, const struct marks *marks,
			   const struct table *table, struct targets *targets);

#endif
