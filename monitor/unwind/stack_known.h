/*
 * What unwind tables and code say of addresses, kept until the files change.
 * Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_KNOWN_H
#define MONITOR_UNWIND_STACK_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/unwind/stack_rules.h"
#include "monitor/unwind/stack_text.h"

struct known;

/* Make an empty one, instead of `known`, which may be NULL. */
struct known *known_renew(struct known *known);
void known_free(struct known *known);

/* The rule for va, good until the next call here; NULL if there is none. */
const struct rule *known_rule(struct known *known,
			      const struct dwarf_abi *dwarf,
			      Dwfl_Module *module, uint64_t va);

/*
 * Whether the function at pc keeps a frame pointer there, as its code says;
 * exact: pc is the next instruction to run, not one in a call.
 */
bool known_pointed(struct known *known, const struct dwarf_abi *dwarf,
		   Dwfl_Module *module, const struct text *text, uint64_t pc,
		   bool exact);

#endif
