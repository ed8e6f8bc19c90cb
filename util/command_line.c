/*
 * Makes getopt_long's tables, the messages and the text of -h from a table of
 * options.  The only user of getopt_long.  Never prints an error: main does.
 */
#include "util/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	LONG_BASE = 256,		/* getopt_long's values start here */
	HELP_INDENT = 29,
};

int
option_number(const char *option, const char *arg, unsigned long min,
	      unsigned long max, unsigned long *value)
{
	errno = 0;
	if (!*arg || arg[strspn(arg, "0123456789")])
		return fail("%s: \"%s\" is not a number", option, arg);
	*value = strtoul(arg, NULL, 10);
	if (errno == ERANGE || *value < min || *value > max)
		return fail("%s: %s is out of range (%lu to %lu)", option, arg,
			    min, max);
	return 0;
}

const char *
decimal_read(const char *s, unsigned decimals, uint64_t *n)
{
	const char *digits = "0123456789";
	size_t whole = strspn(s, digits);
	size_t point = decimals && s[whole] == '.';
	size_t part = point ? strspn(s + whole + 1, digits) : 0;
	bool large = false;

	*n = 0;
	for (size_t i = 0; i < whole + decimals; i++) {
		char c = i < whole + part ? s[i < whole ? i : i + 1] : '0';

		large |= __builtin_mul_overflow(*n, 10, n);
		large |= __builtin_add_overflow(*n, (uint64_t)(c - '0'), n);
	}
	if (large)
		*n = UINT64_MAX;
	return whole + part && part <= decimals ? s + whole + point + part :
						  NULL;
}

int
option_word(const char *option, const char *arg,
	    const struct option_word *words, size_t n)
{
	char *all = mem_strdup("");

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(arg, words[i].name)) {
			free(all);
			return words[i].value;
		}
		all = mem_join(all, words[i].name);
	}
	fail("%s: unknown word \"%s\"; choose from %s", option, arg, all);
	free(all);
	return -1;
}

int
option_file(const char *option, const char *arg, const char **file)
{
	if (!*arg)
		return fail("%s: the file name is empty", option);
	*file = arg;
	return 0;
}

/* ---- about the program itself */

static int
set_completion(void *into, const char *arg)
{
	struct option_about *about = into;

	about->completion = arg;
	return 0;
}

const struct option_entry about_entries[ABOUT_OPTIONS] = {
	{ "completion", 0, "SHELL",
	  "print a completion script for bash, zsh or\n"
	  "fish, and exit",
	  set_completion, .words = "bash zsh fish", .last = true },
	{ "help", 'h', NULL, "print this help and exit",
	  .flag = offsetof(struct option_about, help), .last = true },
	{ "version", 'V', NULL, "print the version and the libraries' versions",
	  .flag = offsetof(struct option_about, version), .last = true },
};

bool
option_about_any(const struct option_about *about)
{
	return about->help || about->version || about->completion;
}

void
option_version(const struct option_table *table, FILE *out)
{
	fprintf(out, "%s %s\n", table->program, PMON_VERSION);
#ifdef PMON_LIBRARIES
	fprintf(out, "built with %s\n", PMON_LIBRARIES);
#endif
}

/* ---- the table */

/* An option, and its structure's offset in the program's options. */
struct found {
	const struct option_entry *entry;
	size_t offset;
};

static int
found_set(const struct found *found, void *options, const char *arg)
{
	char *into = (char *)options + found->offset;

	if (found->entry->set)
		return found->entry->set(into, arg);
	*(bool *)(into + found->entry->flag) = true;
	return 0;
}

size_t
option_table_size(const struct option_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->ngroups; i++)
		n += table->groups[i].n;
	return n;
}

/* Option number i, counted through all groups. */
static struct found
entry_at(const struct option_table *table, size_t i)
{
	const struct option_group *group = table->groups;

	for (; i >= group->n; group++)
		i -= group->n;
	return (struct found){ &group->entries[i], group->offset };
}

const struct option_entry *
option_table_at(const struct option_table *table, size_t i)
{
	return entry_at(table, i).entry;
}

/* An option's number; the number of options if it is not in the table. */
static size_t
entry_number(const struct option_table *table, const struct option_entry *entry)
{
	size_t i = 0, n = option_table_size(table);

	while (i < n && entry_at(table, i).entry != entry)
		i++;
	return i;
}

/* The option of a value that getopt_long returned; its entry may be NULL. */
static struct found
entry_find(const struct option_table *table, int value)
{
	size_t n = option_table_size(table);

	if (value >= LONG_BASE && (size_t)value - LONG_BASE < n)
		return entry_at(table, (size_t)value - LONG_BASE);
	for (size_t i = 0; i < n; i++) {
		struct found found = entry_at(table, i);

		if (found.entry->letter && found.entry->letter == value)
			return found;
	}
	return (struct found){ 0 };
}

static size_t
entries_beginning(const struct option_table *table, const char *name,
		  size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < option_table_size(table); i++)
		n += !strncmp(entry_at(table, i).entry->name, name, len);
	return n;
}

