/*
 * Which inlined functions the code at an address belongs to.
 */
#ifndef REPORT_INLINE_FRAMES_H
#define REPORT_INLINE_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symtab/image.h"

static const uint32_t FRAME_NONE = UINT32_MAX;

/* A piece of code of one inlined copy. */
struct frame {
	uint64_t lo, hi;
	uint32_t inlined;	/* image->inlines[inlined] */
	uint32_t outer;		/* the frame it is in, or FRAME_NONE */
};

struct frames {
	struct frame *frames;	/* ascending lo, outer ones first */
	size_t n;
};

struct frames *frames_make(const struct image *image);
void frames_free(struct frames *frames);

/* The innermost at an address, or FRAME_NONE. */
uint32_t frames_at(const struct frames *frames, uint64_t addr);

#endif
