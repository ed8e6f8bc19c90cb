/*
 * Maps a pc in a relocated function to what it stands for in the original, and
 * an original pc to the relocated function.  Changes nothing.
 */
#include "relocate/pc_map.h"

#include "relocate/relocate.h"
#include "util/search.h"

/* The fragment at the offset; among fragments of size 0, the last. */
static const struct fragment *
fragment_find(const struct relocated *relocated, uint32_t offset)
{
	size_t first;

	if (offset >= relocated->size)
		return NULL;
	first = search_first(relocated->nfragments, i,
			     relocated->fragments[i].offset > offset);
	return &relocated->fragments[first - 1];
}

int
pc_map_entry(const struct relocated *relocated, uint32_t offset,
	     struct pc_map_entry *entry)
{
	const struct fragment *fragment = fragment_find(relocated, offset);
	enum fragment_inside inside;
	bool dispatch;

	if (!fragment)
		return -1;
	dispatch = fragment->kind == FRAGMENT_DISPATCH;
	inside = relocated->arch->emit.fragment_inside(
		fragment, offset - fragment->offset);
	if (inside == INSIDE_NOT)
		return -1;
	*entry = (struct pc_map_entry){
		.addr = fragment->addr,
		.element = fragment->probe == PROBE_NONE || dispatch ?
				   ARC_NONE :
				   relocated->probes[fragment->probe].element,
		.committed = inside == INSIDE_COMMITTED || fragment->len,
		.arrived = fragment->arrived,
		.saved = inside == INSIDE_SAVED || inside == INSIDE_COMMITTED,
		.begins = inside == INSIDE_START && !fragment->counted &&
			  (fragment->len || fragment->kind == FRAGMENT_INDEX),
		.dispatched = fragment->counted ||
			      (dispatch && inside == INSIDE_COMMITTED),
		.between = inside == INSIDE_BETWEEN || inside == INSIDE_FULL,
		.full = inside == INSIDE_FULL,
		.index = fragment->counted ?
				 &relocated->indexes[fragment->map] :
				 NULL,
	};
	if (entry->element == ARC_NONE)
		entry->committed = false;
	return 0;
}

int64_t
relocated_offset(const struct relocated *relocated, uint64_t addr)
{
	size_t lo = search_first(
		relocated->nby_addr, i,
		relocated->fragments[relocated->by_addr[i]].addr >= addr);

	if (lo == relocated->nby_addr ||
	    relocated->fragments[relocated->by_addr[lo]].addr != addr)
		return -1;
	return relocated->fragments[relocated->by_addr[lo]].offset;
}

bool
relocated_stays(const struct relocated *relocated, uint64_t addr)
{
	size_t lo = search_first(relocated->nstays, i,
				 relocated->stays[i].hi > addr);

	return (lo < relocated->nstays && relocated->stays[lo].lo <= addr) ||
	       relocated_offset(relocated, addr) < 0;
}
