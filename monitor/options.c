/*
 * pmon's command line.  Owns the table of options; turns arguments into struct
 * options.  Prints only help, the version and completions, and never exits.
 */
#include "monitor/options.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfs.h"
#include "monitor/config.h"
#include "report/event_arcs.h"
#include "report/event_limits.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/command_line.h"

/*
 * The units that --data saves.  Edges give the counts of inlined functions and
 * of direct calls as well.  Targets of indirect calls are not included, as
 * recording them needs a trap for each call.
 */
enum {
	UNITS_SAVED = 1 << UNIT_FUNC | 1 << UNIT_LINE | 1 << UNIT_BLOCK |
		      1 << UNIT_EDGE | 1 << UNIT_INSN,
};

static const uint64_t RING_MIN = 64 << 10, RING_MAX = UINT64_C(1) << 40;

enum { DURATION_MAX = 1000000000 };	/* seconds */

static int
set_patch(void *into, const char *arg)
{
	struct options *opts = into;
	static const struct option_word words[] = {
		{ "auto", PATCH_AUTO }, { "jump", PATCH_AUTO },
		{ "trap", PATCH_TRAP }, { "step", PATCH_STEP },
		{ "slot", PATCH_SLOT }, { "emulate", PATCH_EMULATE },
	};
	int value;

	value = option_word("--patch", arg, words,
			    sizeof(words) / sizeof(words[0]));
	if (value < 0)
		return -1;
	opts->patch = value;
	return 0;
}

static int
set_follow(void *into, const char *arg)
{
	struct options *opts = into;
	static const struct option_word words[] = {
		{ "all", FOLLOW_ALL },
		{ "none", FOLLOW_NONE },
	};
	int value;

	value = option_word("--follow", arg, words,
			    sizeof(words) / sizeof(words[0]));
	if (value < 0)
		return -1;
	opts->follow = value;
	return 0;
}

static int
set_forks(void *into, const char *arg)
{
	return set_follow(into, "all");
}

static int
set_separate(void *into, const char *arg)
{
	struct options *opts = into;
	static const struct option_word words[] = {
		{ "none", SEPARATE_NONE },
		{ "process", SEPARATE_PROCESS },
		{ "thread", SEPARATE_THREAD },
	};
	int value;

	value = option_word("--separate", arg, words,
			    sizeof(words) / sizeof(words[0]));
	if (value < 0)
		return -1;
	opts->separate = value;
	return 0;
}

static int
set_placement(void *into, const char *arg)
{
	struct options *opts = into;
	static const struct option_word words[] = {
		{ "optimal", PLACE_OPTIMAL },
		{ "vertex", PLACE_VERTEX },
		{ "every", PLACE_EVERY },
	};
	int value;

	value = option_word("--placement", arg, words,
			    sizeof(words) / sizeof(words[0]));
	if (value < 0)
		return -1;
	opts->placement = value;
	return 0;
}

static int
set_host(void *into, const char *arg)
{
	struct options *opts = into;
	static const struct option_word words[] = {
		{ "ptrace" },
		{ "qemu" },
		{ "simh" },
	};

	if (option_word("--host", arg, words, sizeof(words) / sizeof(words[0])))
		return -1;
	opts->host = arg;
	return 0;
}

static int
set_remote(void *into, const char *arg)
{
	struct options *opts = into;

	if (!*arg)
		return fail("--remote: the address is empty");
	opts->remote = arg;
	return 0;
}

static int
set_output(void *into, const char *arg)
{
	struct options *opts = into;

	return option_file("--output", arg, &opts->output);
}

static int
pid_add(struct options *opts, pid_t pid)
{
	for (size_t i = 0; i < opts->npids; i++)
		if (opts->pids[i] == pid)
			return fail("--pid: process %d is given twice",
				    (int)pid);
	*vec_push(opts->pids, opts->npids) = pid;
	return 0;
}

