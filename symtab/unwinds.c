/*
 * Finds out whether an image's frames can be walked as a rule: whether the
 * unwinder's table, .eh_frame, covers the code that makes calls.  pmon asks
 * before the program runs, so that what depends on the answer is the same in
 * every run.  Says nothing of any one frame.
 */
#include <stdlib.h>

#include "symtab/debug.h"

enum {
	/* Fewer bytes that the table leaves out are padding or a leaf. */
	GAP_MIN = 64,
	/* The C runtime's own objects have as many: crti.o, crtbegin.o. */
	CALLS_FEW = 5,
	/*
	 * Compilers make a call for every 20 to 60 bytes of text.  This lets
	 * a library have a few assembler functions, seldom on a stack.
	 */
	TEXT_PER_CALL = 256,
};

/* About how many calls [lo, hi) has, up to `most`, decoding linearly. */
static size_t
calls_guess(const struct image *image, uint64_t lo, uint64_t hi, size_t most)
{
	struct insn insn;
	size_t avail, n = 0;

	while (lo < hi && n < most) {
		const uint8_t *text = image_text(image, lo, &avail);

		if (!text)
			break;
		if (image->arch->decode(text, avail, lo, &insn)) {
			lo++;
			continue;
		}
		n += insn.kind == INSN_CALL || insn.kind == INSN_CALL_INDIRECT;
		lo += insn.len;
	}
	return n;
}

/* About how many calls of a text are in none of n ranges, up to `most`. */
static size_t
calls_untabled(const struct image *image, const struct text *text,
	       const struct range *ranges, size_t n, size_t most)
{
	uint64_t lo = text->lo;
	size_t calls = 0;

	for (size_t i = 0; i < n && ranges[i].lo < text->hi; i++) {
		if (ranges[i].lo > lo && ranges[i].lo - lo >= GAP_MIN)
			calls += calls_guess(image, lo, ranges[i].lo,
					     most - calls);
		if (ranges[i].hi > lo)
			lo = ranges[i].hi;
	}
	if (lo < text->hi && text->hi - lo >= GAP_MIN)
		calls += calls_guess(image, lo, text->hi, most - calls);
	return calls;
}

/* Is it a library?  A program always has its main on the stack. */
static bool
is_library(const struct image *image)
{
	return image->dyn && !image->interp;
}

/* The most calls that the table of a usable image may leave out. */
static size_t
calls_allowed(const struct reading *r)
{
	uint64_t size = 0;

	if (!is_library(r->image))
		return CALLS_FEW;
	for (size_t i = 0; i < r->ntexts; i++)
		if (!r->texts[i].plt)
			size += r->texts[i].hi - r->texts[i].lo;
	size /= TEXT_PER_CALL;
	return size > CALLS_FEW ? size : CALLS_FEW;
}

void
debug_read_unwinds(struct reading *r, struct elf *elf)
{
	size_t n, calls = 0, most = calls_allowed(r) + 1;
	struct range *ranges = debug_read_tabled(elf, &n);

	/* Stop at `most`: more calls make no difference. */
	for (size_t i = 0; n && i < r->ntexts && calls < most; i++)
		if (!r->texts[i].plt)
			calls += calls_untabled(r->image, &r->texts[i], ranges,
						n, most - calls);
	r->image->untabled = !n || calls == most;
	free(ranges);
}
