/*
 * Shows what takes long, in one line that is erased in the end.  Only looks at
 * the clock when it is called.
 */
#include "report/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/printable.h"
#include "util/clock.h"
#include "util/mem.h"

static const double AFTER = 1;	/* seconds */

struct progress
progress_begin(int fd, bool quiet, const char *text, const char *name)
{
	return (struct progress){
		.fd = quiet || !isatty(fd) ? -1 : fd,
		.started = clock_seconds(),
		.text = text,
		.name = name,
	};
}

void
progress_step(struct progress *progress)
{
	char *name;

	if (progress->fd < 0 || progress->shown ||
	    clock_seconds() - progress->started < AFTER)
		return;
	name = text_line(progress->name ? progress->name : "");
	dprintf(progress->fd, "%s%s ...\r", progress->text, name);
	free(name);
	progress->shown = true;
}

void
progress_end(struct progress *progress)
{
	if (progress->shown)
		dprintf(progress->fd, "\r\033[K");
	progress->shown = false;
	progress->fd = -1;
}
