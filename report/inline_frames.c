/*
 * Finds the nesting of inlined code.  Never prints.
 */
#include "report/inline_frames.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/search.h"

/* If two copies have the same code, the outer one has the lower index. */
static int
by_nesting(const void *va, const void *vb)
{
	const struct frame *a = va, *b = vb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

struct frames *
frames_make(const struct image *image)
{
	struct frames *frames = mem_alloc(sizeof(*frames));
	uint32_t top = FRAME_NONE;

	for (uint32_t i = 0; i < image->ninlines; i++)
		for (size_t r = 0; r < image->inlines[i].nranges; r++) {
			const struct range *range =
				&image->inlines[i].ranges[r];

			if (range->lo < range->hi)
				*vec_push(frames->frames,
					  frames->n) = (struct frame){
					range->lo, range->hi, i, FRAME_NONE
				};
		}
	if (frames->n)
		qsort(frames->frames, frames->n, sizeof(*frames->frames),
		      by_nesting);
	for (uint32_t i = 0; i < frames->n; i++) {
		struct frame *frame = &frames->frames[i];

		while (top != FRAME_NONE && frames->frames[top].hi < frame->hi)
			top = frames->frames[top].outer;
		frame->outer = top;
		top = i;
	}
	return frames;
}

void
frames_free(struct frames *frames)
{
	if (!frames)
		return;
	free(frames->frames);
	free(frames);
}

uint32_t
frames_at(const struct frames *frames, uint64_t addr)
{
	size_t lo;
	uint32_t found;

	lo = search_first(frames->n, i, frames->frames[i].lo > addr);
	found = lo ? (uint32_t)lo - 1 : FRAME_NONE;
	while (found != FRAME_NONE && frames->frames[found].hi <= addr)
		found = frames->frames[found].outer;
	return found;
}
