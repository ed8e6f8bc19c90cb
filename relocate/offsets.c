/*
 * Where the fragments of a relocated function are: the size of each, and the
 * alignment of loops.  Never changes the order of fragments.
 */
#include "relocate/offsets.h"

#include "util/fail.h"

/*
 * Set where each innermost loop ends: at the last fragment that goes back to
 * its head, among the first n fragments, which are not stubs.
 */
static void
loops_close(struct relocated *relocated, uint32_t n)
{
	uint32_t align = FRAGMENT_OUT;

	for (uint32_t i = 0; i < n; i++) {
		const struct fragment *fragment = &relocated->fragments[i];

		if (fragment->kind == FRAGMENT_ALIGN)
			align = i;
		else if (align != FRAGMENT_OUT && fragment->to == align + 1)
			relocated->fragments[align].to = i;
	}
}

static uint32_t
offset_aligned(uint32_t offset, uint32_t align)
{
	return (offset + align - 1) & ~(align - 1);
}

static uint32_t
lines_touched(uint32_t offset, uint32_t len)
{
	return (offset % ALIGN_LINE + len + ALIGN_LINE - 1) / ALIGN_LINE;
}

/*
 * Where the loop behind a FRAGMENT_ALIGN begins, if it could begin at offset.
 */
static uint32_t
loop_offset(const struct relocated *relocated, uint32_t align, uint32_t offset)
{
	uint32_t at = offset_aligned(offset, ALIGN_LOOP), len = 0;

	if (relocated->fragments[align].to == FRAGMENT_OUT)
		return at;
	for (uint32_t i = align + 1; i <= relocated->fragments[align].to; i++)
		len += relocated->fragments[i].size;
	return lines_touched(at, len) == lines_touched(0, len) ?
		       at :
		       offset_aligned(offset, ALIGN_LINE);
}

static void
size_set(const struct arch *arch, struct fragment *fragment)
{
	uint32_t size = arch->emit.fragment_size(fragment);

	must(size <= FRAGMENT_MAX);
	fragment->size = (uint8_t)size;
}

/* Set the offsets, and the sizes of alignments; other sizes are set already. */
static void
offsets_set(struct relocated *relocated)
{
	uint32_t offset = 0;

	for (uint32_t i = 0; i < relocated->nfragments; i++) {
		struct fragment *fragment = &relocated->fragments[i];

		must(offset < UINT32_MAX / 2);
		fragment->offset = offset;
		if (fragment->kind == FRAGMENT_ALIGN)
			fragment->size = (uint8_t)(loop_offset(relocated, i,
							       offset) -
						   offset);
		offset += fragment->size;
	}
	relocated->size = offset;
}

/* From a fragment to the one that it goes to. */
static int64_t
fragment_distance(const struct relocated *relocated,
		  const struct fragment *fragment)
{
	return (int64_t)relocated->fragments[fragment->to].offset -
	       fragment->offset;
}

/*
 * Give fragments their short forms, then longer ones where those do not reach,
 * until all reach.  A fragment that has grown stays long, even if alignment
 * brings its target closer again.
 */
static void
fragments_relax(const struct arch *arch, struct relocated *relocated)
{
	bool changed = true;

	for (uint32_t i = 0; i < relocated->nfragments; i++) {
		struct fragment *fragment = &relocated->fragments[i];

		fragment->wide = fragment->to == FRAGMENT_OUT ||
				 fragment->kind == FRAGMENT_ALIGN;
		if (fragment->kind != FRAGMENT_ALIGN)
			size_set(arch, fragment);
	}
	while (changed) {
		changed = false;
		offsets_set(relocated);
		for (uint32_t i = 0; i < relocated->nfragments; i++) {
			struct fragment *fragment = &relocated->fragments[i];

			if (fragment->wide ||
			    arch->emit.fragment_reaches(
				    fragment,
				    fragment_distance(relocated, fragment)))
				continue;
			fragment->wide = true;
			size_set(arch, fragment);
			changed = true;
		}
	}
}

static bool
relocated_loops(const struct relocated *relocated)
{
	for (uint32_t i = 0; i < relocated->nfragments; i++)
		if (relocated->fragments[i].kind == FRAGMENT_ALIGN)
			return true;
	return false;
}

void
offsets_make(struct relocated *relocated, uint32_t n)
{
	loops_close(relocated, n);
	relocated->align = relocated_loops(relocated) ? ALIGN_LINE :
							ALIGN_RELOCATED;
	fragments_relax(relocated->arch, relocated);
}
