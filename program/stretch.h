/*
 * A stretch of code in which hooks are looked for, and the searches.  Only for
 * program/hook*.c.
 */
#ifndef PROGRAM_STRETCH_H
#define PROGRAM_STRETCH_H

#include "arch/abi.h"
#include "arch/effect.h"
#include "program/hook.h"

enum { DEPTH_UNKNOWN = -1 };

struct step {
	struct insn insn;
	struct effect effect;	/* if stack switches are looked for */
	bool target;		/* of a jump or branch */
	bool reached;		/* the depth is final */
	int32_t depth;		/* bytes pushed since the entry */
};

/* One range, decoded from its beginning to its end. */
struct stretch {
	const struct image *image;
	const struct arch *arch;	/* the image's */
	const struct abi *abi;
	const struct func *func;	/* the function around it, or NULL */
	const struct range *range;
	uint64_t entry;		/* of that function, or range->lo */
	const uint8_t *code;
	size_t size;
	struct step *steps;
	size_t n;
	uint32_t *index;	/* offset -> step + 1, 0: none begins there */
	uint32_t frame;		/* registers to which the stack pointer is
				   copied: 1 << register */
	uint32_t saved;		/* registers loaded from the frame, so perhaps
				   with a saved stack pointer */
	bool takes;		/* it takes stack room of a computed size, which
				   an addition to the stack pointer may give
				   back */
};

/* hook.c */

/* What the instruction does; 0, or -1 if that cannot be told. */
int stretch_effect(const struct stretch *stretch, const struct insn *insn,
		   struct effect *effect);

/* hook_calls.c */

/*
 * Whether the stretch, of which only the bytes are known, may make a system
 * call of interest.
 */
bool stretch_may_call(const struct stretch *stretch, unsigned wanted);
/* Append the wanted hooks of system calls to *hooks, an array of *n. */
void stretch_calls(const struct stretch *stretch, unsigned wanted,
		   struct hook **hooks, size_t *n);

/* hook_switches.c */

/*
 * Whether the code at a hint may switch stacks: it adds to the stack pointer,
 * or it may load it and leads straight out of the range.
 */
bool hint_switches(const struct image *image, uint64_t addr,
		   const struct range *range);
/* Append the hooks of stack switches, and what goes with these. */
void stretch_switches(struct stretch *stretch, struct hook **hooks, size_t *n);

#endif
