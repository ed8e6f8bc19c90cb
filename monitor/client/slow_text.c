/*
 * The note that the program is slowed down, in words: for which stops, where,
 * and which options help.  Reads the run, and changes nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/client/slow.h"
#include "monitor/process/object.h"
#include "report/names.h"
#include "report/printable.h"
#include "report/ways.h"
#include "util/mem.h"

static const uint8_t groups[STOP_CAUSES] = {
	[STOP_LEADS] = GROUP_SITES,	  [STOP_SLOTTED] = GROUP_SITES,
	[STOP_EMULATED] = GROUP_SITES,	  [STOP_SKIPPED] = GROUP_SITES,
	[STOP_STEPPED] = GROUP_SITES,	  [STOP_STEP] = GROUP_SITES,
	[STOP_OTHER_STEPS] = GROUP_SITES, [STOP_CALL_PINNED] = GROUP_SITES,
	[STOP_SWITCH] = GROUP_STACKS,	  [STOP_UNWINDER] = GROUP_STACKS,
	[STOP_UNWOUND] = GROUP_STACKS,	  [STOP_ENTERED] = GROUP_ENTRIES,
	[STOP_PLANT] = GROUP_ENTRIES,	  [STOP_PINS] = GROUP_ENTRIES,
	[STOP_MAPS] = GROUP_MAPS,	  [STOP_WATCH] = GROUP_MAPS,
	[STOP_CALL_MAPS] = GROUP_MAPS,	  [STOP_CALL_WATCHED] = GROUP_MAPS,
	[STOP_EXECS] = GROUP_PROCESSES,	  [STOP_FORK] = GROUP_PROCESSES,
	[STOP_EXEC] = GROUP_PROCESSES,
};

enum slow_group
slow_group(enum stop_cause cause)
{
	return (enum slow_group)groups[cause];
}

/* What a stop costs at least that its own time does not have. */
enum { STOP_NS = 5000 };

static uint64_t
cause_ns(const struct stops *stops, int cause)
{
	return stops->ns[cause] + stops->n[cause] * STOP_NS;
}

static enum slow_group
group_find(const struct stops *stops)
{
	uint64_t ns[GROUPS] = { 0 };
	int worst = GROUP_OTHER;

	for (int i = 0; i < STOP_CAUSES; i++)
		ns[groups[i]] += cause_ns(stops, i);
	for (int i = 0; i < GROUPS; i++)
		if (ns[i] > ns[worst])
			worst = i;
	return (enum slow_group)worst;
}

/* "20000 stops (CAUSE)", for the worst cause of the group. */
static char *
group_text(const struct stops *stops, enum slow_group group)
{
	char *text, *number;
	uint64_t n = 0;
	int worst = -1;

	for (int i = 0; i < STOP_CAUSES; i++) {
		if (groups[i] != group)
			continue;
		n += stops->n[i];
		if (worst < 0 || cause_ns(stops, i) > cause_ns(stops, worst))
			worst = i;
	}
	number = text_number(n, "stop");
	text = mem_printf("%s (%s)", number,
			  stop_cause_text((enum stop_cause)worst));
	free(number);
	return text;
}

/* ---- where */

/* The function with the most hits of traps that count. */
struct hot_func {
	const struct plan *plan;
	uint32_t site;		/* of its own with the most hits */
	uint64_t hits, most;	/* of all its sites, and of that one */
	size_t nsites;		/* that were hit */
};

static void
plan_hot(const struct plan *plan, struct hot_func *worst)
{
	struct hot_func *funcs = mem_alloc(plan->nfplans * sizeof(*funcs));

	for (size_t i = 0; i < plan->nsites; i++) {
		const struct site *site = &plan->sites[i];
		uint64_t hits = plan_hits(plan, i);
		struct hot_func *func;

		if (!hits || site->hook || site->fplan == FPLAN_NONE)
			continue;
		func = &funcs[site->fplan];
		func->plan = plan;
		func->hits += hits;
		func->nsites++;
		if (hits > func->most) {
			func->most = hits;
			func->site = (uint32_t)i;
		}
		if (func->hits >= worst->hits)
			*worst = *func;
	}
	free(funcs);
}

