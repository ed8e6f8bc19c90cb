/*
 * The report of sites: the ways into relocated functions; the remaining traps,
 * each with its reason and its hits; and the program's stops by cause.
 */
#include "report/ways.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relocate/relocate.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "report/reasons.h"
#include "report/text/stop_causes.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, ADDR_MIN = 7, NAME_MAX = 30 };

/* ---- the number of each way */

static void
fplan_ways(const struct func_plan *fplan, struct ways *ways)
{
	ways->relocated_fplans++;
	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++) {
		const struct entry_patch *entry_patch =
			&fplan->relocated->entry_patches[i];

		if (entry_patch->kind == ENTRY_PATCH_GUARD)
			ways->guards++;
		else if (entry_patch->via == VIA_JUMP ||
			 entry_patch->via == VIA_SPRING)
			ways->jumps++;
		else if (entry_patch->via == VIA_CHAIN)
			ways->chains++;
		else
			ways->traps++;
	}
}

/*
 * Whether the function counts by traps although functions were relocated: there
 * is a reason why it stays in place.
 */
static bool
fplan_trapped(const struct plan *plan, const struct func_plan *fplan)
{
	return fplan->state == FPLAN_READY && fplan->units && !fplan->guest &&
	       !fplan->relocated && (fplan->stays || plan->stays);
}

struct ways
ways_count(const struct report_input *report_input)
{
	struct ways ways = { 0 };

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; k < plan->nfplans; k++) {
			const struct func_plan *fplan = &plan->fplans[k];

			if (fplan->lost)
				ways.lost++;
			else if (fplan->relocated)
				fplan_ways(fplan, &ways);
			else
				ways.trapped += fplan_trapped(plan, fplan);
		}
	}
	return ways;
}

/* Append `between` and "12 things" to the text. */
static void
part_add(char **text, const char *between, size_t n, const char *what)
{
	char *number = text_number(n, what);
	char *longer = mem_printf("%s%s%s", *text, between, number);

	free(number);
	free(*text);
	*text = longer;
}

char *
ways_text(const struct ways *ways)
{
	char *text = mem_strdup("");

	if (ways->relocated_fplans) {
		part_add(&text, "", ways->relocated_fplans,
			 "relocated "
			 "function");
		part_add(&text, " entered by ", ways->jumps, "jump");
		part_add(&text, ", ", ways->chains, "short jump");
		part_add(&text, " and ", ways->traps, "trap");
		part_add(&text, ", with ", ways->guards, "guard");
	}
	if (ways->trapped)
		part_add(&text,
			 *text ? "; by traps: " : "by traps: ", ways->trapped,
			 "function");
	if (ways->lost)
		part_add(&text,
			 *text ? "; given up: " : "given up: ", ways->lost,
			 "function");
	return text;
}

/* ---- the traps */

struct trap {
	const struct site *site;
	uint32_t plan;		/* index into the report input's */
	const char *why;
};

struct page {
	struct table *table;
	struct trap *traps;
	size_t ntraps;
	size_t hits, name;	/* widths */
};

static const char *
hook_why(const struct hook *hook)
{
	switch ((enum hook_kind)hook->kind) {
	case HOOK_EXEC:
		return "may execute another program";
	case HOOK_CALL:
		return "may make any system call";
	case HOOK_MAP:
		return "may map or unmap code";
	case HOOK_CLONE:
		return "may start a process that cannot be traced";
	case HOOK_SIGACTION:
		return "sets the action of a signal";
	case HOOK_SIGPROCMASK:
		return "sets which signals are blocked";
	case HOOK_START:
	case HOOK_LOADED:
		return "libraries are loaded when control comes here";
	case HOOK_SIGRETURN:
		return "signal handlers return to it";
	default:
		return "switches stacks";
	}
}

static const char *
lead_why(const struct func_plan *fplan, uint64_t addr)
{
	const struct entry_patch *entry_patch = relocated_entry_patch(
		fplan->relocated, addr);

	if (!entry_patch)
		return "other code jumps to it";
	if (entry_patch->kind == ENTRY_PATCH_GUARD)
		return "guard: no known control flow leads to it";
	for (uint32_t i = 0; i < fplan->nformer; i++)
		if (fplan->former[i].via == VIA_SPRING &&
		    fplan->former[i].addr == addr)
			return "control came to bytes that a jump there "
			       "overwrites";
	if (entry_patch->via == VIA_SPRING)
		return "no memory for a springboard";
	return "no room for a jump";
}

const char *
site_why(const struct plan *plan, const struct site *site)
{
	const struct func_plan *fplan = site->fplan == FPLAN_NONE ?
						NULL :
						&plan->fplans[site->fplan];

	if (fplan && fplan->dropped && site->lifted)
		return fplan->dropped;
	if (site->hook && site->lifted)
		return "dropped, because it cost too much: switches stacks";
	if (site->hook)
		return hook_why(&plan->hooks[site->hook - 1]);
	if (fplan && fplan->relocated && site->leads)
		return lead_why(fplan, site->addr);
	if (fplan && fplan->relocated)
		return "pmon records its target";
	return fplan && fplan->stays ? fplan->stays :
	       plan->stays	     ? plan->stays :
				       "counted by a trap";
}

