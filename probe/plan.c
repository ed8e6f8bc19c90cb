/*
 * The plan of one image: makes its function plans, and gives each one that is
 * asked for a site at its entry.  Never touches a process.
 */
#include "probe/build.h"

#include <stdlib.h>

#include "util/addrs.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

enum { PROGRESS_STEP = 256 };

unsigned
plan_wants(const struct selection *sel)
{
	unsigned wants = 0;

	if (sel->units == UNITS_DEFAULT || sel->units & 1U << UNIT_LINE ||
	    sel->places)
		wants |= IMAGE_LINES;
	if (sel->units & 1U << UNIT_INLINE)
		wants |= IMAGE_INLINES;
	if (sel->files.n || sel->lines.n)
		wants |= IMAGE_LINES;
	if (sel->units == UNITS_DEFAULT || sel->units & UNITS_GRAPH)
		wants |= IMAGE_FLOW;
	return wants;
}

static bool
asked(const struct plan *plan, enum unit_kind kind)
{
	return plan->units & 1U << kind;
}

/* ---- function plans */

/* Collect the ranges of all function plans, ascending. */
static void
owners_make(struct build *build)
{
	const struct plan *plan = build->plan;

	for (size_t i = 0; i < plan->nfplans; i++)
		for (size_t k = 0; k < plan->fplans[i].nranges; k++)
			*vec_push(build->owners, build->nowners) =
				(struct part){ plan->fplans[i].ranges[k], i };
	if (build->nowners)
		sort_by_addr(build->owners, build->nowners,
			     sizeof(*build->owners));
}

/* Why the function's entry cannot be counted, or NULL. */
static const char *
entry_fault(const struct image *image, uint64_t entry, bool inside)
{
	const uint8_t *text;
	struct insn insn;
	size_t avail;

	if (inside)
		return "not at the start of an instruction";
	text = image_text(image, entry, &avail);
	if (!text)
		return "not in executable memory";
	if (image->arch->decode(text, avail, entry, &insn) < 0)
		return "no valid instruction";
	return NULL;
}

/*
 * Why the function cannot be counted, or NULL.  A trap in a restartable sequence
 * would have the kernel begin that again for ever, and the kernel does not know
 * one that was relocated: it would not begin that again, and the program's data
 * would be damaged.  A site at the function's entry alone harms none behind it.
 */
static const char *
sequence_fault(const struct plan *plan, const struct func_plan *fplan,
	       uint64_t entry)
{
	const struct image *image = plan->image;

	if (plan_graphs(plan) &&
	    image_restarts(image, fplan->ranges, fplan->nranges))
		return "it has a restartable sequence (rseq)";
	return image_restarts(image, &(struct range){ entry, entry + 1 }, 1) ?
		       "it begins within a restartable sequence (rseq)" :
		       NULL;
}

static bool
func_chosen(const struct build *build, const struct func *func, bool *file)
{
	const struct image *image = build->image;

	*file = select_file(build->sel, func && func->file < image->nfiles ?
						image->files[func->file] :
						NULL);
	if (!func)
		return select_func(build->sel, NULL, NULL, 0);
	return select_func(build->sel, func->name, func->aliases,
			   func->naliases);
}

/* The units to be counted in the function plan. */
static unsigned
fplan_units(const struct build *build, const struct func_plan *fplan,
	    const struct func *func)
{
	const struct plan *plan = build->plan;
	struct unit_code code = fplan_code(fplan);
	bool file, named = func_chosen(build, func, &file);
	bool lines = fplan->nranges && named &&
		     (asked(plan, UNIT_LINE) || build->sel->lines.n) &&
		     unit_lines_wanted(build->table, &code);
	unsigned units = 0;

	if (lines && asked(plan, UNIT_LINE))
		units |= 1U << UNIT_LINE;
	if (fplan->nranges && asked(plan, UNIT_INLINE) &&
	    unit_inlines_wanted(build->table, &code))
		units |= 1U << UNIT_INLINE;
	if (!named || !(file || lines))
		return units;
	if (func && file)
		units |= plan->units & 1U << UNIT_FUNC;
	if (fplan->nranges && (lines || !build->sel->lines.n))
		units |= plan->units & (1U << UNIT_BLOCK | 1U << UNIT_EDGE |
					1U << UNIT_INSN | 1U << UNIT_CALL);
	return units;
}

