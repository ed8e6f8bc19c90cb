/*
 * The files mapped into an address space, and what their unwind tables and code
 * say of addresses.  Private to stack.c.
 */
#ifndef MONITOR_UNWIND_STACK_KNOWN_H
#define MONITOR_UNWIND_STACK_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/unwind/stack.h"
#include "monitor/unwind/stack_files.h"
#include "monitor/unwind/stack_rules.h"
#include "monitor/unwind/stack_text.h"

struct known_code;

/* Not changed but to know more: the children of a process share it. */
struct known {
	unsigned users;
	struct stack_files files;
	struct known_code *code;	/* by address */
	/* The last truncated walk; libdw goes through all symbols for its
	   function's name. */
	struct {
		const char *why;	/* the same string for the same reason */
		uint64_t va;
		char text[WALK_WHY];
	} truncation;
};

/* Without a map, or with that of `files`, which becomes the result's own. */
struct known *known_open(struct stack_files files);
struct known *known_share(struct known *known);
/* known may be NULL. */
void known_close(struct known *known);

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