/* Is it the trap under a jump to a springboard, and nobody came to it? */
static bool
site_springs(const struct plan *plan, const struct site *site)
{
	const struct entry_patch *entry_patch;

	if (!site->leads || site->hits || !plan->fplans[site->fplan].relocated)
		return false;
	entry_patch = relocated_entry_patch(plan->fplans[site->fplan].relocated,
					    site->addr);
	return entry_patch && entry_patch->via == VIA_SPRING;
}

static void
plan_traps(struct page *page, uint32_t index)
{
	const struct plan *plan = page->table->report_input->plans[index];

	for (size_t i = 0; i < plan->nsites; i++) {
		const struct site *site = &plan->sites[i];

		if (site->waiting || (site->idle && !site->hook))
			continue;
		if (plan->inside && !site->hook)
			continue;
		if (site->leads && plan->fplans[site->fplan].lost &&
		    !site->hits)
			continue;
		if (site_springs(plan, site))
			continue;
		*vec_push(page->traps, page->ntraps) = (struct trap){
			site,
			index,
			site_why(plan, site),
		};
	}
}

/* Hottest first. */
static int
by_hits(const void *va, const void *vb)
{
	const struct trap *a = va, *b = vb;

	if (a->site->hits != b->site->hits)
		return a->site->hits > b->site->hits ? -1 : 1;
	if (a->plan != b->plan)
		return a->plan < b->plan ? -1 : 1;
	return a->site->addr < b->site->addr ? -1 : 1;
}

static void
trap_write(const struct page *page, const struct trap *trap, const char *name,
	   FILE *out)
{
	text_count(out, trap->site->hits, page->hits);
	fprintf(out, "  %*" PRIx64 "  ", ADDR_MIN, trap->site->addr);
	text_column(out, name, page->name);
	fputs("  ", out);
	text_put(out, trap->why);
	if (page->table->report_input->nplans > 1) {
		fputs(" (", out);
		text_put(out, table_object(page->table, trap->plan));
		putc(')', out);
	}
	putc('\n', out);
}

/* Write the first n traps, which are those with hits. */
static void
hot_write(struct page *page, size_t n, FILE *out)
{
	const struct table *table = page->table;
	char **names = mem_alloc(n * sizeof(*names));

	page->hits = COUNT_MIN;
	for (size_t i = 0; i < n; i++) {
		const struct trap *trap = &page->traps[i];

		figure_widen(&page->hits,
			     &(struct figure){ trap->site->hits, NULL });
		names[i] = name_of_addr(table->report_input->plans[trap->plan],
					trap->site->addr,
					table->opts->demangle);
		text_widen(&page->name, names[i],
			   table_widest(table, NAME_MAX));
	}
	if (n)
		fprintf(out, "\n%*s  %*s  %-*s  WHY A TRAP\n", (int)page->hits,
			"HITS", ADDR_MIN, "ADDRESS", (int)page->name, "AT");
	for (size_t i = 0; i < n; i++) {
		trap_write(page, &page->traps[i], names[i], out);
		free(names[i]);
	}
	free(names);
}

/* Write the number of traps per reason, from index `first` on. */
static void
rest_write(const struct page *page, size_t first, FILE *out)
{
	struct reasons reasons = { 0 };

	for (size_t i = first; i < page->ntraps; i++)
		reasons_add(&reasons, page->traps[i].why, "trap", "traps");
	if (reasons.n)
		text_section(out, "Never reached");
	for (size_t i = 0; i < reasons.n; i++) {
		text_count(out, reasons.reasons[i].n, COUNT_MIN);
		fputs("  ", out);
		text_put(out, reasons.reasons[i].why);
		putc('\n', out);
	}
	free(reasons.reasons);
}

/* Say how many sites need no trap as the simulator counts there. */
static void
inside_write(const struct table *table, FILE *out)
{
	const struct report_input *report_input = table->report_input;
	size_t n = 0;
	char *sites, *text;

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; plan->inside && k < plan->nsites; k++)
			n += !plan->sites[k].idle && !plan->sites[k].hook;
	}
	if (!n)
		return;
	sites = text_number(n, "site");
	text = mem_printf("%s counted inside the simulator, without traps",
			  sites);
	text_paragraph(out, "  ", text, table->columns);
	free(text);
	free(sites);
}

static bool
report_input_restored(const struct report_input *report_input)
{
	return report_input->nplans && report_input->plans[0]->options.counted;
}

void
sites_write(struct table *table, FILE *out)
{
	struct page page = { .table = table, .name = 2 };
	struct ways ways = ways_count(table->report_input);
	char *text = ways_text(&ways);
	size_t hot = 0;

	title_write(table, out, "Sites");
	if (report_input_restored(table->report_input))
		fputs("\nData files do not say what was patched.\n", out);
	if (*text)
		text_paragraph(out, "  ", text, table->columns);
	inside_write(table, out);
	stops_write(table->report_input, out);
	for (size_t i = 0; i < table->report_input->nplans; i++)
		plan_traps(&page, (uint32_t)i);
	if (page.ntraps)
		qsort(page.traps, page.ntraps, sizeof(*page.traps), by_hits);
	while (hot < page.ntraps && page.traps[hot].site->hits)
		hot++;
	hot_write(&page, hot, out);
	rest_write(&page, hot, out);
	free(page.traps);
	free(text);
}