/* All processes that run the program, as pgrep -x finds them. */
static int
pids_add_named(struct options *opts, const char *name)
{
	pid_t *pids = NULL;
	size_t n = 0;
	int err = 0;

	procfs_named(name, &pids, &n);
	for (size_t i = 0; i < n && !err; i++)
		err = pid_add(opts, pids[i]);
	free(pids);
	return n ? err : fail("--pid: no process is named \"%s\"", name);
}

static int
set_pid(void *into, const char *arg)
{
	unsigned long pid;

	if (*arg && arg[strspn(arg, "0123456789")])
		return pids_add_named(into, arg);
	return option_number("--pid", arg, 1, INT_MAX, &pid) ?
		       -1 :
		       pid_add(into, (pid_t)pid);
}

/*
 * Parse a number of seconds, such as 2.5; it may be 0 only if `zero` is set.
 * 0, or -1 with the message.
 */
static int
option_seconds(const char *option, const char *arg, bool zero, double *seconds)
{
	uint64_t ns;
	const char *end = decimal_read(arg, 9, &ns);

	if (!end || *end)
		return fail("%s: \"%s\" is not a number of seconds", option,
			    arg);
	*seconds = (double)ns / 1e9;
	if (*seconds > DURATION_MAX || (!zero && !*seconds))
		return fail("%s: %s is out of range (%s 0, at most %d)", option,
			    arg, zero ? "at least" : "more than", DURATION_MAX);
	return 0;
}

static int
set_duration(void *into, const char *arg)
{
	struct options *opts = into;

	return option_seconds("--duration", arg, false, &opts->duration);
}

static int
set_save_every(void *into, const char *arg)
{
	struct options *opts = into;

	return option_seconds("--save-every", arg, true, &opts->save_every);
}

/* FUNC:TIME, such as parse:1.5ms. */
static int
set_slow(void *into, const char *arg)
{
	static const struct {
		const char *unit;
		unsigned decimals;	/* of a nanosecond */
	} units[] = { { "ns", 0 }, { "us", 3 }, { "ms", 6 }, { "s", 9 } };
	struct options *opts = into;
	const char *time = strrchr(arg, ':');
	struct slow_option *slow;
	uint64_t ns = 0;
	char *glob;

	for (size_t i = 0; time && i < sizeof(units) / sizeof(units[0]); i++) {
		const char *end = decimal_read(time + 1, units[i].decimals,
					       &ns);

		if (end && !strcmp(end, units[i].unit))
			break;
		ns = 0;
	}
	if (!ns || time == arg)
		return fail("--slow: \"%s\" is not FUNC:TIME, such as "
			    "parse:1.5ms",
			    arg);
	slow = vec_push(opts->slows, opts->nslows);
	*slow = (struct slow_option){ .ns = ns };
	glob = mem_strndup(arg, (size_t)(time - arg));
	select_glob(&slow->of.funcs, glob);
	free(glob);
	opts->time = true;
	return 0;
}

/* func[:FILE] */
static int
set_trace(void *into, const char *arg)
{
	struct options *opts = into;

	if (!strcmp(arg, "func"))
		opts->trace = "pmon.trace";
	else if (!strncmp(arg, "func:", 5))
		return option_file("--trace", arg + 5, &opts->trace);
	else
		return fail("--trace: \"%s\" is not func or func:FILE", arg);
	return 0;
}

/* A number of bytes, such as 64M. */
static int
set_ring(void *into, const char *arg)
{
	static const char units[] = "KMG";
	struct options *opts = into;
	uint64_t n;
	const char *end = decimal_read(arg, 0, &n), *unit;
	unsigned shift = 0;

	unit = end && *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (!end || *end || !n)
		return fail("--ring: \"%s\" is not a number of bytes, such as "
			    "64M",
			    arg);
	if (n > RING_MAX >> shift || n << shift < RING_MIN)
		return fail("--ring: %s is out of range (64K to 1024G)", arg);
	opts->ring = n << shift;
	return 0;
}

