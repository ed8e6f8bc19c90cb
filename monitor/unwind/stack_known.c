/*
 * Keeps the files mapped into an address space, and what their unwind tables and
 * code say of addresses, also that they say nothing: libdw searches all tables
 * and symbols for that, and a program that switches between coroutines comes to
 * the same few addresses.  Never reads a stack.
 */
#include "monitor/unwind/stack_known.h"

#include <stdlib.h>

#include "util/mem.h"

enum { KNOWN = 1024 };

/* Whether a function keeps a frame pointer, if that was looked up. */
enum pointed { POINTED_UNASKED, POINTED_NOT, POINTED };

/* A cache by address, KNOWN of them. */
struct known_code {
	struct rule rule;	/* of rule.va */
	bool none;		/* the tables have none */
	uint8_t pointed[2];	/* enum pointed; [1]: at an exact pc */
};

struct known *
known_open(struct stack_files files)
{
	struct known *known = mem_alloc(sizeof(*known));

	known->users = 1;
	known->files = files;
	return known;
}

struct known *
known_share(struct known *known)
{
	known->users++;
	return known;
}

void
known_close(struct known *known)
{
	if (!known || --known->users)
		return;
	files_free(&known->files);
	free(known->code);
	free(known);
}

static struct known_code *
known_at(struct known *known, const struct dwarf_abi *dwarf,
	 Dwfl_Module *module, uint64_t va)
{
	struct known_code *code;

	if (!known->code)
		known->code = mem_alloc(KNOWN * sizeof(*known->code));
	code = &known->code[va % KNOWN];
	if (code->rule.va == va)
		return code;
	*code = (struct known_code){ 0 };
	code->none = !rule_find(dwarf->abi, module, va, dwarf->sp, &code->rule);
	code->rule.va = va;
	return code;
}

const struct rule *
known_rule(struct known *known, const struct dwarf_abi *dwarf,
	   Dwfl_Module *module, uint64_t va)
{
	const struct known_code *code = known_at(known, dwarf, module, va);

	return code->none ? NULL : &code->rule;
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
known_pointed(struct known *known, const struct dwarf_abi *dwarf,
	      Dwfl_Module *module, const struct text *text, uint64_t pc,
	      bool exact)
{
	uint8_t *pointed = &known_at(known, dwarf, module, pc)->pointed[exact];

	if (!*pointed)
		*pointed = pointed_find(module, text, pc, exact) ? POINTED :
								   POINTED_NOT;
	return *pointed == POINTED;
}
