/*
 * The command line.  Owns the table of options, from which getopt_long's
 * arrays, the one-letter forms and -h are made; turns arguments into struct
 * options.  Never prints but when asked for help or the version, and never
 * exits.
 */
#include "monitor/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	TOP_DEFAULT = 20,
	COLUMNS = 80,
	DURATION_MAX = 1000000000,	/* seconds */
	LONG_BASE = 256,		/* getopt_long's values start here */
	HELP_INDENT = 29,
};

/*
 * One option.  arg names its argument, NULL if it takes none; help is a
 * sentence whose lines are already cut to the width left for them.
 */
struct option_entry {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	int (*set)(struct options *opts, const char *arg);
};

/* A word an option may be given, and what it stands for. */
struct word {
	const char *name;
	int value;
};

/* A decimal number from min to max, digits only; 0 or -1. */
static int
number_parse(const char *option, const char *arg, unsigned long min,
	     unsigned long max, unsigned long *value)
{
	errno = 0;
	if (!*arg || arg[strspn(arg, "0123456789")])
		return fail("%s: \"%s\" is not a number", option, arg);
	*value = strtoul(arg, NULL, 10);
	if (errno == ERANGE || *value < min || *value > max)
		return fail("%s: %s is not from %lu to %lu", option, arg, min,
			    max);
	return 0;
}

/*
 * The value of arg, one of n words, which `choice` lists for the message;
 * or -1.
 */
static int
word_parse(const char *option, const char *arg, const struct word *words,
	   size_t n, const char *choice)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(arg, words[i].name))
			return words[i].value;
	return fail("%s: \"%s\" is none of %s", option, arg, choice);
}

static int
set_units(struct options *opts, const char *arg)
{
	return select_units(&opts->selection, arg);
}

static int
set_func(struct options *opts, const char *arg)
{
	select_glob(&opts->selection.funcs, arg);
	return 0;
}

static int
set_file(struct options *opts, const char *arg)
{
	select_glob(&opts->selection.files, arg);
	return 0;
}

static int
set_line(struct options *opts, const char *arg)
{
	return select_line(&opts->selection, arg);
}

static int
set_object(struct options *opts, const char *arg)
{
	select_glob(&opts->selection.objects, arg);
	return 0;
}

static int
set_patch(struct options *opts, const char *arg)
{
	static const struct word words[] = {
		{ "auto", PATCH_AUTO },
		{ "step", PATCH_STEP },
		{ "slot", PATCH_SLOT },
		{ "emulate", PATCH_EMULATE },
	};
	int value;

	value = word_parse("--patch", arg, words,
			   sizeof(words) / sizeof(words[0]),
			   "step, slot, emulate and auto");
	if (value < 0)
		return -1;
	opts->patch = value;
	return 0;
}

static int
set_follow(struct options *opts, const char *arg)
{
	static const struct word words[] = {
		{ "all", FOLLOW_ALL },
		{ "none", FOLLOW_NONE },
	};
	int value;

	value = word_parse("--follow", arg, words,
			   sizeof(words) / sizeof(words[0]), "all and none");
	if (value < 0)
		return -1;
	opts->follow = value;
	return 0;
}

static int
set_output(struct options *opts, const char *arg)
{
	if (!*arg)
		return fail("--output: the file name is empty");
	opts->output = arg;
	return 0;
}

static int
set_pid(struct options *opts, const char *arg)
{
	unsigned long pid;

	if (number_parse("--pid", arg, 1, INT_MAX, &pid))
		return -1;
	for (size_t i = 0; i < opts->npids; i++)
		if (opts->pids[i] == (pid_t)pid)
			return fail("--pid: process %lu is given twice", pid);
	*vec_push(opts->pids, opts->npids) = pid;
	return 0;
}