static int
set_per(void *into, const char *arg)
{
	struct options *opts = into;

	if (!*arg)
		return fail("--per: no function is given");
	select_glob(&opts->per.funcs, arg);
	return 0;
}

static int
set_data(void *into, const char *arg)
{
	struct options *opts = into;

	return option_file("--data", arg ? arg : "pmon.out", &opts->data);
}

static int
set_weights(void *into, const char *arg)
{
	struct options *opts = into;

	return option_file("--weights", arg, &opts->weights);
}

static int
request_set(struct options *opts, enum request request)
{
	if (opts->request != REQUEST_NONE && opts->request != request)
		return fail("only one of --live, --query, --snapshot, "
			    "--snapshot-trace, --reset and --stop can be "
			    "given");
	opts->request = request;
	return 0;
}

static int
set_query(void *into, const char *arg)
{
	struct options *opts = into;

	if (arg && (!*arg || strpbrk(arg, " \n")))
		return fail("--query: \"%s\" is not a list of reports", arg);
	opts->query = arg;
	return request_set(opts, REQUEST_QUERY);
}

static int
set_snapshot(void *into, const char *arg)
{
	struct options *opts = into;

	if (option_file("--snapshot", arg, &opts->snapshot))
		return -1;
	return request_set(opts, REQUEST_SNAPSHOT);
}

static int
set_reset(void *into, const char *arg)
{
	return request_set(into, REQUEST_RESET);
}

static int
set_stop(void *into, const char *arg)
{
	return request_set(into, REQUEST_STOP);
}

static int
set_snapshot_trace(void *into, const char *arg)
{
	return request_set(into, REQUEST_TRACE);
}

static int
set_live(void *into, const char *arg)
{
	return request_set(into, REQUEST_LIVE);
}