/*
 * Add the function plan of a function, or of nameless code (func NULL).  code
 * is NULL if the function has none of its own.
 */
static void
fplan_add(struct build *build, const struct func *func, const struct code *code,
	  bool inside)
{
	struct plan *plan = build->plan;
	struct func_plan fplan = {
		.func = func ? func - build->image->funcs : FUNC_NONE,
		.ranges = code ? code->ranges : NULL,
		.nranges = code ? code->nranges : 0,
		.entry = code && code->entry,
		.stub = code && code->stub,
		.guest = func && code && !code->entry,
		.site = SITE_NONE,
	};

	fplan.units = fplan_units(build, &fplan, func);
	/* Edges cost a counter that tells nothing. */
	if (fplan.stub)
		fplan.units &= UNITS_STUB;
	fplan.named = fplan.units & 1U << UNIT_FUNC;
	if (func) {
		fplan.why = entry_fault(build->image,
					build->image->arch->first(func->addr),
					inside);
	}
	if (!fplan.why)
		fplan.why = sequence_fault(plan, &fplan, func ? func->addr : 0);
	if (fplan.why)
		fplan.state = FPLAN_FAULTY;
	*vec_push(plan->fplans, plan->nfplans) = fplan;
}

/* The nameless code that may have units. */
static unsigned
nameless_of(const struct build *build)
{
	unsigned units = build->plan->units;

	return (units & UNITS_GRAPH ? CODE_ROWS : 0) |
	       (units & UNITS_STUB && build->image->arch->motion ? CODE_STUBS :
								   0);
}

static void
fplans_make(struct build *build)
{
	const struct image *image = build->image;
	struct code_map *map;
	size_t i, k = 0;

	build->map = map = code_map_make(image, nameless_of(build));
	for (i = 0; i < image->nfuncs || k < map->ncodes; i++) {
		const struct func *func = i < image->nfuncs ? &image->funcs[i] :
							      NULL;
		const struct code *code = NULL;

		if (k < map->ncodes && (!func || map->codes[k].func == i))
			code = &map->codes[k++];
		if (func || code)
			fplan_add(build, func, code, func && map->inside[i]);
		if (i % PROGRESS_STEP == 0 && !build_goes_on(build))
			return;
	}
	owners_make(build);
}

/*
 * If the function's entry is in the middle of another's code (the host's), it
 * may be called there: note that as a mid-entry.  If the function has code
 * elsewhere, the host's blocks count its calls.
 */
static void
guest_find_host(struct build *build, struct func_plan *guest)
{
	struct plan *plan = build->plan;
	uint64_t entry = build->image->arch->first(
		build->image->funcs[guest->func].addr);
	uint32_t host = plan_func(plan, entry);

	if (host == FPLAN_NONE || host == guest - plan->fplans) {
		guest->guest = false;
		return;
	}
	if (guest->guest && guest->named)
		plan->fplans[host].units |= 1U << UNIT_BLOCK;
	if (guest->guest)
		guest->units &= 1U << UNIT_FUNC;
	build_enters(build, host, entry);
}

static void
guests_find_hosts(struct build *build)
{
	struct plan *plan = build->plan;

	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].func != FUNC_NONE &&
		    plan->fplans[i].state != FPLAN_FAULTY &&
		    (plan->fplans[i].guest || !plan->fplans[i].nranges))
			guest_find_host(build, &plan->fplans[i]);
}

/* Whether all functions are looked at now, so that entries need no traps. */
static bool
looks_early(const struct plan *plan)
{
	return plan->options.eager ||
	       (plan->options.early && plan->options.relocated &&
		!plan_graphs(plan));
}

/*
 * Whether the function plan is looked at now, so that its entry needs no trap.
 * The entry of nameless code is not known.
 */
static bool
fplan_early(const struct build *build, const struct func_plan *fplan,
	    bool early)
{
	const struct plan_options *options = &build->plan->options;

	return early || fplan->func == FUNC_NONE ||
	       addrs_has(options->likely, options->nlikely,
			 build->image->funcs[fplan->func].addr);
}

