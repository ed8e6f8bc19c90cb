/*
 * The options that choose the units to count or to show, which pmon and pmprint
 * have in common.  Only passes their arguments on to a selection.
 */
#include "program/select.h"

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
	  "select units: func,line,inline,block,edge,\n"
	  "insn,call (those that the reports need)",
	  set_units, .trust = TRUST_PROJECT,
	  .words = "func line inline block edge insn call" },
	{ "func", 0, "GLOB", "select functions by name", set_func,
	  .trust = TRUST_PROJECT },
	{ "file", 0, "GLOB", "select source files by name", set_file,
	  .trust = TRUST_PROJECT },
	{ "line", 0, "FILE:LO-HI", "select lines of a source file", set_line,
	  .trust = TRUST_PROJECT },
	{ "object", 0, "GLOB",
	  "select programs and libraries by name: '*' is\n"
	  "all (pmon: only programs; pmprint: all)",
	  set_object, .trust = TRUST_PROJECT },
};
