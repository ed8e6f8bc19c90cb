/*
 * Where indirect jumps go: jump tables, read from the program's constant
 * data.  For flow/ only.  Pure.
 */
#ifndef FLOW_TABLES_H
#define FLOW_TABLES_H

#include "flow/cfg.h"

/* An indirect jump. */
struct jump {
	uint32_t insn;
	uint8_t flow;		/* enum insn_flow; FLOW_PLAIN: not resolved */
	uint32_t *targets;	/* instructions, ascending; FLOW_TABLE's */
	size_t ntargets;
	bool unknown;		/* it has others, in code that is not known:
				   from there control may come back anywhere */
	uint64_t *outs;		/* others, in the middle of other functions */
	size_t nouts;
};

struct tables;

/*
 * All indirect jumps of the graph, ascending, not resolved yet; NULL if it
 * has none or they cannot be.  The graph's instructions must stay.
 */
struct tables *tables_open(const struct cfg *cfg, const struct cfg_input *in);
void tables_close(struct tables *t);
const struct jump *tables_jumps(const struct tables *t, size_t *n);

/*
 * Look at each jump again in the graph as it is now.  True if something new
 * was found: then the graph is to be made anew with the targets, which may
 * show more, or that what was found does not hold.
 *
 * A jump that has its table behind it goes where the arch says.  Any other
 * goes to the entries of all tables it may go through, up to the bound that
 * the nearest compare of the index sets; all of them must be instructions of
 * the function.  Where nothing but the kind of the index bounds it (the
 * compiler knew more), the table ends where another begins, its section ends,
 * or an entry cannot be one; if it can also be that the function has code
 * which is not known, the jump is not resolved.
 *
 * A jump to an address out of memory or from a caller leaves the function if
 * no address of the function's code but its entry is taken anywhere.
 *
 * Cifuentes & Van Emmerik, "Recovery of jump table case statements from
 * binary code", 1999, has the idea: the address as an expression.
 */
bool tables_look(struct tables *t);

/*
 * What follows the indirect jump is its table, not code (68000: jmp
 * 2(pc,d0.w)).
 */
bool tables_behind(const struct cfg_input *in, const struct insn *jump);

/*
 * How many bytes the table has that is behind the graph's last instruction,
 * at p, where at most avail are left; 0 if that cannot be told.  From what
 * the code up to there says, so tables_look has the last word.
 */
uint64_t tables_extent(const struct cfg *cfg, const struct cfg_input *in,
		       const uint8_t *p, size_t avail);

/* Give up: no jump is resolved. */
void tables_forget(struct tables *t);

#endif