static int
set_duration(struct options *opts, const char *arg)
{
	const char *digits = "0123456789";
	size_t whole = strspn(arg, digits);
	size_t point = arg[whole] == '.';
	size_t part = point ? strspn(arg + whole + 1, digits) : 0;
	double value;

	if (whole + part == 0 || arg[whole + point + part])
		return fail("--duration: \"%s\" is not a number of seconds",
			    arg);
	value = strtod(arg, NULL);
	if (!(value > 0 && value <= DURATION_MAX))
		return fail("--duration: %s is not more than 0 and up to %d",
			    arg, DURATION_MAX);
	opts->duration = value;
	return 0;
}

static int
set_report(struct options *opts, const char *arg)
{
	return report_parse(&opts->report, arg);
}

static int
set_top(struct options *opts, const char *arg)
{
	unsigned long top;

	if (number_parse("--top", arg, 1, INT_MAX, &top))
		return -1;
	opts->report.top = top;
	return 0;
}

static int
set_no_demangle(struct options *opts, const char *arg)
{
	opts->report.demangle = false;
	return 0;
}

static int
set_source_path(struct options *opts, const char *arg)
{
	struct report_options *report = &opts->report;

	if (*arg == '=' || !strchr(arg, '='))
		return fail("--source-path: \"%s\" is not OLD=NEW", arg);
	*vec_push(report->source_paths, report->nsource_paths) = arg;
	return 0;
}

static int
set_help(struct options *opts, const char *arg)
{
	opts->help = true;
	return 0;
}

static int
set_version(struct options *opts, const char *arg)
{
	opts->version = true;
	return 0;
}

static const struct option_entry table[] = {
	{ "units", 'u', "LIST",
	  "what to count: func,line,inline\n"
	  "(functions, and lines if there are any)", set_units },
	{ "func", 0, "GLOB", "only functions so named", set_func },
	{ "file", 0, "GLOB", "only code from source files so named",
	  set_file },
	{ "line", 0, "FILE:LO-HI", "only these lines", set_line },
	{ "object", 0, "GLOB",
	  "only programs and libraries so named\n"
	  "(the programs run); '*' is all", set_object },
	{ "patch", 0, "KIND", "how to count: step, slot, emulate,\nauto (auto)",
	  set_patch },
	{ "follow", 0, "WHICH",
	  "child processes to count: all, none (all)", set_follow },
	{ "pid", 'p', "PID", "attach to this process; may be repeated",
	  set_pid },
	{ "duration", 0, "SECONDS", "end after this time", set_duration },
	{ "output", 'o', "FILE", "write the report there, not to stderr",
	  set_output },
	{ "report", 'r', "LIST",
	  "reports to write, each KIND or KIND:FILE:\n"
	  "summary, listing, hist, hist:scaled,\n"
	  "hist:log, funcs, inlines, uncovered (summary)", set_report },
	{ "top", 0, "N", "so many of the hottest in the summary (20)",
	  set_top },
	{ "no-demangle", 0, NULL, "print C++ names as the linker has them",
	  set_no_demangle },
	{ "source-path", 0, "OLD=NEW",
	  "look for source files under NEW, not OLD", set_source_path },
	{ "help", 'h', NULL, "print this and exit", set_help },
	{ "version", 'V', NULL,
	  "print the versions of pmon and what it uses", set_version },
};

enum { OPTIONS = sizeof(table) / sizeof(table[0]) };

/* The entry of a value returned by getopt_long; NULL if there is none. */
static const struct option_entry *
entry_find(int value)
{
	if (value >= LONG_BASE && value < LONG_BASE + OPTIONS)
		return &table[value - LONG_BASE];
	for (size_t i = 0; i < OPTIONS; i++)
		if (table[i].letter && table[i].letter == value)
			return &table[i];
	return NULL;
}

static size_t
entries_beginning(const char *name, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < OPTIONS; i++)
		n += !strncmp(table[i].name, name, len);
	return n;
}

