/*
 * Which functions never return: those from whose entry no return can be
 * reached, calls of such functions not being passed.  Pure.
 */
#ifndef FLOW_RETURNS_H
#define FLOW_RETURNS_H

#include "flow/cfg.h"

/* What is said of an address or pointer beforehand. */
enum returns_hint {
	RETURNS_LOOK,		/* nothing */
	RETURNS_NEVER,		/* it is said not to return: believed of a
				   function only if no way to a return is
				   found in it */
};

struct returns_input {
	const struct arch *arch;
	cfg_text *text;
	/* Of the function at addr. */
	enum returns_hint (*function)(void *ctx, uint64_t addr);
	/* Of what the pointer at slot, which the linker sets, points to. */
	enum returns_hint (*import)(void *ctx, uint64_t slot);
	void *ctx;
};

struct returns;

struct returns *returns_open(const struct returns_input *in);
void returns_close(struct returns *r);

/*
 * Whether the call may come back.  Looks only at as much code as it takes:
 * usually a way from the callee's entry to a return that has no calls.  What
 * cannot be followed (indirect jumps, calls through pointers) may return.
 */
bool returns_call(struct returns *r, const struct insn *call);

#endif
