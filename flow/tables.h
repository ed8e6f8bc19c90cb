/*
 * Finds where indirect jumps go, from jump tables in the program's constant
 * data.  Makes no graph.  For flow/ only.  Pure.
 */
#ifndef FLOW_TABLES_H
#define FLOW_TABLES_H

#include "flow/cfg.h"

/* An indirect jump. */
struct jump {
	uint32_t insn;
	uint8_t flow;		/* enum insn_flow; FLOW_PLAIN: not resolved */
	uint32_t *targets;	/* instructions, ascending; if FLOW_TABLE or
				   FLOW_TABLE_LEAVES */
	size_t ntargets;
	bool unknown;		/* it may have other targets, or some in unknown
				   code, whence control may come anywhere */
	uint64_t *outs;		/* targets in the middle of other functions, if
				   it is resolved */
	size_t nouts;
};

struct tables;

/*
 * Collect the graph's indirect jumps, ascending and not resolved yet.  NULL if
 * there are none or they cannot be resolved.  The graph's instructions must not
 * change until tables_close.
 */
struct tables *tables_open(const struct cfg *cfg, const struct cfg_input *in);
void tables_close(struct tables *t);
/* The jumps and what is known of each, *n of them, ascending; t owns them. */
const struct jump *tables_jumps(const struct tables *t, size_t *n);

/*
 * Look at each jump again in the graph as it is now.  True if any jump turned
 * out otherwise than before: then the caller makes the graph anew with these
 * targets and calls tables_look again, as the new graph may show more, or
 * disprove what was found.
 *
 * A jump that has its table behind it goes where the arch says.  Any other jump
 * goes to the entries of all tables it may go through, up to the bound that the
 * nearest compare of the index sets.  If nothing proves a bound, or it is that
 * of the index's type (the compiler knew more), the table ends before an entry
 * that cannot be one, or with its section.  If a compare allows more entries
 * than its section has, the jump is `unknown`.  Entries that may lead to code
 * elsewhere or to code that is not proven are believed where a compare gives
 * the number of entries; else they make the jump `unknown`.
 *
 * Jumps behind those that had a million entries are not resolved.
 *
 * A jump to an address that comes from memory or from a caller leaves the
 * function if no address in the function's code but its entry is taken
 * anywhere.
 *
 * Cifuentes & Van Emmerik, "Recovery of jump table case statements from
 * binary code", 1999, has the idea: the address as an expression.
 */
bool tables_look(struct tables *t);

/*
 * How the jumps use their tables, *n of them, ascending: see struct table_use.
 * None unless several jumps have tables.  Call this when the graph is complete.
 * The caller owns the array and each one's entries.
 */
struct table_use *tables_uses(struct tables *t, size_t *n);

/*
 * Whether the bytes behind the indirect jump are its table, not code (68000:
 * jmp 2(pc,d0.w)).
 */
bool tables_behind(const struct cfg_input *in, const struct insn *jump);

/*
 * The size in bytes of the table behind the graph's last instruction, whose
 * bytes are at p, `avail` of them at most; 0 if unknown.  Only code up to there
 * is decoded yet, so this is provisional: tables_look has the last word.
 */
uint64_t tables_extent(const struct cfg *cfg, const struct cfg_input *in,
		       const uint8_t *p, size_t avail);

/* Give up: make all jumps unresolved again.  The struct stays open. */
void tables_clear(struct tables *t);

#endif
