/*
 * Tells of slow calls while the program runs.  Measures nothing: times.c does.
 */
#include "monitor/client/slow_calls.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

uint64_t
slow_limit(const struct options *opts, const struct func *func)
{
	uint64_t least = 0;

	for (size_t i = 0; i < opts->nslows; i++) {
		const struct slow_option *slow = &opts->slows[i];

		if (select_func(&slow->of, func->name, func->aliases,
				func->naliases) &&
		    (!least || slow->ns < least))
			least = slow->ns;
	}
	return least;
}

static char *
frame_name(const struct run *run, const struct slow_frame *frame)
{
	const struct plan *plan = frame->plan;
	uint32_t func = plan->fplans[frame->fplan].func;

	return name_shown(plan->image->funcs[func].name,
			  run->opts->report.demangle);
}

void
slow_call(struct run *run, pid_t tid, uint64_t ns,
	  const struct slow_frame *frames, size_t n)
{
	size_t first = n > SLOW_FRAMES ? n - SLOW_FRAMES : 0;
	char *name = frame_name(run, &frames[n - 1]), *time = text_time(ns);
	char *where = mem_strdup(first ? "..." : ""), *text;

	for (size_t i = first; i < n; i++) {
		char *frame = frame_name(run, &frames[i]);

		where = mem_append(where, " > ", frame);
		free(frame);
	}
	text = mem_printf("%s took %s in thread %d: %s", name, time, (int)tid,
			  where);
	if (!run->tell(text))
		run_remark(run, "standard error was full: some slow calls were "
				"not told");
	free(text);
	free(where);
	free(time);
	free(name);
}
