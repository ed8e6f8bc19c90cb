/*
 * Mid-entries: control that comes to the middle of a function.  For
 * probe/ only.
 */
#ifndef PROBE_MID_ENTRY_H
#define PROBE_MID_ENTRY_H

#include "probe/plan.h"

struct build;

/*
 * Note that control may come to addr in the middle of the function plan, and
 * have it looked at now.
 */
void build_enters(struct build *build, uint32_t fplan, uint64_t addr);
/* Whether there are mid-entries into the function plan. */
bool mid_entries_any(const struct build *build, const struct func_plan *fplan);
/* Whether an instruction begins at each mid-entry into the function plan. */
bool mid_entries_known(const struct build *build,
		       const struct func_plan *fplan);
/*
 * Find calls of parts of the function in itself (subroutines without a name)
 * and note them as mid-entries.  True if any is new: then the function plan's
 * graph must be made anew.
 */
bool calls_inside(struct build *build, const struct func_plan *fplan);
/*
 * A call leads to the middle of the function plan, which waits: note all places
 * in its middle that are called from anywhere in the text, as far as decoding
 * shows.  Go's programs call hundreds of places in the middle of
 * runtime.duffzero; once it is planned, each new one would need a trap.
 */
void middles_called(struct build *build, uint32_t fplan);
/*
 * Note that control goes from the function plan `from` to target.  If target is
 * in the middle of another function that waits, have that function looked at
 * before control can enter it there.  If the other function has been looked at
 * already, nothing is derived in it any more.
 */
void mid_entry_note(struct build *build, uint32_t from, uint64_t target);
/*
 * Whether insn, if it is an instruction and not data, is a direct jump or call
 * to the middle of a function plan other than `index`.
 */
bool insn_may_enter_middle(const struct build *build, uint32_t index,
			   const struct insn *insn);
/*
 * Note all places in the middle of other functions to which control goes from a
 * function plan that has a graph.
 */
void mid_entries_note(struct build *build, uint32_t fplan);
/*
 * If the small functions just before the function plan, which waits and has a
 * graph, jump into its middle, have it looked at again and return true.
 */
bool neighbours_enter(struct build *build, uint32_t fplan);

#endif
