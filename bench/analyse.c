/*
 * Measures what analysing programs costs.  Prints for each file its text,
 * functions, blocks and edges, how many of the indirect jumps within functions
 * are resolved, how many counters are placed for all edges, and the processor
 * time that this takes.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/plan.h"
#include "util/fail.h"

struct sums {
	size_t text, funcs, blocks, edges, counters;
	size_t jumps, resolved;
};

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* An indirect jump is a tail call, a jump by a known table, or unresolved. */
static void
fplan_add(struct sums *sums, const struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;
	size_t jumps = 0, resolved = 0;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		if (cfg->insns[i].kind != INSN_JUMP_INDIRECT)
			continue;
		if (cfg->insns[i].flow == FLOW_TABLE ||
		    cfg->insns[i].flow == FLOW_TABLE_LEAVES)
			resolved++;
		else if (!cfg->unresolved)
			continue;
		jumps++;
	}
	sums->jumps += jumps;
	sums->resolved += resolved;
	sums->funcs += fplan->func != FUNC_NONE;
	sums->blocks += cfg->nblocks;
	sums->edges += cfg->nedges;
	if (fplan->placement)
		sums->counters += fplan->placement->narcs;
	for (size_t i = 0; i < fplan->nranges; i++)
		sums->text += fplan->ranges[i].hi - fplan->ranges[i].lo;
}

static int
file_look(const char *path)
{
	struct selection sel = { .units = 1U << UNIT_EDGE | 1U << UNIT_INSN };
	struct plan_options options = { .sel = &sel };
	double start = seconds(), read, lazy, all;
	struct image *image = image_open(path, NULL, plan_wants(&sel), NULL,
					 NULL);
	struct sums sums = { 0 };
	struct plan *plan;

	if (!image)
		return -1;
	read = seconds() - start;
	start = seconds();
	plan = plan_open(image, &options, NULL, NULL);
	lazy = seconds() - start;
	start = seconds();
	for (uint32_t i = 0; i < plan->nfplans; i++)
		plan_ready(plan, i);
	all = seconds() - start;
	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].cfg)
			fplan_add(&sums, &plan->fplans[i]);
	printf("%-24.24s %6.1f %6zu %8zu %8zu %8zu %5zu %5.1f %6.2f %6.2f "
	       "%6.2f %6.3f\n",
	       strrchr(path, '/') + 1, (double)sums.text / 1e6, sums.funcs,
	       sums.blocks, sums.edges, sums.counters, sums.jumps,
	       sums.jumps ? 100.0 * (double)sums.resolved / (double)sums.jumps :
			    100.0,
	       read, lazy, all,
	       sums.text ? all / ((double)sums.text / 1e6) : 0.0);
	plan_close(plan);
	return 0;
}

int
main(int argc, char **argv)
{
	printf("%-24s %6s %6s %8s %8s %8s %5s %5s %6s %6s %6s %6s\n", "FILE",
	       "MB", "FUNCS", "BLOCKS", "EDGES", "COUNTERS", "JUMPS", "RES%",
	       "READ s", "LAZY s", "ALL s", "s/MB");
	for (int i = 1; i < argc; i++)
		if (file_look(argv[i]))
			printf("%s\n", fail_message());
	return 0;
}
