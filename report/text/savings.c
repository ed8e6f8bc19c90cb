/*
 * The report of placement: the increments that it saved, as in table II and
 * figure 20 of Ball and Larus, "Optimally Profiling and Tracing Programs",
 * TOPLAS 16(4) 1994, for the program that ran.
 */
#include "report/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, SIZES_WIDTH = 6 };

/* The numbers of one function, or of several. */
struct sums {
	size_t blocks, edges;
	size_t counters;	/* blocks and edges that have one */
	size_t sites;
	struct figure increments, every;
	size_t bytes;		/* memory of graphs and counts */
};

struct share {
	char *name;
	struct sums sums;
};

struct page {
	struct table *table;
	FILE *out;
	struct share *shares;
	size_t nshares;
	struct sums all;
	size_t waiting;		/* functions never entered */
	size_t increments, every;	/* widths */
	struct reasons reasons;
};

static size_t
fplan_bytes(const struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;
	const struct flow *flow = fplan->flow;
	size_t bytes = sizeof(*fplan) + sizeof(*cfg) + sizeof(*flow);

	bytes += cfg->ninsns * sizeof(*cfg->insns) +
		 cfg->nblocks * sizeof(*cfg->blocks) +
		 cfg->nedges * sizeof(*cfg->edges) +
		 (cfg->nblocks + 1) * sizeof(*cfg->in);
	bytes += flow->nedges * (sizeof(*flow->edges) + sizeof(*flow->ins)) +
		 flow->nverts * (sizeof(*flow->out) + sizeof(*flow->in) +
				 sizeof(*flow->one));
	bytes += flow_arcs(flow) * sizeof(*fplan->counts);
	bytes += fplan->ncounters * (sizeof(*fplan->placement->arcs) +
				     sizeof(*fplan->counter_refs));
	return bytes + fplan->npasses * sizeof(*fplan->passes);
}

static struct sums
fplan_sums(const struct view *view)
{
	const struct func_plan *fplan = view->fplan;
	struct sums sums = {
		.counters = fplan->ncounters,
		.sites = fplan->nsites,
		.increments.n = fplan->increments,
		.bytes = fplan_bytes(fplan),
	};

	for (uint32_t b = 0; b < fplan->cfg->nblocks; b++) {
		struct figure count = view_block(view, b);

		if (view->padding[b])
			continue;
		sums.blocks++;
		figure_add(&sums.every, &count);
	}
	for (uint32_t e = 0; e < fplan->flow->nedges; e++)
		sums.edges += view_edge_inner(view, e);
	return sums;
}

static void
sums_add(struct sums *to, const struct sums *sums)
{
	to->blocks += sums->blocks;
	to->edges += sums->edges;
	to->counters += sums->counters;
	to->sites += sums->sites;
	figure_add(&to->increments, &sums->increments);
	figure_add(&to->every, &sums->every);
	to->bytes += sums->bytes;
}

/* Write part / whole, or "-" if whole is 0. */
static void
ratio_write(FILE *out, int width, double part, double whole)
{
	if (whole > 0)
		fprintf(out, "%*.2f", width, part / whole);
	else
		fprintf(out, "%*s", width, "-");
}

static void
sums_write(const struct page *page, const struct sums *sums, const char *name)
{
	size_t used = 34 + page->increments + page->every;
	const size_t sizes[] = { sums->blocks, sums->edges, sums->counters,
				 sums->sites };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		text_count(page->out, sizes[i], SIZES_WIDTH);
		putc(' ', page->out);
	}
	figure_write(page->out, &sums->increments, page->increments);
	putc(' ', page->out);
	figure_write(page->out, &sums->every, page->every);
	if (sums->every.why)
		fprintf(page->out, "%6s", "?");
	else
		ratio_write(page->out, 6, (double)sums->every.n,
			    (double)sums->increments.n);
	fputs("  ", page->out);
	name_fit(page->out, name, page->table->columns, used);
	putc('\n', page->out);
}