/* Say what was wrong with `word`, an argument getopt_long refused. */
static int
refuse(const char *word, int result, int value)
{
	const struct option_entry *entry = entry_find(value);
	size_t len;

	if (entry && result == ':')
		return fail("option --%s needs %s", entry->name, entry->arg);
	if (entry && value >= LONG_BASE)
		return fail("option --%s takes no argument", entry->name);
	if (value)
		return fail("unknown option -%c; try pmon -h", value);
	len = strcspn(word + 2, "=");
	if (entries_beginning(word + 2, len) > 1)
		return fail("option --%.*s could be several; try pmon -h",
			    (int)len, word + 2);
	return fail("unknown option --%.*s; try pmon -h", (int)len, word + 2);
}

/* Fill what getopt_long wants: short forms, and OPTIONS + 1 longs. */
static void
getopt_tables(char *shorts, struct option *longs)
{
	/* Options end at the program's name; say ':' for what is missing. */
	*shorts++ = '+';
	*shorts++ = ':';
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_entry *entry = &table[i];

		longs[i] = (struct option){
			.name = entry->name,
			.has_arg = entry->arg ? required_argument
					      : no_argument,
			.val = LONG_BASE + i,
		};
		if (!entry->letter)
			continue;
		*shorts++ = entry->letter;
		if (entry->arg)
			*shorts++ = ':';
	}
	*shorts = '\0';
	longs[OPTIONS] = (struct option){ 0 };
}

/* The options proper; optind is left at the first other argument. */
static int
options_read(struct options *opts, int argc, char **argv)
{
	struct option longs[OPTIONS + 1];
	char shorts[2 * OPTIONS + 3];
	int c;

	getopt_tables(shorts, longs);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_entry *entry;

		if (c == '?' || c == ':')
			return refuse(argv[optind - 1], c, optopt);
		entry = entry_find(c);
		must(entry);
		if (entry->set(opts, optarg))
			return -1;
		if (opts->help || opts->version)
			break;
	}
	return 0;
}

int
options_parse(struct options *opts, int argc, char **argv)
{
	*opts = (struct options){
		.report = {
			.top = TOP_DEFAULT,
			.demangle = true,
			.columns = COLUMNS,
		},
	};
	if (options_read(opts, argc, argv))
		return -1;
	if (opts->help || opts->version)
		return 0;
	if (optind < argc)
		opts->argv = argv + optind;
	if (opts->argv && opts->npids)
		return fail("either a program or -p, not both");
	if (!opts->argv && !opts->npids)
		return fail("no program to run and no -p; try pmon -h");
	if (opts->argv && !*opts->argv[0])
		return fail("the program's name is empty");
	return 0;
}

void
options_free(struct options *opts)
{
	select_free(&opts->selection);
	report_options_free(&opts->report);
	free(opts->pids);
}

static void
entry_help(const struct option_entry *entry, FILE *out)
{
	const char *line = entry->help;
	int column;

	column = entry->letter ? fprintf(out, "  -%c, ", entry->letter)
			       : fprintf(out, "      ");
	column += fprintf(out, "--%s%s%s", entry->name, entry->arg ? "=" : "",
			  entry->arg ? entry->arg : "");
	for (;;) {
		size_t len = strcspn(line, "\n");

		fprintf(out, "%*s%.*s\n", HELP_INDENT - column, "", (int)len,
			line);
		if (!line[len])
			return;
		line += len + 1;
		column = 0;
	}
}

void
options_help(FILE *out)
{
	fputs("usage: pmon [options] [--] program [argument ...]\n"
	      "       pmon [options] -p PID\n"
	      "Count exactly how often functions and source lines of a "
	      "program run.\n"
	      "The program's own input and output are left alone.\n"
	      "\n", out);
	for (size_t i = 0; i < OPTIONS; i++)
		entry_help(&table[i], out);
	fputs("\n"
	      "--func, --file, --line, --object may be repeated; a GLOB that "
	      "begins with '!'\n"
	      "excludes.  In parentheses is what holds if an option is not "
	      "given.\n", out);
}

void
options_version(FILE *out)
{
	fprintf(out, "pmon %s\n", PMON_VERSION);
#ifdef PMON_LIBRARIES
	fprintf(out, "built with %s\n", PMON_LIBRARIES);
#endif
}
