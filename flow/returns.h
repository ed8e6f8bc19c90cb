/*
 * Which functions never return: those from whose entry no return can be
 * reached without passing a call of such a function.  Pure.
 */
#ifndef FLOW_RETURNS_H
#define FLOW_RETURNS_H

#include "flow/cfg.h"

/* What the image says of a function or pointer beforehand. */
enum returns_hint {
	RETURNS_LOOK,		/* nothing */
	RETURNS_NEVER,		/* it does not return: believed of a function
				   only if its code shows no way to a return */
};

struct returns_input {
	const struct arch *arch;
	cfg_text *text;
	/* The hint for the function at addr. */
	enum returns_hint (*function)(void *ctx, uint64_t addr);
	/*
	 * The hint for the function that the pointer at slot, which the dynamic
	 * linker sets, points to.
	 */
	enum returns_hint (*import)(void *ctx, uint64_t slot);
	/*
	 * The address of the code that follows, if a function's code ends at
	 * addr, or 0.  NULL: no end is known.
	 */
	uint64_t (*behind)(void *ctx, uint64_t addr);
	/* Whether the code at addr returns, whatever it shows, or NULL. */
	bool (*after_all)(void *ctx, uint64_t addr);
	void *ctx;
};

struct returns;

/* Begin to answer for an image; what `in` points to must outlive the result. */
struct returns *returns_open(const struct returns_input *in);
void returns_close(struct returns *r);

/*
 * Whether the call may come back.  Looks only at as much code as the answer
 * takes: usually a path without calls from the callee's entry to a return.
 * Code that cannot be followed (indirect jumps, calls through pointers) may
 * return, and so may code that leaves its stack for another.  A call that ends
 * a function is taken not to come back if control could not go on behind it
 * (flow/last_call.h), whatever it calls.
 */
bool returns_call(struct returns *r, const struct insn *call);

#endif