/* The memory of a plan's sites, their index and their counters. */
static size_t
sites_bytes(const struct plan *plan)
{
	return plan->nsites * sizeof(*plan->sites) +
	       plan->index_size * sizeof(*plan->index) +
	       plan->ncounter_sets * plan->nsites * sizeof(struct counter);
}

static void
notes_write(const struct page *page)
{
	const struct sums *all = &page->all;
	const struct report_input *report_input = page->table->report_input;
	size_t bytes = 0, nsites = 0;

	/* Sites of a data file take no memory. */
	for (size_t i = 0; i < report_input->nplans; i++) {
		if (report_input->plans[i]->options.counted)
			continue;
		bytes += sites_bytes(report_input->plans[i]);
		nsites += report_input->plans[i]->nsites;
	}
	fputs("\nCounters per edge: ", page->out);
	ratio_write(page->out, 1, (double)all->counters, (double)all->edges);
	fputs(".  Memory: ", page->out);
	ratio_write(page->out, 1, (double)all->bytes, (double)all->blocks);
	fputs(" bytes per block", page->out);
	if (nsites) {
		fputs(", ", page->out);
		ratio_write(page->out, 1, (double)bytes, (double)nsites);
		fputs(" per site", page->out);
	}
	fputs(".\n", page->out);
	if (page->waiting)
		fprintf(page->out,
			"%zu function%s never entered, with a site "
			"at the entry only.\n",
			page->waiting, page->waiting == 1 ? " was" : "s were");
}

static void
shares_gather(struct page *page)
{
	struct view *view = NULL;

	while ((view = view_next(page->table, view, VIEW_UNITS))) {
		struct share *share;

		if (view->fplan->state == FPLAN_WAITING) {
			page->waiting++;
			continue;
		}
		share = vec_push(page->shares, page->nshares);
		*share = (struct share){
			view_name(view),
			fplan_sums(view),
		};
		reasons_add_unit(&page->reasons, share->sums.every.why,
				 UNIT_FUNC);
		if (!share->sums.every.why)
			sums_add(&page->all, &share->sums);
	}
}

/* Most increments of one counter per block first; unknown ones last. */
static int
by_every(const void *va, const void *vb)
{
	const struct share *a = va, *b = vb;
	const struct figure *x = &a->sums.every, *y = &b->sums.every;

	if (!x->why != !y->why)
		return x->why ? 1 : -1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(a->name, b->name);
}

void
placement_write(struct table *table, FILE *out)
{
	struct page page = {
		.table = table,
		.out = out,
		.increments = strlen("INCREMENTS"),
		.every = COUNT_MIN,
	};

	title_write(table, out, "Placement of counters");
	shares_gather(&page);
	if (page.nshares)
		qsort(page.shares, page.nshares, sizeof(*page.shares),
		      by_every);
	if (!page.nshares && !page.waiting) {
		fputs("\nNo counters were placed (see --units).\n", out);
		return;
	}
	figure_widen(&page.increments, &page.all.increments);
	figure_widen(&page.every, &page.all.every);
	fprintf(out, "\n%*s %*s %*s %*s %*s %*s %5s  FUNCTION\n", SIZES_WIDTH,
		"BLOCKS", SIZES_WIDTH, "EDGES", SIZES_WIDTH, "PLACED",
		SIZES_WIDTH, "SITES", (int)page.increments, "INCREMENTS",
		(int)page.every, "EVERY", "RATIO");
	for (size_t i = 0; i < page.nshares; i++) {
		sums_write(&page, &page.shares[i].sums, page.shares[i].name);
		free(page.shares[i].name);
	}
	sums_write(&page, &page.all, page.reasons.n ? "(all known)" : "(all)");
	notes_write(&page);
	reasons_write(&page.reasons, out);
	free(page.shares);
}
