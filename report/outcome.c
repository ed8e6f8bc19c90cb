/*
 * Names the position at which a signal ended the program by its place and by how
 * often control had come there (Mellor-Crummey & LeBlanc 1989, section 2).
 * Counts nothing.
 */
#include "report/outcome.h"

#include <inttypes.h>
#include <stdlib.h>

#include "program/code.h"
#include "report/names.h"
#include "util/mem.h"
#include "util/search.h"

/* The function plan that has the place and a graph, or NULL. */
static const struct func_plan *
death_fplan(const struct death *death)
{
	uint32_t index = plan_func(death->plan, death->addr);
	const struct func_plan *fplan;

	if (index == FPLAN_NONE)
		return NULL;
	fplan = &death->plan->fplans[index];
	return fplan->cfg ? fplan : NULL;
}

/* The index of the instruction, or -1. */
static long
death_insn(const struct death *death, const struct cfg *cfg)
{
	size_t i = search_first(cfg->ninsns, k,
				cfg->insns[k].addr > death->addr);

	return i && death->addr - cfg->insns[i - 1].addr <
				       cfg->insns[i - 1].len ?
		       (long)i - 1 :
		       -1;
}

uint64_t
death_times(const struct report_input *report_input)
{
	const struct death *death = &report_input->death;
	const struct func_plan *fplan;
	struct count count;
	long insn;

	if (!death->plan || report_input->nthreads > 1 ||
	    report_input->nprocesses > 1 || report_input_once(report_input))
		return 0;
	fplan = death_fplan(death);
	insn = fplan && fplan->counts ? death_insn(death, fplan->cfg) : -1;
	if (insn < 0)
		return 0;
	count = fplan_insn(fplan, (uint32_t)insn);
	if (count.state == COUNT_UNKNOWN)
		return 0;
	return count.n + (death->how == DEATH_BEFORE);
}

/* "x.c:9", or NULL if no line is known. */
static char *
place_text(const struct table *table)
{
	const struct report_input *report_input = table->report_input;
	const struct death *death = &report_input->death;
	const struct image *image = death->plan->image;
	size_t row = code_row(image, death->addr + 1);
	uint32_t plan = 0;

	while (plan < report_input->nplans &&
	       report_input->plans[plan] != death->plan)
		plan++;
	if (plan == report_input->nplans || !row ||
	    image->rows[row - 1].end <= death->addr ||
	    !image->rows[row - 1].line)
		return NULL;
	return table_place(table,
			   table_file(table, plan, image->rows[row - 1].file),
			   image->rows[row - 1].line);
}

/* "f+2d" */
static char *
insn_text(const struct death *death, bool demangled)
{
	const struct func_plan *fplan = death_fplan(death);
	long insn = fplan ? death_insn(death, fplan->cfg) : -1;

	return name_of_addr(death->plan,
			    insn < 0 ? death->addr :
				       fplan->cfg->insns[insn].addr,
			    demangled);
}

/* "at x.c:9 (f+2d#17)" */
static char *
death_text(const struct table *table)
{
	const struct death *death = &table->report_input->death;
	uint64_t times = death_times(table->report_input);
	char *place = place_text(table);
	char *insn = insn_text(death, table->opts->demangle);
	char *position = times ? mem_printf("%s#%" PRIu64, insn, times) :
				 mem_strdup(insn);
	char *text = mem_printf("%s %s%s%s%s",
				death->how == DEATH_CALL ? "in a call at" :
							   "at",
				place ? place : position, place ? " (" : "",
				place ? position : "", place ? ")" : "");

	free(position);
	free(insn);
	free(place);
	return text;
}

char *
outcome_text(const struct table *table)
{
	const char *outcome = table->report_input->outcome;
	char *death, *text;

	if (!table->report_input->death.plan)
		return mem_strdup(outcome ? outcome : "");
	death = death_text(table);
	text = mem_printf("%s %s", outcome, death);
	free(death);
	return text;
}
