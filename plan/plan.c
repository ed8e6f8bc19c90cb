/*
 * The plan of one image: goes through its functions, and adds up counts in
 * the end.  Never touches a process.
 */
#include "plan/build.h"

#include <stdlib.h>

#include "util/fail.h"
#include "util/mem.h"

enum { PROGRESS_STEP = 256 };

unsigned
plan_wants(const struct selection *sel)
{
	unsigned wants = 0;

	if (sel->units == UNITS_DEFAULT || sel->units & 1U << UNIT_LINE)
		wants |= IMAGE_LINES | IMAGE_FLOW;
	if (sel->units & 1U << UNIT_INLINE)
		wants |= IMAGE_INLINES | IMAGE_FLOW;
	return wants;
}

static bool
wanted(const struct build *build, enum unit_kind kind)
{
	return build->units & 1U << kind;
}

static int
by_addr(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

static struct cfg *
code_cfg(const struct build *build, const struct code *code, bool lines,
	 bool inlines)
{
	uint64_t *leaders = NULL;
	struct cfg *cfg;
	size_t n = 0;

	if (lines)
		plan_lines_leaders(build, code, &leaders, &n);
	if (inlines)
		plan_inlines_leaders(build, code, &leaders, &n);
	if (n && (inlines || code->nranges > 1))
		qsort(leaders, n, sizeof(*leaders), by_addr);
	cfg = graph_make(build->graphs, code->ranges, code->nranges,
			 code->entry, leaders, n);
	free(leaders);
	return cfg;
}

/* Whether the function has a jump to its own first instruction. */
static bool
func_jumps_back(const struct image *image, const struct func *func)
{
	uint64_t entry = image->arch->first(func->addr), addr;
	const uint8_t *text;
	struct insn insn;
	size_t i, avail;

	for (i = 0; i < func->nranges; i++) {
		addr = i ? func->ranges[i].lo : entry;
		while (addr < func->ranges[i].hi) {
			text = image_text(image, addr, &avail);
			if (!text || image->arch->decode(text, avail, addr,
							 &insn) < 0)
				break;
			if (insn.target == entry && (insn.kind == INSN_JUMP ||
						     insn.kind == INSN_BRANCH))
				return true;
			addr += insn.len;
		}
	}
	return false;
}

/* Why the function's entry cannot be counted, or NULL. */
static const char *
entry_fault(const struct image *image, uint64_t entry, bool inside)
{
	const uint8_t *text;
	struct insn insn;
	size_t avail;

	if (inside)
		return "not at an instruction";
	text = image_text(image, entry, &avail);
	if (!text)
		return "not in executable memory";
	if (image->arch->decode(text, avail, entry, &insn) < 0)
		return "not an instruction";
	return NULL;
}

/* cfg, if not NULL, is that of the function's own code. */
static void
func_plan(struct build *build, uint32_t index, bool inside,
	  const struct cfg *cfg)
{
	const struct image *image = build->image;
	const struct func *func = &image->funcs[index];
	uint64_t entry = image->arch->first(func->addr);
	uint32_t unit = build_unit(build, UNIT_FUNC, index, 0);
	const char *why = entry_fault(image, entry, inside);
	struct cfg *own = NULL;

	if (why) {
		build_skip(build, func->addr, why);
		build->plan->units[unit].why = why;
		return;
	}
	if (!cfg && func_jumps_back(image, func))
		cfg = own = graph_make(build->graphs, func->ranges,
				       func->nranges, true, NULL, 0);
	if (cfg)
		entries_of_func(cfg, unit, build_term, build);
	else
		build_term(build, unit, &(struct term){
			.addr = entry, .kind = TERM_HITS, .sign = 1,
		});
	cfg_free(own);
}

static bool
func_file_chosen(const struct build *build, const struct func *func)
{
	const struct image *image = build->image;

	return select_file(build->sel, func->file < image->nfiles ?
			   image->files[func->file] : NULL);
}

/* One function, or nameless code (func NULL); code is NULL if it has none. */
static void
code_plan(struct build *build, const struct func *func,
	  const struct code *code, bool inside)
{
	bool named = func ? select_func(build->sel, func->name, func->aliases,
					func->naliases) :
			    select_func(build->sel, NULL, NULL, 0);
	bool lines = code && named && wanted(build, UNIT_LINE) &&
		     plan_lines_wanted(build, code);
	bool inlines = code && wanted(build, UNIT_INLINE) &&
		       plan_inlines_wanted(build, code);
	struct cfg *cfg = NULL;

	if (lines || inlines)
		cfg = code_cfg(build, code, lines, inlines);
	if (func && named && wanted(build, UNIT_FUNC) &&
	    func_file_chosen(build, func))
		func_plan(build, func - build->image->funcs, inside,
			  code && code->entry ? cfg : NULL);
	if (lines)
		plan_lines_add(build, code, cfg);
	if (inlines)
		plan_inlines_add(build, code, cfg);
	cfg_free(cfg);
}

static void
functions_plan(struct build *build, void (*progress)(void *), void *arg)
{
	const struct image *image = build->image;
	bool code_needed = wanted(build, UNIT_LINE) ||
			   wanted(build, UNIT_INLINE);
	struct code_map *map;
	size_t i, k = 0;

	map = code_map_make(image, code_needed);
	for (i = 0; i < image->nfuncs || k < map->ncodes; i++) {
		const struct func *func = i < image->nfuncs ?
			&image->funcs[i] : NULL;
		const struct code *code = NULL;

		if (k < map->ncodes && (!func || map->codes[k].func == i))
			code = &map->codes[k++];
		if (func || code)
			code_plan(build, func, code,
				  func && map->inside[i]);
		if (progress && i % PROGRESS_STEP == 0)
			progress(arg);
	}
	code_map_free(map);
}

struct plan *
plan_build(struct image *image, const struct selection *sel,
	   void (*progress)(void *), void *arg)
{
	struct plan *plan = mem_alloc(sizeof(*plan));
	struct build build = {
		.plan = plan, .image = image, .sel = sel, .units = sel->units,
	};

	plan->image = image;
	plan->selection = sel;
	if (build.units == UNITS_DEFAULT)
		build.units = 1U << UNIT_LINE |
			      (sel->lines.n ? 0 : 1U << UNIT_FUNC);
	if (!image->has_dwarf)
		build.units &= ~(1U << UNIT_LINE);
	if (wanted(&build, UNIT_LINE))
		plan_lines_open(&build);
	if (wanted(&build, UNIT_INLINE))
		plan_inlines_open(&build);
	build.graphs = graphs_open(image);
	functions_plan(&build, progress, arg);
	graphs_close(build.graphs);
	build_freeze(&build);
	if (wanted(&build, UNIT_INLINE))
		plan_inlines_close(&build);
	if (wanted(&build, UNIT_LINE))
		plan_lines_close(&build);
	free(build.raws);
	return plan;
}

void
plan_free(struct plan *plan)
{
	if (!plan)
		return;
	image_close(plan->image);
	free(plan->sites);
	free(plan->units);
	free(plan->terms);
	free(plan->skips);
	free(plan->index);
	free(plan);
}

bool
plan_count(const struct plan *plan, const struct unit *unit, uint64_t *count,
	   const char **why)
{
	uint64_t plus = 0, minus = 0;
	uint32_t i;

	*why = unit->why;
	for (i = 0; i < unit->nterms && !*why; i++) {
		const struct plan_term *term = &plan->terms[unit->term + i];
		const struct site *site = &plan->sites[term->site];
		uint64_t n = site->hits;

		if (site->lost)
			*why = "a breakpoint could not be planted";
		if (term->kind == TERM_TAKEN)
			n = site->taken;
		else if (term->kind == TERM_FALL)
			n -= site->taken;
		if (term->sign < 0)
			minus += n;
		else
			plus += n;
	}
	if (!*why && plus < minus)
		*why = "it was running when counting began";
	*count = *why ? 0 : plus - minus;
	return !*why;
}
