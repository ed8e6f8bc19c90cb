/*
 * Keeps what unwind tables and code say of addresses, also that they say
 * nothing: libdw searches all tables and symbols for that, and a program that
 * switches between coroutines comes to the same few addresses.  Never reads a
 * stack.
 */
#include "monitor/unwind/stack_known.h"

#include <stdlib.h>

#include "util/mem.h"

enum { KNOWN = 1024 };

/* Whether a function keeps a frame pointer, if that was looked up. */
enum pointed { POINTED_UNASKED, POINTED_NOT, POINTED };

/* A cache by address, KNOWN of them. */
struct known {
	struct rule rule;	/* of rule.va */
	bool none;		/* the tables have none */
	uint8_t pointed[2];	/* enum pointed; [1]: at an exact pc */
};

struct known *
known_renew(struct known *known)
{
	known_free(known);
	return mem_alloc(KNOWN * sizeof(*known));
}

void
known_free(struct known *known)
{
	free(known);
}

static struct known *
known_at(struct known *all, const struct dwarf_abi *dwarf, Dwfl_Module *module,
	 uint64_t va)
{
	struct known *known = &all[va % KNOWN];

	if (known->rule.va == va)
		return known;
	*known = (struct known){ 0 };
	known->none = !rule_find(dwarf->abi, module, va, dwarf->sp,
				 &known->rule);
	known->rule.va = va;
	return known;
}

const struct rule *
known_rule(struct known *all, const struct dwarf_abi *dwarf,
	   Dwfl_Module *module, uint64_t va)
{
	const struct known *known = known_at(all, dwarf, module, va);

	return known->none ? NULL : &known->rule;
}

static bool
pointed_find(Dwfl_Module *module, const struct text *text, uint64_t pc,
	     bool exact)
{
	GElf_Off offset;
	GElf_Sym sym;

	return dwfl_module_addrinfo(module, pc, &offset, &sym, NULL, NULL,
				    NULL) &&
	       text_points(text, pc - offset, pc, exact);
}

bool
known_pointed(struct known *all, const struct dwarf_abi *dwarf,
	      Dwfl_Module *module, const struct text *text, uint64_t pc,
	      bool exact)
{
	uint8_t *pointed = &known_at(all, dwarf, module, pc)->pointed[exact];

	if (!*pointed)
		*pointed = pointed_find(module, text, pc, exact) ? POINTED :
								   POINTED_NOT;
	return *pointed == POINTED;
}
