/*
 * Options from PMON_OPTIONS and from files: finds .pmonrc and the user's own
 * file, decides whether to trust them, and reads their lines.  Never writes, and
 * never prints.
 */
#include "monitor/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/regular.h"
#include "util/user_dir.h"

enum { SIZE_MAX_CONFIG = 64 * 1024 };

/* A file of options that is being read. */
struct config {
	const struct option_table *table;
	struct options *opts;
	struct option_file file;
	const char *path;
};

/* ---- lines: NAME, or NAME = VALUE; # begins a comment */

static char *
trimmed(char *s)
{
	char *end;

	s += strspn(s, " \t\r");
	end = s + strlen(s);
	while (end > s && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return s;
}

/* A project's .pmonrc may ask for reports, but not name files for them. */
static int
reports_check(const struct config *config, size_t before)
{
	const struct report_options *report = &config->opts->report;

	for (size_t i = before; i < report->nwants; i++)
		if (config->file.trust == TRUST_PROJECT &&
		    report->wants[i].path)
			return fail("report: %s: only the command line or "
				    "~/.config/pmon may name files to write",
				    report->wants[i].path);
	return 0;
}

static int
line_read(const struct config *config, char *line)
{
	size_t before = config->opts->report.nwants;
	char *name = trimmed(line), *value;

	if (!*name || *name == '#')
		return 0;
	value = strchr(name, '=');
	if (value) {
		*value++ = '\0';
		value = trimmed(value);
		name = trimmed(name);
	}
	if (option_table_set(config->table, config->opts, &config->file, name,
			     value))
		return -1;
	return reports_check(config, before);
}

static int
lines_read(const struct config *config, char *text)
{
	size_t number = 1;

	for (char *next; text; text = next, number++) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		if (line_read(config, text))
			return fail("%s:%zu: %s", config->path, number,
				    fail_message());
	}
	return 0;
}

/* ---- the environment */

/* Read words, "--NAME" or "--NAME=VALUE". */
static int
words_read(const struct config *config, char *text)
{
	static const char blanks[] = " \t\n";
	char *rest = NULL, *word = strtok_r(text, blanks, &rest);
	int err = 0;

	for (; word && !err; word = strtok_r(NULL, blanks, &rest))
		if (strncmp(word, "--", 2))
			err = fail("%s: \"%s\" does not begin with --",
				   config->path, word);
		else if (line_read(config, word + 2))
			err = fail("%s: %s", config->path, fail_message());
	return err;
}

/* ---- files */

/* Why the file is not to be trusted, or NULL. */
static const char *
suspicious(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "not a regular file";
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "owned by another user";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "writable by others";
	return NULL;
}

/* The file's text, which opts->configs owns; NULL with the message. */
static char *
text_read(struct options *opts, int fd, const char *path)
{
	char *text = mem_alloc(SIZE_MAX_CONFIG + 1);
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, SIZE_MAX_CONFIG - len)) > 0)
		len += (size_t)n;
	*vec_push(opts->configs, opts->nconfigs) = text;
	if (n < 0)
		fail("%s: %s", path, strerror(errno));
	else if (len == SIZE_MAX_CONFIG)
		fail("%s: longer than %d bytes", path, SIZE_MAX_CONFIG);
	else if (strlen(text) < len)
		fail("%s: contains a zero byte", path);
	else
		return text;
	return NULL;
}

/* Read the options in the text, which opts->configs owns, by `read`. */
static int
options_read(struct config *config, bool *given, char *text,
	     int (*read)(const struct config *config, char *text))
{
	size_t n = option_table_size(config->table);
	bool *here = mem_alloc(n * sizeof(*here));
	int err;

	config->file.given = given;
	config->file.here = here;
	err = read(config, text);
	for (size_t i = 0; i < n; i++)
		given[i] |= here[i];
	free(here);
	return err;
}

static int
environment_read(const struct option_table *table, struct options *opts,
		 bool *given)
{
	struct config config = {
		table,
		opts,
		{ .trust = TRUST_USER },
		"PMON_OPTIONS",
	};
	const char *words = secure_getenv(config.path);
	char *text;

	if (!words)
		return 0;
	text = mem_strdup(words);
	*vec_push(opts->configs, opts->nconfigs) = text;
	return options_read(&config, given, text, words_read);
}

static int
file_read(const struct option_table *table, struct options *opts, bool *given,
	  const char *path, int fd, enum option_trust trust)
{
	struct config config = { table, opts, { .trust = trust }, path };
	char *text = text_read(opts, fd, path);

	return text ? options_read(&config, given, text, lines_read) : -1;
}

/* A handle (O_PATH): the file is opened only after it is found trustworthy. */
static int
config_open(const char *path)
{
	return open(path, O_PATH | O_CLOEXEC);
}

/* The handle and *path of the nearest .pmonrc, in or above the current dir. */
static int
project_open(char **path)
{
	char *dir = getcwd(NULL, 0), *slash;
	int fd = -1;

	*path = NULL;
	while (dir && fd < 0) {
		free(*path);
		*path = mem_printf("%s/.pmonrc", dir);
		fd = config_open(*path);
		slash = strrchr(dir, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	free(dir);
	return fd;
}

/* Read the file if it is to be trusted, and close the handle. */
static int
file_take(const struct option_table *table, struct options *opts, bool *given,
	  const char *path, int handle, enum option_trust trust)
{
	struct stat st;
	const char *why = fstat(handle, &st) ? strerror(errno) :
					       suspicious(&st);
	int err = 0, fd = why ? -1 : handle_reopen(handle);

	if (fd >= 0)
		err = file_read(table, opts, given, path, fd, trust);
	else if (!why && errno != EACCES)
		err = fail("%s: %s", path, strerror(errno));
	else if (why && !opts->warning)
		opts->warning = mem_printf("%s: not read: %s", path, why);
	if (fd >= 0)
		close(fd);
	close(handle);
	return err;
}

int
config_read(const struct option_table *table, struct options *opts, bool *given)
{
	int fd, err = environment_read(table, opts, given);
	char *path;

	if (err)
		return err;
	fd = project_open(&path);
	if (fd >= 0)
		err = file_take(table, opts, given, path, fd, TRUST_PROJECT);
	free(path);
	path = err ? NULL : user_path("XDG_CONFIG_HOME", ".config");
	fd = path ? config_open(path) : -1;
	/* EACCES is no error: after su, HOME may be another user's. */
	if (fd >= 0)
		err = file_take(table, opts, given, path, fd, TRUST_USER);
	else if (path && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		err = fail("%s: %s", path, strerror(errno));
	free(path);
	return err;
}