/* Say what is wrong with `word`, which getopt_long has refused; -1. */
static int
refuse(const struct option_table *table, const char *word, int result,
       int value)
{
	const struct option_entry *entry = entry_find(table, value).entry;
	const char *program = table->program;
	size_t len;

	if (entry && result == ':')
		return fail("option --%s needs %s", entry->name, entry->arg);
	if (entry && value >= LONG_BASE)
		return fail("option --%s takes no argument", entry->name);
	if (value)
		return fail("unknown option -%c; try %s -h", value, program);
	len = strcspn(word + 2, "=");
	if (entries_beginning(table, word + 2, len) > 1)
		return fail("option --%.*s is ambiguous; try %s -h", (int)len,
			    word + 2, program);
	return fail("unknown option --%.*s; try %s -h", (int)len, word + 2,
		    program);
}

/* The short options, and the long ones, for getopt_long; to be freed. */
static char *
getopt_shorts(const struct option_table *table)
{
	size_t n = option_table_size(table);
	char *shorts = mem_alloc(3 * n + 3), *end = shorts;

	/* Options end at the first other argument. */
	if (!table->mixed)
		*end++ = '+';
	/* getopt_long returns ':' for a missing argument. */
	*end++ = ':';
	for (size_t i = 0; i < n; i++) {
		const struct option_entry *entry = entry_at(table, i).entry;

		if (!entry->letter)
			continue;
		*end++ = entry->letter;
		if (entry->arg)
			*end++ = ':';
		if (entry->optional)
			*end++ = ':';
	}
	return shorts;
}

static struct option *
getopt_longs(const struct option_table *table)
{
	size_t n = option_table_size(table);
	struct option *longs = mem_alloc((n + 1) * sizeof(*longs));

	for (size_t i = 0; i < n; i++) {
		const struct option_entry *entry = entry_at(table, i).entry;

		longs[i] = (struct option){
			.name = entry->name,
			.has_arg = !entry->arg	   ? no_argument :
				   entry->optional ? optional_argument :
						     required_argument,
			.val = LONG_BASE + (int)i,
		};
	}
	return longs;
}

/*
 * Set the option of the value c, which getopt_long has returned.  1 if no
 * options are read behind it, else 0; or -1 with the message set.
 */
static int
entry_set(const struct option_table *table, void *into, bool *given, int argc,
	  char **argv, int c)
{
	const char *arg = optarg;
	struct found found;

	if (c == '?' || c == ':')
		return refuse(table, argv[optind - 1], c, optopt);
	found = entry_find(table, c);
	must(found.entry);
	if (found.entry->optional && !found.entry->joined && !arg &&
	    optind < argc && *argv[optind] != '-')
		arg = argv[optind++];
	if (found_set(&found, into, arg))
		return -1;
	if (given)
		given[entry_number(table, found.entry)] = true;
	return found.entry->last;
}

int
option_table_read(const struct option_table *table, void *into, bool *given,
		  int argc, char **argv)
{
	struct option *longs = getopt_longs(table);
	char *shorts = getopt_shorts(table);
	int c, done = 0;

	opterr = 0;
	optind = 0;
	while (!done &&
	       (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		done = entry_set(table, into, given, argc, argv, c);
	free(longs);
	free(shorts);
	return done < 0 ? -1 : optind;
}

int
option_table_set(const struct option_table *table, void *into,
		 const struct option_file *file, const char *name,
		 const char *arg)
{
	struct found found = { 0 };
	size_t i;

	for (i = 0; i < option_table_size(table); i++) {
		found = entry_at(table, i);
		if (!strcmp(found.entry->name, name))
			break;
	}
	if (i == option_table_size(table))
		return fail("unknown option \"%s\"", name);
	if (found.entry->trust < file->trust)
		return fail(
			"%s: only %s", name,
			found.entry->trust == TRUST_USER ?
				"the command line or ~/.config/pmon may set this" :
				"the command line may set this");
	if (arg && !found.entry->arg)
		return fail("%s takes no argument", name);
	if (!arg && found.entry->arg && !found.entry->optional)
		return fail("%s needs %s", name, found.entry->arg);
	if (file->given[i])
		return 0;
	file->here[i] = true;
	return found_set(&found, into, arg);
}

static void
entry_help(const struct option_entry *entry, FILE *out)
{
	const char *line = entry->help;
	int column;

	column = entry->letter ? fprintf(out, "  -%c, ", entry->letter) :
				 fprintf(out, "      ");
	column += fprintf(out, "--%s", entry->name);
	if (entry->arg)
		column += fprintf(out, entry->optional ? "[=%s]" : "=%s",
				  entry->arg);
	if (column >= HELP_INDENT) {
		fputc('\n', out);
		column = 0;
	}
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
option_table_help(const struct option_table *table, FILE *out)
{
	for (size_t i = 0; i < option_table_size(table); i++)
		entry_help(entry_at(table, i).entry, out);
}