static const struct option_entry table[] = {
	{ "patch", 0, "KIND",
	  "how to count: auto, jump, trap, slot,\nemulate, step (auto)",
	  set_patch, .trust = TRUST_PROJECT,
	  .words = "auto jump trap slot emulate step" },
	{ "placement", 0, "KIND",
	  "where to place counters: optimal, vertex,\n"
	  "every (optimal)",
	  set_placement, .trust = TRUST_PROJECT,
	  .words = "optimal vertex every" },
	{ "once", 0, NULL, "record only whether code ran, not how often",
	  .flag = offsetof(struct options, once), .trust = TRUST_PROJECT },
	{ "exact", 0, NULL, "keep counters that slow the program down",
	  .flag = offsetof(struct options, exact), .trust = TRUST_PROJECT },
	{ "weights", 0, "FILE",
	  "place counters by the counts in an earlier\n"
	  "data file",
	  set_weights, .trust = TRUST_USER },
	{ "eager", 0, NULL,
	  "analyse all functions at the start, not at\n"
	  "their first call",
	  .flag = offsetof(struct options, eager), .trust = TRUST_PROJECT },
	{ "no-cache", 0, NULL,
	  "neither read nor write what earlier runs have\n"
	  "found in files",
	  .flag = offsetof(struct options, no_cache), .trust = TRUST_PROJECT },
	{ "separate", 0, "WHAT",
	  "keep separate counts for each: process,\n"
	  "thread, none (none)",
	  set_separate, .trust = TRUST_PROJECT,
	  .words = "process thread none" },
	{ "follow", 0, "WHICH", "child processes to count: all, none (all)",
	  set_follow, .trust = TRUST_PROJECT, .words = "all none" },
	{ "forks", 'f', NULL, "the same as --follow=all", set_forks,
	  .trust = TRUST_PROJECT },
	{ "host", 0, "HOST",
	  "run the program on: ptrace, qemu, simh (the\n"
	  "one for its CPU)",
	  set_host, .trust = TRUST_USER, .words = "ptrace qemu simh" },
	{ "remote", 0, "HOST:PORT|PATH",
	  "monitor the program behind this GDB stub", set_remote,
	  .trust = TRUST_USER },
	{ "pid", 'p', "PID", "attach to this process; may be repeated",
	  set_pid },
	{ "no-traps", 0, NULL,
	  "place no breakpoints in an attached process,\n"
	  "and do not count units that need one",
	  .flag = offsetof(struct options, no_traps), .trust = TRUST_PROJECT },
	{ "duration", 0, "SECONDS", "stop counting after this time",
	  set_duration, .trust = TRUST_PROJECT },
	{ "data", 'd', "FILE", "save the counts for pmprint (pmon.out)",
	  set_data, .trust = TRUST_USER, .optional = true },
	{ "save-every", 0, "SECONDS",
	  "save the counts so far beside the --data\n"
	  "file every SECONDS (10; 0: never)",
	  set_save_every, .trust = TRUST_PROJECT },
	{ "stat", 0, NULL,
	  "count the instructions executed in all objects by\n"
	  "their kinds: --report=events --object='*'",
	  .flag = offsetof(struct options, stat), .trust = TRUST_PROJECT },
	{ "time", 0, NULL, "measure how long functions take: --report=times",
	  .flag = offsetof(struct options, time), .trust = TRUST_PROJECT },
	{ "per", 0, "FUNC",
	  "count the --event (insns) of each call of FUNC;\n"
	  "may be repeated: --report=times",
	  set_per, .trust = TRUST_PROJECT },
	{ "slow", 0, "FUNC:TIME",
	  "report at once each call of FUNC that takes longer\n"
	  "than TIME, such as 2ms; may be repeated",
	  set_slow, .trust = TRUST_PROJECT },
	{ "trace", 0, "func[:FILE]",
	  "write each call and return of a function to\n"
	  "FILE, for pmprint (pmon.trace)",
	  set_trace, .trust = TRUST_USER },
	{ "ring", 0, "SIZE",
	  "keep the newest SIZE bytes of the trace (64M),\n"
	  "and write it at the end or --snapshot-trace",
	  set_ring, .trust = TRUST_PROJECT },
	{ "deterministic", 0, NULL,
	  "start the program at the same addresses in each\n"
	  "run, with its environment sorted",
	  .flag = offsetof(struct options, deterministic),
	  .trust = TRUST_PROJECT },
	{ "output", 'o', "FILE", "write the report to FILE, not to stderr",
	  set_output, .trust = TRUST_USER },
};

static const struct option_entry last[] = {
	{ "live", 0, NULL, "show another pmon's counts as they grow",
	  set_live },
	{ "query", 0, "LIST",
	  "print reports of another pmon's counts so far\n"
	  "(summary)",
	  set_query, .optional = true, .joined = true },
	{ "snapshot", 0, "FILE", "save another pmon's counts so far",
	  set_snapshot },
	{ "snapshot-trace", 0, NULL,
	  "make another pmon write the trace that it\n"
	  "keeps (--ring)",
	  set_snapshot_trace },
	{ "reset", 0, NULL, "make another pmon count from 0 again", set_reset },
	{ "stop", 0, NULL, "make another pmon stop counting", set_stop },
	{ "no-config", 0, NULL, "ignore PMON_OPTIONS, .pmonrc, ~/.config/pmon",
	  .flag = offsetof(struct options, no_config) },
};

static const struct option_group groups[] = {
	{ select_entries, SELECT_OPTIONS, offsetof(struct options, selection) },
	{ table, sizeof(table) / sizeof(table[0]), 0 },
	{ report_entries, REPORT_OPTIONS, offsetof(struct options, report) },
	{ last, sizeof(last) / sizeof(last[0]), 0 },
	{ about_entries, ABOUT_OPTIONS, offsetof(struct options, about) },
};

static const struct option_table options_table = {
	.program = "pmon",
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
};

