/*
 * Reads command lines: the parser, -h, and completion in shells all come from
 * one table of options.  Has no options of its own but --help, --version and
 * --completion; each program has its table.
 */
#ifndef UTIL_COMMAND_LINE_H
#define UTIL_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Where an option may be set: only on the command line; also in the user's
 * configuration file; or also in a project's.  A project may come from
 * anybody, so its file must not name files to be written or programs to run.
 */
enum option_trust { TRUST_COMMAND, TRUST_USER, TRUST_PROJECT };

/*
 * One option.  arg names its argument, NULL if it takes none; help is a
 * sentence, already cut into lines of the right width.  set stores the
 * argument in the structure `into`; 0, or -1 with the message set.  Without set
 * the option sets a bool there.
 */
struct option_entry {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	int (*set)(void *into, const char *arg);
	size_t flag;		/* the bool's offset */
	enum option_trust trust;
	const char *words;	/* the argument is one of these, separated by
				   spaces, or with arg "LIST" several,
				   separated by commas; NULL: anything */
	bool last;		/* ignore all that follows, as for -h */
	bool optional;		/* the argument may be left out, and is then
				   NULL; the next word is the argument unless
				   it begins with '-' ... */
	bool joined;		/* ... or only if it is joined by '=' */
};

/* Options that are read into one structure. */
struct option_group {
	const struct option_entry *entries;
	size_t n;
	size_t offset;		/* of the structure in the program's options */
};

struct option_table {
	const char *program;	/* for messages */
	const struct option_group *groups;	/* in the order of -h */
	size_t ngroups;
	bool mixed;		/* options may follow other arguments, which
				   are then moved behind them */
};

/* A word that may be an option's argument, and what it stands for. */
struct option_word {
	const char *name;
	int value;
};

/* Questions about the program itself, which does nothing else then. */
struct option_about {
	bool help, version;
	const char *completion;	/* the shell for which to print it, or NULL */
};

enum { ABOUT_OPTIONS = 3 };
extern const struct option_entry about_entries[ABOUT_OPTIONS];

/* Was anything asked? */
bool option_about_any(const struct option_about *about);

/* Print the versions of the program and of the libraries it is built with. */
void option_version(const struct option_table *table, FILE *out);

/* How many options there are. */
size_t option_table_size(const struct option_table *table);

/*
 * Set all options in argv.  Returns the index of the first other argument, or
 * -1 with the message set.  given, if not NULL, has a flag for each option of
 * the table; those of the options in argv are set.
 */
int option_table_read(const struct option_table *table, void *into, bool *given,
		      int argc, char **argv);

/* A file that options are read from, with a flag for each of the table. */
struct option_file {
	const bool *given;	/* was set before, and keeps its value */
	bool *here;		/* is set by the file */
	enum option_trust trust;
};

/*
 * Set one option by its long name, as read from the file.  arg is NULL if there
 * is none, and must last as long as the options.  0, or -1 with the message
 * set: no such option, not to be set there, or a wrong argument.
 */
int option_table_set(const struct option_table *table, void *into,
		     const struct option_file *file, const char *name,
		     const char *arg);

/* Print the options and their help. */
void option_table_help(const struct option_table *table, FILE *out);

/*
 * completion.c: print the script that makes bash, zsh or fish complete the
 * options; 0, or -1 with the message set.
 */
int option_table_complete(const struct option_table *table, const char *shell,
			  FILE *out);
/* Option number i, counted through all groups. */
const struct option_entry *option_table_at(const struct option_table *table,
					   size_t i);

/*
 * Read a decimal number from min to max, of digits only; 0, or -1 with the
 * message set.
 */
int option_number(const char *option, const char *arg, unsigned long min,
		  unsigned long max, unsigned long *value);

/*
 * Read a number such as 2.5 at the beginning of s, in units of the last of
 * `decimals` decimals, of which fewer may be written: 2500 if these are 3.
 * UINT64_MAX if it is larger.  Returns what follows it, or NULL if s begins with
 * no such number.
 */
const char *decimal_read(const char *s, unsigned decimals, uint64_t *n);

/* Check that a file's name is not empty; 0, or -1 with the message set. */
int option_file(const char *option, const char *arg, const char **file);

/*
 * The value of arg, which must be one of n words, none of which may have a
 * negative value; or -1 with the message set, which lists the words.
 */
int option_word(const char *option, const char *arg,
		const struct option_word *words, size_t n);

#endif