/* Make sites at all entries.  Code with mid-entries is looked at now, too. */
static void
entries_plan(struct build *build)
{
	struct plan *plan = build->plan;
	bool early = looks_early(plan);

	for (size_t i = 0; i < plan->nfplans; i++) {
		struct func_plan *fplan = &plan->fplans[i];

		if (!fplan->units || fplan->state == FPLAN_FAULTY ||
		    fplan->guest)
			continue;
		if (fplan_early(build, fplan, early)) {
			*vec_push(build->todo, build->ntodo) = i;
			continue;
		}
		fplan->site = build_site(
			build,
			build->image->arch->first(
				build->image->funcs[fplan->func].addr),
			i);
		plan->sites[fplan->site].waiting = true;
	}
	build_analyse(build);
	plan->options.likely = NULL;
	plan->options.nlikely = 0;
}

/*
 * Find the hooks of function plans whose graphs are not needed; those of the
 * others are found when these are looked at.
 */
static void
hooks_make(struct build *build)
{
	struct plan *plan = build->plan;

	if (plan->options.unhooked)
		return;
	for (size_t i = 0; i < plan->nfplans; i++) {
		unsigned wanted = hooks_wanted(plan);

		/* No code may map before its hooks are known. */
		if (plan->fplans[i].units & UNITS_GRAPH)
			wanted &= HOOKS_MAPS;
		if (wanted)
			fplan_hooks(build, &plan->fplans[i], wanted);
	}
	hooks_place(build, 0);
	if (plan->options.maps)
		hooks_miss(build);
}

static unsigned
units_possible(const struct image *image, const struct selection *sel)
{
	unsigned units = sel->units;

	if (units == UNITS_DEFAULT)
		units = select_units_default(sel);
	if (!image->has_dwarf)
		units &= ~(1U << UNIT_LINE);
	return units;
}

struct plan *
plan_open(struct image *image, const struct plan_options *options,
	  bool (*progress)(void *), void *arg)
{
	struct plan *plan = mem_alloc(sizeof(*plan));
	struct build *build = mem_alloc(sizeof(*build));

	plan->image = image;
	plan->options = *options;
	plan->build = build;
	*build = (struct build){
		.plan = plan,
		.image = image,
		.sel = options->sel,
		.progress = progress,
		.arg = arg,
	};
	build->table = mem_alloc(sizeof(*build->table));
	*build->table = (struct unit_table){ .image = image,
					     .sel = options->sel };
	if (!options->sel)
		return plan;
	plan->units = units_possible(image, options->sel);
	unit_lines_open(build->table);
	unit_inlines_open(build->table, plan->units);
	build->graphs = graphs_open(image);
	fplans_make(build);
	guests_find_hosts(build);
	if (options->counted) {
		build->ntodo = 0;
		return plan;
	}
	hooks_make(build);
	entries_plan(build);
	if (build->stopped) {
		fail("%s: not analysed to the end, because pmon was told to "
		     "stop",
		     image->path);
		plan_close(plan);
		return NULL;
	}
	build->progress = NULL;
	return plan;
}

static void
build_free(struct build *build)
{
	unit_table_free(build->table);
	graphs_close(build->graphs);
	code_map_free(build->map);
	free(build->owners);
	free(build->calls);
	free(build->parts);
	free(build->mid_entered);
	free(build->called);
	free(build->todo);
	free(build->looked);
	free(build);
}

static void
fplan_close(struct func_plan *fplan)
{
	fplan_unplace(fplan);
	fplan_clear(fplan);
	free(fplan->stays);
	free(fplan->dropped);
	free(fplan->untimed);
	times_free(fplan->times);
	free(fplan->counter_refs);
	free(fplan->passes);
	free(fplan->abnormal_insns);
}

void
plan_close(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nfplans; i++)
		fplan_close(&plan->fplans[i]);
	for (size_t i = 0; i < plan->ncounter_sets; i++)
		counter_set_free(plan->counter_sets[i]);
	build_free(plan->build);
	image_close(plan->image);
	free(plan->fplans);
	free(plan->sites);
	free(plan->woken);
	free(plan->hooks);
	free(plan->known);
	free(plan->stays);
	free(plan->relocated_fplans);
	for (size_t i = 0; i < plan->nswitches; i++)
		free(plan->switches[i].edges);
	free(plan->switches);
	free(plan->guards);
	free(plan->reopened);
	free(plan->reverted);
	free(plan->counter_sets);
	free(plan->skips);
	free(plan->index);
	free(plan);
}

void
plan_ready(struct plan *plan, uint32_t fplan)
{
	struct build *build = plan->build;

	if (plan->fplans[fplan].state != FPLAN_WAITING)
		return;
	*vec_push(build->todo, build->ntodo) = fplan;
	build_analyse(build);
}
