/*
 * The nesting of an image's inlined functions, and which of them an address
 * belongs to.  Never prints.
 */
#ifndef REPORT_INLINE_FRAMES_H
#define REPORT_INLINE_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symtab/image.h"

static const uint32_t FRAME_NONE = UINT32_MAX;

/* A range of the code of one inlined copy. */
struct frame {
	uint64_t lo, hi;
	uint32_t inlined;	/* image->inlines[inlined] */
	uint32_t outer;		/* the frame it is in, or FRAME_NONE */
};

struct frames {
	struct frame *frames;	/* ascending lo, outer ones first */
	size_t n;
};

/* Make the frames of all inlined functions; frames_free frees them. */
struct frames *frames_make(const struct image *image);
void frames_free(struct frames *frames);

/* Index of the innermost frame at an address, or FRAME_NONE. */
uint32_t frames_at(const struct frames *frames, uint64_t addr);

#endif