/* Check the options of a request to another pmon. */
static int
request_check(struct options *opts)
{
	unsigned long pid;

	if (!opts->argv || opts->argv[1] || opts->npids)
		return fail("--live, --query, --snapshot, --snapshot-trace, "
			    "--reset and --stop need one process id: that of "
			    "the other pmon, or of a process that it counts");
	if (option_number("process id", opts->argv[0], 1, INT_MAX, &pid))
		return -1;
	opts->asked = (pid_t)pid;
	return 0;
}

/*
 * Check the options that go with --once, which tells whether code ran, but not
 * where control went from there, nor in which process.
 */
static int
once_check(struct options *opts)
{
	struct selection *sel = &opts->selection;

	if (opts->no_traps)
		return fail("--once cannot be used with --no-traps: it needs "
			    "breakpoints");
	if (opts->separate != SEPARATE_NONE)
		return fail("--once cannot be used with --separate: it does "
			    "not tell processes apart");
	if (opts->placement != PLACE_OPTIMAL || opts->weights)
		return fail("--once cannot be used with --%s: it places "
			    "counters by itself",
			    opts->weights ? "weights" : "placement");
	if (sel->units & 1U << UNIT_EDGE || sel->units & 1U << UNIT_CALL)
		return fail("--once cannot count edges and calls");
	if (report_once(&opts->report))
		return -1;
	return 0;
}

/*
 * Check the options that go with --time, --trace or --per, which need probes at the
 * entries and exits of functions, in each thread.
 */
static int
time_check(const struct options *opts, const char *option)
{
	if (opts->no_traps)
		return fail("--%s cannot be used with --no-traps: its probes "
			    "need breakpoints",
			    option);
	if (opts->once)
		return fail("--%s cannot be used with --once", option);
	if (opts->host || opts->remote)
		return fail("--%s cannot be used with --%s: it measures "
			    "programs of this machine",
			    option, opts->host ? "host" : "remote");
	return 0;
}

/* The same for --per, and give it its event. */
static int
per_check(struct options *opts)
{
	struct events *events = &opts->report.events;

	if (opts->time || opts->trace)
		return fail("--per cannot be used with --time, --slow or "
			    "--trace: a run measures one thing of calls");
	if (!events->n && events_add(events, "insns"))
		return -1;
	if (events->n > 1)
		return fail("--per counts one event a run, but --event names "
			    "%zu",
			    events->n);
	opts->report.per_call = true;
	opts->per_alone = !opts->data && !opts->report.fail_under &&
			  opts->selection.units == UNITS_DEFAULT &&
			  report_alone(&opts->report, REPORT_TIMES);
	if (event_arcs_check(&events->events[0]))
		return -1;
	return time_check(opts, "per");
}

