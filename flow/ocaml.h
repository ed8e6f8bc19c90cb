/*
 * What OCaml's code and frame tables show of control: where calls come back,
 * and where exceptions are handled.  For flow/ only.  Pure.
 */
#ifndef FLOW_OCAML_H
#define FLOW_OCAML_H

#include "flow/cfg.h"

/*
 * Whether addr, one of in->refs, is where a call in proven code comes back, and
 * no label: only frame tables have it.  False unless calls end blocks
 * (in->calls_end): then what is behind the call has a counter of its own, which
 * is right even if the program reads the table and jumps there.
 */
bool ocaml_returns(const struct cfg *cfg, const struct cfg_input *in,
		   uint64_t addr);

/* Whether addr is one of in->handlers. */
bool ocaml_handles(const struct cfg_input *in, uint64_t addr);

/*
 * Add the function's exception handlers that proven code enters into the list
 * of handlers to these, *n ascending addresses; true if any is new.
 */
bool ocaml_handlers(const struct cfg *cfg, const struct cfg_input *in,
		    uint64_t **handlers, size_t *n);

#endif
