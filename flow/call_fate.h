/*
 * What a call's target does with the return address.  Retpolines and return
 * thunks (gcc -mindirect-branch=thunk, -mfunction-return=thunk, clang
 * -mretpoline) are calls of code that drops or replaces it: as to control flow
 * such a call is a jump.  For flow/ only.  Pure.
 */
#ifndef FLOW_CALL_FATE_H
#define FLOW_CALL_FATE_H

#include "flow/cfg.h"

enum call_fate {
	CALL_KEEPS,		/* nothing that is known of: control may come
				   back */
	CALL_DROPS,		/* takes it off the stack, unread: what returns
				   later returns from the caller */
	CALL_REPLACES,		/* writes another address over it, unread: what
				   returns later jumps there */
};

/* Bytes of a return address. */
unsigned call_width(const struct arch *arch);

/* Of any instruction; CALL_KEEPS if that is no direct call. */
enum call_fate call_fate(const struct arch *arch, cfg_text *text, void *ctx,
			 const struct insn *call);

/*
 * Whether the code at addr does nothing but jump to a computed address by means
 * of such a call.
 */
bool call_thunk(const struct arch *arch, cfg_text *text, void *ctx,
		uint64_t addr);

/*
 * Whether a return of one byte follows the call, and its target goes on behind
 * that return, as __morestack of gcc -fsplit-stack does.  It may come back to
 * the return as well.
 */
bool call_reenters(const struct arch *arch, cfg_text *text, void *ctx,
		   const struct insn *call);

#endif