static struct hot_func
hot_find(const struct run *run)
{
	struct hot_func worst = { 0 };

	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan)
			plan_hot(run->objects[i].plan, &worst);
	return worst;
}

/* The name, in the symbol table, of the function that has the site; or NULL. */
static const char *
site_symbol(const struct plan *plan, uint32_t site)
{
	uint32_t fplan = plan->sites[site].fplan;
	uint32_t func = fplan == FPLAN_NONE ? FUNC_NONE :
					      plan->fplans[fplan].func;

	return func == FUNC_NONE ? NULL : plan->image->funcs[func].name;
}

char *
slow_name(const struct run *run, const struct plan *plan, uint32_t site)
{
	enum { NAME_MAX = 40 };
	const char *symbol = site_symbol(plan, site);
	bool demangle = run->opts->report.demangle;
	char *name = symbol ? name_shown(symbol, demangle) :
			      name_of_addr(plan, plan->sites[site].addr,
					   demangle);
	char *shorter = name_shorten(name, NAME_MAX), *text;

	free(name);
	if (plan->sites[site].fplan != FPLAN_NONE)
		return shorter;
	/* Of an object that is not counted. */
	text = mem_printf("%s of %s", shorter, basename(plan->image->path));
	free(shorter);
	return text;
}

static char *
hot_text(const struct run *run, const struct hot_func *func)
{
	const struct site *site = &func->plan->sites[func->site];
	char *name = slow_name(run, func->plan, func->site);
	char *sites = text_number(func->nsites, "place");
	char *text = mem_printf("%" PRIu64 " traps at %s of %s (%s)",
				func->hits, sites, name,
				site_why(func->plan, site));

	free(sites);
	free(name);
	return text;
}

/* ---- what helps */

/* Can it stand in a shell's single quotes and in a pattern as it is? */
static bool
name_plain(const char *name)
{
	for (; *name; name++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz_.$@0123456789"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			    *name))
			return false;
	return true;
}

bool
slow_units_many(const struct run *run)
{
	const struct selection *sel = &run->opts->selection;
	unsigned units = sel->units == UNITS_DEFAULT ?
				 select_units_default(sel) :
				 sel->units;

	return (units & ~(1u << UNIT_FUNC)) != 0;
}

static char *
sites_help(const struct run *run, const struct hot_func *func)
{
	const char *symbol = site_symbol(func->plan, func->site);
	const char *fewer = slow_units_many(run) ?
				    ", --units=func may need fewer traps" :
				    "";

	if (run->opts->patch != PATCH_AUTO)
		return mem_strdup("--patch=auto, the default, is faster");
	if (!symbol || !name_plain(symbol))
		return mem_printf("--func can leave functions out%s", fewer);
	return mem_printf("--func='!%s' leaves it out%s", symbol, fewer);
}

static char *
group_help(const struct run *run, enum slow_group group)
{
	switch (group) {
	case GROUP_STACKS:
		return slow_units_many(run) ?
			       mem_strdup("--units=func does without") :
			       NULL;
	case GROUP_ENTRIES:
		return mem_printf("each function costs that once; --func "
				  "chooses fewer%s",
				  slow_units_many(run) ?
					  ", --units=func makes it cheaper" :
					  "");
	case GROUP_MAPS:
		return mem_strdup("only --object needs them");
	case GROUP_PROCESSES:
		return run->opts->follow == FOLLOW_ALL ?
			       mem_strdup(
				       "--follow=none leaves child processes out") :
			       NULL;
	default:
		return NULL;
	}
}

char *
slow_text(const struct run *run, double factor, const struct stops *stops)
{
	struct hot_func func = hot_find(run);
	enum slow_group group = group_find(stops);
	char *why, *help, *text;

	if (group == GROUP_SITES && func.hits) {
		why = hot_text(run, &func);
		help = sites_help(run, &func);
	} else {
		why = group_text(stops, group);
		help = group_help(run, group);
	}
	text = mem_printf("%s runs at least %.0f times slower than alone: "
			  "%s%s%s",
			  run->program, factor, why, help ? "; " : "",
			  help ? help : "");
	free(help);
	free(why);
	return text;
}