/* Check that the options go together, and set those that follow from others. */
static int
options_check(struct options *opts)
{
	if (opts->request != REQUEST_NONE)
		return request_check(opts);
	if (opts->once && once_check(opts))
		return -1;
	if ((opts->time || opts->trace) &&
	    time_check(opts, opts->trace ? "trace" : "time"))
		return -1;
	if (opts->ring && !opts->trace)
		return fail("--ring needs --trace");
	if (opts->per.funcs.n && per_check(opts))
		return -1;
	if (opts->time || opts->per.funcs.n)
		report_want(&opts->report, REPORT_TIMES);
	if (opts->argv && opts->npids)
		return fail("give either a program or -p, not both");
	if (opts->stat && !opts->selection.objects.n)
		select_glob(&opts->selection.objects, "*");
	if (opts->stat && !opts->report.events.n)
		events_add_mix(&opts->report.events);
	if (opts->deterministic && opts->npids)
		return fail("--deterministic cannot be used with -p: the "
			    "process runs already");
	/* A trace needs no counts. */
	if (opts->trace && !opts->data && !opts->report.nwants &&
	    opts->selection.units == UNITS_DEFAULT)
		opts->selection.units = 1U << UNIT_FUNC;
	/* Data files hold all units, whatever is reported now. */
	if (opts->data && opts->selection.units == UNITS_DEFAULT)
		opts->selection.units = UNITS_SAVED;
	if (opts->no_traps && (!opts->npids || opts->patch != PATCH_AUTO))
		return fail("--no-traps can be used only with -p and without "
			    "--patch");
	if (opts->no_traps &&
	    (opts->separate != SEPARATE_NONE || opts->follow != FOLLOW_ALL))
		return fail("--no-traps cannot be used with --%s: it counts "
			    "all threads and processes in the same memory",
			    opts->follow == FOLLOW_ALL ? "separate" :
							 "follow=none");
	if (opts->no_traps && opts->data)
		opts->selection.units &= ~(1U << UNIT_CALL);
	if (opts->once && opts->data)
		opts->selection.units &= ~(1U << UNIT_EDGE | 1U << UNIT_CALL);
	if (opts->host && opts->remote)
		return fail("give either --host or --remote, not both");
	if ((opts->host || opts->remote) && opts->npids)
		return fail("--%s cannot be used with -p",
			    opts->host ? "host" : "remote");
	report_choose(&opts->report, &opts->selection);
	if (event_limits_check(&opts->report.events, false))
		return -1;
	if (opts->once)
		opts->selection.units &= ~(1U << UNIT_EDGE | 1U << UNIT_CALL);
	if (opts->no_traps && opts->selection.units & 1U << UNIT_CALL)
		return fail("--no-traps cannot count calls: they need "
			    "breakpoints");
	if (!opts->argv && !opts->npids && opts->data)
		return fail("no program to run and no -p; \"%s\" was taken as "
			    "the file of -d (use -d -- PROGRAM)",
			    opts->data);
	if (!opts->argv && !opts->npids)
		return fail("no program to run and no -p; try pmon -h");
	if (opts->argv && !*opts->argv[0])
		return fail("the program's name is empty");
	return 0;
}

int
options_parse(struct options *opts, int argc, char **argv)
{
	bool *given = mem_alloc(option_table_size(&options_table));
	int first, err;

	*opts = (struct options){
		.report = report_usual,
		.save_every = 10,
	};
	first = option_table_read(&options_table, opts, given, argc, argv);
	err = first < 0 ? -1 : 0;
	if (!err && first < argc)
		opts->argv = argv + first;
	if (!err && !option_about_any(&opts->about)) {
		if (!opts->no_config)
			err = config_read(&options_table, opts, given);
		if (!err)
			err = options_check(opts);
	}
	free(given);
	return err;
}

int
options_complete(const struct options *opts, FILE *out)
{
	return option_table_complete(&options_table, opts->about.completion,
				     out);
}

void
options_free(struct options *opts)
{
	select_free(&opts->selection);
	select_free(&opts->per);
	report_options_free(&opts->report);
	for (size_t i = 0; i < opts->nslows; i++)
		select_free(&opts->slows[i].of);
	free(opts->slows);
	free(opts->pids);
	for (size_t i = 0; i < opts->nconfigs; i++)
		free(opts->configs[i]);
	free(opts->configs);
	free(opts->warning);
}

void
options_help(FILE *out)
{
	fputs("usage: pmon [options] [--] program [argument ...]\n"
	      "       pmon [options] -p PID\n"
	      "Count exactly how often functions and source lines of a "
	      "program run.\n"
	      "The program's own input and output are left alone.\n"
	      "\n",
	      out);
	option_table_help(&options_table, out);
	fputs("\n"
	      "--func, --file, --line, --object may be repeated; a GLOB that "
	      "begins with '!'\n"
	      "excludes what it matches.  Defaults are in parentheses.\n",
	      out);
}

void
options_version(FILE *out)
{
	option_version(&options_table, out);
}
