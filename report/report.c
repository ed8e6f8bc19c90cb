/*
 * The table of all reports; parses and checks which are wanted, and writes each
 * to its target.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "probe/counts.h"
#include "probe/idle.h"
#include "report/event_sums.h"
#include "report/kinds.h"
#include "report/printable.h"
#include "report/target.h"
#include "util/fail.h"
#include "util/mem.h"

/* A set of units. */
enum {
	FUNC = 1 << UNIT_FUNC,
	LINE = 1 << UNIT_LINE,
	INLINE = 1 << UNIT_INLINE,
	BLOCK = 1 << UNIT_BLOCK,
	EDGE = 1 << UNIT_EDGE,
	INSN = 1 << UNIT_INSN,
	CALL = 1 << UNIT_CALL,
	COVERAGE = FUNC | LINE | INLINE | EDGE,
	EVERYTHING = COVERAGE | BLOCK | INSN | CALL,
};

/*
 * The reports, by name.  Of those of one name, the one without sub-kind comes
 * last.  `units` are counted for the report if --units is not given.  `places`:
 * the report names lines, even if these are not counted.
 */
static const struct {
	const char *name, *sub;
	enum report_kind kind;
	unsigned units;
	bool places;
	void (*write)(struct table *table, FILE *out);
	/* If write is NULL: writes a directory.  0, or -1 with the message. */
	int (*write_dir)(struct table *table, const char *path);
	bool counts;		/* needs to know how often code ran */
} kinds[] = {
	{ "summary", NULL, REPORT_SUMMARY, UNITS_DEFAULT, false,
	  summary_write },
	{ "listing", NULL, REPORT_LISTING, LINE, false, listing_write },
	{ "hist", "full", REPORT_HIST, LINE, false, hist_write },
	{ "hist", "scaled", REPORT_HIST_SCALED, LINE, false,
	  hist_scaled_write },
	{ "hist", "log", REPORT_HIST_LOG, LINE, false, hist_log_write },
	{ "hist", NULL, REPORT_HIST, LINE, false, hist_write },
	{ "uncovered", NULL, REPORT_UNCOVERED, UNITS_DEFAULT, false,
	  uncovered_write },
	{ "funcs", NULL, REPORT_FUNCS, FUNC, false, funcs_write },
	{ "inlines", NULL, REPORT_INLINES, INLINE, false, inlines_write },
	{ "files", NULL, REPORT_FILES, INSN, true, files_write },
	{ "lines", NULL, REPORT_LINES, LINE | INSN, true, lines_write },
	{ "insns", NULL, REPORT_INSNS, FUNC | INSN, true, insns_write },
	{ "blocks", NULL, REPORT_BLOCKS, FUNC | BLOCK, true, blocks_write },
	{ "edges", NULL, REPORT_EDGES, FUNC | EDGE, true, edges_write,
	  .counts = true },
	{ "cfg", NULL, REPORT_CFG, FUNC | BLOCK | EDGE, true, cfg_write,
	  .counts = true },
	{ "calls", NULL, REPORT_CALLS, FUNC | CALL, true, calls_write,
	  .counts = true },
	/* Its units are those of the events. */
	{ "events", NULL, REPORT_EVENTS, FUNC, false, events_write,
	  .counts = true },
	{ "times", NULL, REPORT_TIMES, FUNC, false, times_write,
	  .counts = true },
	{ "placement", NULL, REPORT_PLACEMENT, BLOCK | EDGE, false,
	  placement_write, .counts = true },
	{ "sites", NULL, REPORT_SITES, UNITS_DEFAULT, false, sites_write },
	{ "html", NULL, REPORT_HTML, FUNC | LINE | INLINE | BLOCK | EDGE | INSN,
	  true, NULL, html_write },
	{ "lcov", NULL, REPORT_LCOV, COVERAGE, true, lcov_write },
	{ "cobertura", NULL, REPORT_COBERTURA, COVERAGE, true,
	  cobertura_write },
	{ "gcov-json", NULL, REPORT_GCOV_JSON, COVERAGE, true,
	  gcov_json_write },
	{ "callgrind", NULL, REPORT_CALLGRIND, FUNC | INSN | EDGE | CALL, true,
	  callgrind_write, .counts = true },
	{ "bolt", NULL, REPORT_BOLT, FUNC | BLOCK | EDGE | CALL, false,
	  bolt_write, .counts = true },
	{ "autofdo", NULL, REPORT_AUTOFDO, FUNC | INLINE | INSN | CALL, true,
	  autofdo_write, .counts = true },
	{ "pprof", NULL, REPORT_PPROF, FUNC | INLINE | INSN, true, pprof_write,
	  .counts = true },
	{ "drcov", NULL, REPORT_DRCOV, BLOCK, false, drcov_write },
	{ "folded", NULL, REPORT_FOLDED, FUNC | INSN | CALL, false,
	  folded_write, .counts = true },
	{ "json", NULL, REPORT_JSON, EVERYTHING, true, json_write },
	{ "csv", NULL, REPORT_CSV, EVERYTHING, true, csv_write },
	{ "trace", NULL, REPORT_TRACE, FUNC },
	{ "chrome", NULL, REPORT_CHROME, FUNC },
	{ "perfetto", NULL, REPORT_PERFETTO, FUNC },
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

/*
 * Only so many bytes of an object's idle functions are analysed for the summary
 * alone: about 0.05 s of pmon's time (doc/decisions/0011-first-entries.md).
 */
enum { IDLE_MAX = 256 << 10 };

/* Whether the first part of s, up to a ':' or `end`, is `name`. */
static bool
part_is(const char *s, const char *end, const char *name)
{
	size_t len = strlen(name);

	return (size_t)(end - s) >= len && strncmp(s, name, len) == 0 &&
	       (s + len == end || s[len] == ':');
}

static int
want_refuse(const char *s)
{
	char *names = mem_strdup("");

	for (size_t i = 0; i < NKINDS; i++) {
		char *name = mem_printf("%s%s%s", kinds[i].name,
					kinds[i].sub ? ":" : "",
					kinds[i].sub ? kinds[i].sub : "");

		names = mem_join(names, name);
		free(name);
	}
	fail("--report: unknown report \"%.*s\"; choose from %s",
	     (int)strcspn(s, ":,"), s, names);
	free(names);
	return -1;
}

/* Parse one KIND[:SUB][:FILE], from s up to end. */
static int
want_parse(struct report_options *opts, const char *s, const char *end)
{
	const char *rest;
	size_t i;

	for (i = 0; i < NKINDS; i++) {
		if (!part_is(s, end, kinds[i].name))
			continue;
		rest = s + strlen(kinds[i].name);
		if (!kinds[i].sub)
			break;
		if (rest < end && part_is(rest + 1, end, kinds[i].sub)) {
			rest += 1 + strlen(kinds[i].sub);
			break;
		}
	}
	if (i == NKINDS)
		return want_refuse(s);
	if (rest == end && kinds[i].write_dir)
		return fail("--report: %s needs a directory: %s:DIR",
			    kinds[i].name, kinds[i].name);
	if (rest + 1 == end)
		return fail("--report: \"%.*s\" lacks a file name",
			    (int)(end - s), s);
	*vec_push(opts->wants, opts->nwants) = (struct report_want){
		.kind = kinds[i].kind,
		.path = rest == end ?
				NULL :
				mem_strndup(rest + 1, (size_t)(end - rest - 1)),
	};
	return 0;
}

int
report_parse(struct report_options *opts, const char *arg)
{
	for (;;) {
		const char *end = arg + strcspn(arg, ",");

		if (want_parse(opts, arg, end) < 0)
			return -1;
		if (!*end)
			return 0;
		arg = end + 1;
	}
}

static size_t
kind_index(enum report_kind kind)
{
	size_t i = 0;

	while (kinds[i].kind != kind)
		i++;
	return i;
}

static bool
report_wanted(const struct report_options *opts, enum report_kind kind)
{
	for (size_t i = 0; i < opts->nwants; i++)
		if (opts->wants[i].kind == kind)
			return true;
	return false;
}

void
report_want(struct report_options *opts, enum report_kind kind)
{
	if (!report_wanted(opts, kind))
		*vec_push(opts->wants,
			  opts->nwants) = (struct report_want){ .kind = kind };
}

void
report_complete(struct report_options *opts)
{
	if (!opts->events.n &&
	    (opts->events.nlimits || report_wanted(opts, REPORT_EVENTS)))
		events_add_mix(&opts->events);
}

bool
report_alone(const struct report_options *opts, enum report_kind kind)
{
	for (size_t i = 0; i < opts->nwants; i++)
		if (opts->wants[i].kind != kind)
			return false;
	return true;
}

void
report_choose(struct report_options *opts, struct selection *sel)
{
	unsigned units = UNITS_DEFAULT;
	bool usual = false;

	report_complete(opts);
	if (opts->brief)
		report_want(opts, REPORT_SUMMARY);
	if (opts->events.n && !opts->per_call)
		report_want(opts, REPORT_EVENTS);
	sel->places |= events_lines(&opts->events);
	/* --fail-under needs lines besides the units asked for. */
	if (opts->fail_under && sel->units != UNITS_DEFAULT)
		sel->units |= LINE;
	if (sel->units != UNITS_DEFAULT)
		sel->units |= events_units(&opts->events);
	units |= events_units(&opts->events);
	for (size_t i = 0; i < opts->nwants; i++) {
		size_t kind = kind_index(opts->wants[i].kind);
		bool brief = opts->brief && kinds[kind].write == summary_write;
		unsigned needed = brief ? FUNC | INSN : kinds[kind].units;

		units |= needed;
		usual |= needed == UNITS_DEFAULT;
		sel->places |= kinds[kind].places;
	}
	if (sel->units != UNITS_DEFAULT || units == UNITS_DEFAULT)
		return;
	sel->units = units | (usual ? select_units_default(sel) : 0) |
		     (opts->fail_under ? LINE : 0);
}

/*
 * Whether the summary adds up the code of idle functions, as it is little, or
 * as lines have their counts from all functions that they are in.
 */
static bool
summary_adds(const struct plan *plan)
{
	return (plan->units & (LINE | INLINE) && plan->image->nrows) ||
	       plan_idle(plan).size <= IDLE_MAX;
}

/* Whether reports show the code of functions, other than by totals. */
static bool
code_shown(const struct report_options *opts, const struct plan *plan)
{
	if (opts->fail_under)
		return true;
	for (size_t i = 0; i < opts->nwants; i++) {
		enum report_kind kind = opts->wants[i].kind;

		/* If instructions are counted, funcs has each function's. */
		if (kind == REPORT_FUNCS && !(plan->units & INSN))
			continue;
		if (kind == REPORT_EVENTS && !events_lines(&opts->events))
			continue;
		if (kind == REPORT_TIMES)
			continue;
		if (kind != REPORT_SUMMARY)
			return true;
	}
	return false;
}

bool
report_leaves_idle(const struct report_options *opts, const struct plan *plan)
{
	bool summary = !opts->nwants || report_wanted(opts, REPORT_SUMMARY);

	return !code_shown(opts, plan) && !(summary && summary_adds(plan));
}

void
report_propagate(const struct report_options *opts,
		 const struct report_input *report_input)
{
	for (size_t i = 0; i < report_input->nplans; i++) {
		struct plan *plan = report_input->plans[i];
		bool shown = code_shown(opts, plan);

		if (!shown)
			plan_propagate_entered(plan, NULL);
		if (shown || !report_leaves_idle(opts, plan))
			plan_propagate(plan, NULL);
	}
}

int
report_once(const struct report_options *opts)
{
	for (size_t i = 0; i < opts->nwants; i++) {
		size_t kind = kind_index(opts->wants[i].kind);

		if (kinds[kind].counts)
			return fail("--report: %s needs counts, but --once "
				    "records only whether code ran",
				    kinds[kind].name);
	}
	return 0;
}

void
report_options_free(struct report_options *opts)
{
	size_t i;

	for (i = 0; i < opts->nwants; i++)
		free(opts->wants[i].path);
	free(opts->wants);
	free(opts->source_paths);
	free(opts->exclude_paths);
	free(opts->source_root);
	events_free(&opts->events);
	*opts = (struct report_options){ 0 };
}

static bool
same_target(const struct report_want *a, const struct report_want *b)
{
	if (!a->path || !b->path)
		return a->path == b->path;
	return strcmp(a->path, b->path) == 0;
}

/* Check a report's directory, which must be no other report's target. */
static int
dir_check(const struct report_options *opts, size_t index)
{
	const struct report_want *want = &opts->wants[index];

	for (size_t i = 0; i < opts->nwants; i++)
		if (i != index && same_target(&opts->wants[i], want))
			return fail("--report: several reports cannot go to "
				    "%s",
				    want->path);
	return html_dir_check(want->path);
}

int
report_counts_check(const struct report_options *opts)
{
	for (size_t i = 0; i < opts->nwants; i++)
		if (opts->wants[i].kind >= REPORT_TRACE)
			return fail(
				"--report: %s is made of a trace by "
				"pmprint; pmon --trace=func writes one",
				kinds[kind_index(opts->wants[i].kind)].name);
	return 0;
}

int
report_targets_check(const struct report_options *opts)
{
	for (size_t i = 0; i < opts->nwants; i++) {
		const struct report_want *want = &opts->wants[i];

		if (want->path && (kinds[kind_index(want->kind)].write_dir ?
					   dir_check(opts, i) :
					   target_check(want->path)))
			return -1;
	}
	return 0;
}

char *
report_warning(const struct report_options *opts)
{
	static const char suffix[] = ".gcov.json.gz";

	for (size_t i = 0; i < opts->nwants; i++) {
		const char *path = opts->wants[i].path;
		size_t len = path ? strlen(path) : 0;

		if (opts->wants[i].kind == REPORT_GCOV_JSON && path &&
		    !opts->quiet &&
		    (len < strlen(suffix) ||
		     strcmp(path + len - strlen(suffix), suffix) != 0))
			return mem_printf("%s: gcovr reads only files whose "
					  "names end in %s",
					  path, suffix);
	}
	return NULL;
}

static bool
lines_known(const struct report_input *report_input)
{
	for (size_t i = 0; i < report_input->nplans; i++)
		if (report_input->plans[i]->image->nrows)
			return true;
	return false;
}

char *
report_empty(const struct report_options *opts,
	     const struct report_input *report_input)
{
	if (opts->quiet || !report_input->nplans || lines_known(report_input))
		return NULL;
	for (size_t i = 0; i < opts->nwants; i++) {
		const struct report_want *want = &opts->wants[i];

		if (want->kind == REPORT_LCOV ||
		    want->kind == REPORT_COBERTURA ||
		    want->kind == REPORT_GCOV_JSON)
			return mem_printf(
				"%s has no lines: %s has no line information; "
				"compile with -g, or install its debug symbols",
				want->path ? want->path :
					     kinds[kind_index(want->kind)].name,
				report_input->plans[0]->image->path);
	}
	return NULL;
}

/* Is the report for other programs to read? */
static bool
kind_for_programs(enum report_kind kind)
{
	return kind == REPORT_CFG || kind >= REPORT_HTML;
}

/*
 * Write report `first` and the later ones with the same target, a blank line
 * between them.
 */
static void
wants_write(const struct report_options *opts, size_t first,
	    struct table *table, FILE *out)
{
	size_t i, kind;

	for (i = first; i < opts->nwants; i++) {
		if (!same_target(&opts->wants[i], &opts->wants[first]))
			continue;
		if (i > first)
			putc('\n', out);
		kind = kind_index(opts->wants[i].kind);
		table->columns = report_style(opts, out);
		if (kind_for_programs(opts->wants[i].kind))
			text_style(false, false);
		kinds[kind].write(table, out);
	}
}

static int
target_write(const struct report_options *opts, size_t first,
	     struct table *table)
{
	const struct report_want *want = &opts->wants[first];
	size_t kind = kind_index(want->kind);
	struct target *target;

	if (kinds[kind].write_dir)
		return kinds[kind].write_dir(table, want->path);
	target = target_open(want->path);
	if (!target)
		return -1;
	wants_write(opts, first, table, target->out);
	return target_close(target);
}

/* Write to all targets, also if some fail; the message is the first one's. */
static int
targets_write(const struct report_options *opts, struct table *table, FILE *out)
{
	char *message = NULL;
	size_t i, j;
	int result = 0;

	for (i = 0; i < opts->nwants; i++) {
		for (j = 0; j < i; j++)
			if (same_target(&opts->wants[i], &opts->wants[j]))
				break;
		if (j < i)
			continue;
		if (!opts->wants[i].path) {
			wants_write(opts, i, table, out);
			result = 0;
		} else {
			result = target_write(opts, i, table);
		}
		if (result < 0 && !message)
			message = mem_strdup(fail_message());
	}
	if (message)
		result = fail("%s", message);
	free(message);
	return result;
}

int
report_write(struct table *table, FILE *out)
{
	const struct report_options *opts = table->opts;
	int result = 0;

	if (report_input_once(table->report_input) && report_once(opts))
		return -1;
	table->columns = report_style(opts, out);
	if (opts->nwants)
		result = targets_write(opts, table, out);
	else
		summary_write(table, out);
	if (!result)
		result = events_matched(table, NULL);
	text_style(false, false);
	return result;
}
