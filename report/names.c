/*
 * Makes the names of functions that reports show: demangled, with offsets, of
 * import stubs, shortened.  Only name_fit prints.
 */
#include "report/names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "util/demangle.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* Longer names are not shortened, as that may take quadratic time. */
enum { SHORTEN_MAX = 8 << 10 };

char *
name_shown(const char *name, bool demangled)
{
	char *text = NULL;

	if (!name)
		return mem_strdup("?");
	if (demangled)
		text = demangle(name);
	return text ? text : mem_strdup(name);
}

const char *
name_imported(const struct image *image, const struct insn *insn)
{
	struct effect effect;
	const uint8_t *text;
	size_t avail;

	text = image_text(image, insn->addr, &avail);
	if (!text || !image->arch->effect ||
	    image->arch->effect(text, avail, insn->addr, &effect) < 0 ||
	    effect.src.kind != PLACE_MEM || effect.src.reg != REG_NONE ||
	    effect.src.index != REG_NONE)
		return NULL;
	return image_import(image, (uint64_t)effect.src.disp);
}

const char *
stub_import(const struct image *image, uint64_t addr)
{
	const uint8_t *text;
	struct insn insn;
	struct emul emul;
	size_t avail;

	/* A no-op (endbr64) may come first. */
	for (int i = 0; i < 2; i++) {
		text = image_text(image, addr, &avail);
		if (!text || image->arch->decode(text, avail, addr, &insn))
			return NULL;
		if (insn.kind == INSN_JUMP_INDIRECT)
			return name_imported(image, &insn);
		if (insn.kind != INSN_PLAIN || !image->arch->emul_prepare ||
		    image->arch->emul_prepare(text, avail, addr, &emul) ||
		    !emul.only_pc)
			return NULL;
		addr += insn.len;
	}
	return NULL;
}

const struct func *
func_entered(const struct image *image, uint64_t addr)
{
	size_t lo;
	const struct func *func;

	lo = search_first(image->nfuncs, i, image->funcs[i].addr > addr);
	func = lo ? &image->funcs[lo - 1] : NULL;
	return func && (addr == func->addr ||
			addr == image->arch->first(func->addr)) ?
		       func :
		       NULL;
}

/* "f+12", or the address if no function has it. */
static char *
name_inside(const struct plan *plan, uint64_t addr, bool demangled)
{
	const struct func *func = plan_func_at(plan, addr);
	char *name, *text;
	bool before;

	if (!func)
		return mem_printf("%" PRIx64, addr);
	name = name_shown(func->name, demangled);
	before = addr < func->addr;
	text = mem_printf("%s%c%" PRIx64, name, before ? '-' : '+',
			  before ? func->addr - addr : addr - func->addr);
	free(name);
	return text;
}

char *
name_of_stub(const struct plan *plan, uint64_t addr, bool demangled)
{
	const char *import = stub_import(plan->image, addr);
	char *name = import ? name_shown(import, demangled) : NULL;
	char *text = name ? mem_printf("%s@plt", name) : NULL;

	free(name);
	return text;
}

char *
name_of_fplan(const struct plan *plan, const struct func_plan *fplan,
	      bool demangled)
{
	const struct func *func = fplan_func(fplan, plan->image);
	char *name = func ? name_shown(func->name, demangled) :
			    name_of_stub(plan, fplan->ranges[0].lo, demangled);

	return name ? name :
		      mem_printf("code at %" PRIx64, fplan->ranges[0].lo);
}

char *
name_of_addr(const struct plan *plan, uint64_t addr, bool demangled)
{
	const struct func *func = func_entered(plan->image, addr);
	char *name = NULL;

	/* Unwind tables describe all stubs as one function. */
	if (!func || func->origin == FUNC_EH_FRAME)
		name = name_of_stub(plan, addr, demangled);
	if (name)
		return name;
	return func ? name_shown(func->name, demangled) :
		      name_inside(plan, addr, demangled);
}

char *
name_with_aliases(const struct func *func, bool demangled)
{
	char *name = name_shown(func->name, demangled), *text, *alias;
	size_t i, size;
	FILE *out;

	if (!func->naliases)
		return name;
	out = open_memstream(&text, &size);
	must(out);
	fputs(name, out);
	for (i = 0; i < func->naliases; i++) {
		alias = name_shown(func->aliases[i], demangled);
		/* The kinds of a constructor have the same demangled name. */
		if (strcmp(alias, name) != 0)
			fprintf(out, " (= %s)", alias);
		free(alias);
	}
	free(name);
	fclose(out);
	return text;
}

/*
 * The length of an "operator<<" or the like at s, whose symbol is no bracket; 0
 * if there is none.
 */
static size_t
operator_length(const char *name, const char *s)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;

	if (strncmp(s, word, len) != 0 ||
	    (s > name && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
		return 0;
	if (strncmp(s + len, "()", 2) == 0)
		return len + 2;
	return len + strspn(s + len, "<>=-");
}

/* The bracket that closes that at s, or NULL. */
static const char *
bracket_end(const char *name, const char *s)
{
	size_t depth = 0, skip;

	while (*s) {
		skip = operator_length(name, s);
		if (skip) {
			s += skip;
			continue;
		}
		if (*s == '<' || *s == '(')
			depth++;
		else if ((*s == '>' || *s == ')') && --depth == 0)
			return s;
		s++;
	}
	return NULL;
}

char *
name_shorten(const char *name, size_t width)
{
	char *text = mem_alloc(strlen(name) + 1), *to = text;
	const char *s = name, *end;
	size_t skip;

	if (strlen(name) > SHORTEN_MAX ||
	    text_width(name, strlen(name)) <= width)
		return strcpy(text, name);
	while (*s) {
		skip = operator_length(name, s);
		memcpy(to, s, skip);
		s += skip;
		to += skip;
		if (!skip)
			*to++ = *s++;
		if (skip || (s[-1] != '<' && s[-1] != '(') ||
		    strncmp(s - 1, "(= ", 3) == 0 ||
		    strncmp(s - 1, "(anonymous", 10) == 0)
			continue;
		end = bracket_end(name, s - 1);
		if (!end)
			continue;
		if (end - s > 3) {
			to = stpcpy(to, "...");
			s = end;
		}
	}
	*to = '\0';
	return text;
}

void
name_fit(FILE *out, const char *name, size_t columns, size_t used)
{
	size_t room = columns > used ? columns - used : 0;
	char *shorter = name_shorten(name, room);

	text_print(out, shorter, strlen(shorter), room);
	free(shorter);
}

bool
name_added(const char *name)
{
	static const char *const added[NAMES_ADDED] = {
		"_init",
		"_fini",
		"_start",
		"frame_dummy",
		"register_tm_clones",
		"deregister_tm_clones",
		"__do_global_dtors_aux",
	};

	for (size_t i = 0; i < NAMES_ADDED; i++)
		if (!strcmp(name, added[i]))
			return true;
	return false;
}
