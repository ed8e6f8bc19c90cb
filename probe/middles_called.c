/*
 * Finds the places in the middle of functions that are called from anywhere in
 * the text, when a call is first seen to lead to such a place.  Plans nothing.
 */
#include "probe/build.h"

#include <stdlib.h>
#include <string.h>

#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

/* Places in one range; runtime.duffzero has 64 instructions. */
enum { PLACES_MAX = 4096 };

/* The places that calls in the range lead to. */
static void
range_search(struct build *build, const struct part *owner)
{
	const struct arch *arch = build->image->arch;
	uint8_t call[INSN_MAX];
	uint64_t addr = owner->range.lo;
	const uint8_t *code, *p;
	struct insn insn;
	size_t avail;

	code = image_text(build->image, addr, &avail);
	if (!code || arch->emit.call_write(addr, addr, call))
		return;
	if (avail > owner->range.hi - addr)
		avail = owner->range.hi - addr;
	for (p = code; (p = memchr(p, call[0], avail - (size_t)(p - code)));
	     p++) {
		uint64_t at = addr + (uint64_t)(p - code);

		if (!arch->decode(p, avail - (size_t)(p - code), at, &insn) &&
		    insn.kind == INSN_CALL &&
		    insn_may_enter_middle(build, owner->fplan, &insn))
			*vec_push(build->called, build->ncalled) = insn.target;
	}
}

static void
text_search(struct build *build)
{
	if (build->searched || !build->image->arch->emit.call_write)
		return;
	build->searched = true;
	for (size_t i = 0; i < build->nowners; i++)
		range_search(build, &build->owners[i]);
	addrs_sort(build->called, build->ncalled);
}

/* Note those of the range at which instructions begin. */
static void
range_note(struct build *build, const struct range *range)
{
	const struct arch *arch = build->image->arch;
	size_t k = search_first(build->ncalled, i,
				build->called[i] > range->lo);
	uint64_t addr = range->lo;
	unsigned places = 0;
	const uint8_t *code;
	struct insn insn;
	size_t avail;

	while (k < build->ncalled && build->called[k] < range->hi &&
	       places < PLACES_MAX) {
		code = image_text(build->image, addr, &avail);
		if (!code || arch->decode(code, avail, addr, &insn))
			return;
		addr += insn.len;
		while (k < build->ncalled && build->called[k] < addr)
			k++;
		if (k == build->ncalled || build->called[k] != addr ||
		    addr >= range->hi)
			continue;
		addrs_add(&build->mid_entered, &build->nmid_entered, addr);
		places++;
	}
}

void
middles_called(struct build *build, uint32_t index)
{
	const struct func_plan *fplan = &build->plan->fplans[index];

	if (fplan->state != FPLAN_WAITING || !fplan->units || fplan->guest ||
	    mid_entries_any(build, fplan))
		return;
	text_search(build);
	for (size_t i = 0; i < fplan->nranges; i++)
		range_note(build, &fplan->ranges[i]);
}
