/*
 * Chooses how reports look where they are written to: what is for a person at a
 * terminal is not for files and pipes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/printable.h"
#include "report/report.h"

enum { COLUMNS_LEAST = 40 };

static size_t
terminal_columns(int fd)
{
	struct winsize size;

	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= COLUMNS_LEAST ?
		       size.ws_col :
		       COLUMNS_USUAL;
}

static size_t
columns_choose(const struct report_options *opts, int fd)
{
	const char *given = getenv("COLUMNS");
	unsigned long columns = given ? strtoul(given, NULL, 10) : 0;

	if (opts->columns)
		return opts->columns;
	if (opts->wide || fd < 0)
		return WIDTH_ALL;
	if (columns >= COLUMNS_LEAST && columns < WIDTH_ALL)
		return columns;
	if (isatty(fd))
		return terminal_columns(fd);
	return opts->paged && fd == STDOUT_FILENO ? opts->paged : WIDTH_ALL;
}

/* As programs agree on: https://no-color.org, and terminals without any. */
static bool
colours_choose(const struct report_options *opts, bool terminal)
{
	const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");

	if (opts->color != WHEN_AUTO)
		return opts->color == WHEN_ALWAYS;
	return terminal && !(none && *none) && kind && strcmp(kind, "dumb");
}

size_t
report_style(const struct report_options *opts, FILE *out)
{
	int fd = fileno(out);
	bool person = fd >= 0 &&
		      (isatty(fd) || (opts->paged && fd == STDOUT_FILENO));

	text_style(person, colours_choose(opts, person));
	return columns_choose(opts, fd);
}

void
report_paged(struct report_options *opts)
{
	opts->paged = terminal_columns(STDOUT_FILENO);
}
