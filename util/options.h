/*
 * Command lines: one table of options makes the parser, -h and the one-letter
 * forms.  What the options are is each program's.
 */
#ifndef UTIL_OPTIONS_H
#define UTIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Where an option may be set: on the command line only, in a file of the
 * user's, too, or also in one of a project, which may come from anybody and
 * so must not name files that are written or what is run.
 */
enum option_trust { TRUST_COMMAND, TRUST_USER, TRUST_PROJECT };

/*
 * One option.  arg names its argument, NULL if it takes none; help is a
 * sentence whose lines are already cut to the width left for them.  set puts
 * the argument into what the options are read into; 0, or -1 with the
 * message.
 */
struct option_entry {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	int (*set)(void *into, const char *arg);
	enum option_trust trust;
	const char *words;	/* the argument is one of these, separated by
				   spaces, or with arg "LIST" several,
				   separated by commas; NULL: anything */
	bool last;		/* what follows does not count: -h */
	bool optional;		/* the argument may be left out, and is then
				   NULL: taken as one is the next word, unless
				   it begins with '-' ... */
	bool joined;		/* ... or only what follows a '=' */
};

/* Options that are read into one structure, and where that is. */
struct option_group {
	const struct option_entry *entries;
	size_t n;
	size_t offset;		/* of it in the program's options */
};

struct option_table {
	const char *program;	/* for messages */
	const struct option_group *groups;	/* in the order of -h */
	size_t ngroups;
	bool mixed;		/* options may follow other arguments, which
				   are then moved behind them */
};

/* A word an option may be given, and what it stands for. */
struct option_word {
	const char *name;
	int value;
};

/* What a program is asked about itself: then nothing else counts. */
struct option_about {
	bool help, version;
	const char *completion;	/* the shell for which to print it, or NULL */
};

enum { ABOUT_OPTIONS = 3 };
extern const struct option_entry about_entries[ABOUT_OPTIONS];

bool option_about_any(const struct option_about *about);

/* The program's version and those of the libraries it was built against. */
void option_version(const struct option_table *table, FILE *out);

/* How many options there are. */
size_t option_table_size(const struct option_table *table);

/*
 * Set all options in argv; the index of the first other argument, or -1 with
 * the message.  given, if not NULL, has a place for each option, which is set
 * for those that were there.
 */
int option_table_read(const struct option_table *table, void *into,
		      bool *given, int argc, char **argv);

/*
 * Set one option by its long name, unless it is among those given; it must be
 * trusted as much.  arg is NULL if there is none, and must last as long as
 * the options.  It is noted in `here`.  0, or -1 with the message.
 */
int option_table_set(const struct option_table *table, void *into,
		     const bool *given, bool *here, enum option_trust trust,
		     const char *name, const char *arg);

void option_table_help(const struct option_table *table, FILE *out);

/*
 * completion.c: print what makes bash, zsh or fish complete the options; 0,
 * or -1 with the message.
 */
int option_table_complete(const struct option_table *table, const char *shell,
			  FILE *out);
/* Number i of all options together. */
const struct option_entry *option_table_at(const struct option_table *table,
					   size_t i);

/* A decimal number from min to max, digits only; 0 or -1. */
int option_number(const char *option, const char *arg, unsigned long min,
		  unsigned long max, unsigned long *value);

/* The name of a file, which is not empty; 0 or -1. */
int option_file(const char *option, const char *arg, const char **file);

/*
 * The value, not negative, of arg, one of n words, which `choice` lists for
 * the message; or -1.
 */
int option_word(const char *option, const char *arg,
		const struct option_word *words, size_t n,
		const char *choice);

#endif
