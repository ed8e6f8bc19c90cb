/*
 * The options that choose the units to count or to show, which pmon and pmprint
 * have in common.  Only passes their arguments on to a selection.
 */
#include "plan/select.h"

static int
set_units(void *into, const char *arg)
{
	struct selection *sel = into;

	return select_units(sel, arg);
}

static int
set_func(void *into, const char *arg)
{
	struct selection *sel = into;

	select_glob(&sel->funcs, arg);
	return 0;
}

static int
set_file(void *into, const char *arg)
{
	struct selection *sel = into;

	select_glob(&sel->files, arg);
	return 0;
}

static int
set_line(void *into, const char *arg)
{
	struct selection *sel = into;

	return select_line(sel, arg);
}

static int
set_object(void *into, const char *arg)
{
	struct selection *sel = into;

	select_glob(&sel->objects, arg);
	return 0;
}

const struct option_entry select_entries[SELECT_OPTIONS] = {
	{ "units", 'u', "LIST",
	  "units: func,line,inline,block,\n"
	  "edge,insn,call (what the reports need;\n"
	  "functions, and lines if there are any)",
	  set_units, .trust = TRUST_PROJECT,
	  .words = "func line inline block edge insn call" },
	{ "func", 0, "GLOB", "only functions so named", set_func,
	  .trust = TRUST_PROJECT },
	{ "file", 0, "GLOB", "only code from source files so named", set_file,
	  .trust = TRUST_PROJECT },
	{ "line", 0, "FILE:LO-HI", "only these lines", set_line,
	  .trust = TRUST_PROJECT },
	{ "object", 0, "GLOB",
	  "only programs and libraries so named\n"
	  "(the programs run); '*' is all",
	  set_object, .trust = TRUST_PROJECT },
};
