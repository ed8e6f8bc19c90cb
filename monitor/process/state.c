/*
 * What every part of the monitor asks of a run: to keep a remark, the time, and
 * whether pmon is to stop.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/process/notice.h"
#include "monitor/process/task.h"
#include "monitor/run.h"
#include "util/mem.h"

struct remarks {
	char **texts;
	size_t n;
};

void
run_remark(struct run *run, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (!run->remarks)
		run->remarks = mem_alloc(sizeof(*run->remarks));
	for (size_t i = 0; i < run->remarks->n; i++)
		if (!strcmp(run->remarks->texts[i], buf))
			return;
	*vec_push(run->remarks->texts, run->remarks->n) = mem_strdup(buf);
}

char **
run_remarks(const struct run *run, size_t *n)
{
	*n = run->remarks ? run->remarks->n : 0;
	return run->remarks ? run->remarks->texts : NULL;
}

void
remarks_free(struct run *run)
{
	size_t n;
	char **texts = run_remarks(run, &n);

	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
	free(run->remarks);
	run->remarks = NULL;
}

bool
run_signal_shared(struct run *run, pid_t sender)
{
	return run->root.tid && sender && task_find(run, sender) &&
	       getpgid(sender) == getpgrp();
}

bool
run_interrupted(struct run *run)
{
	pid_t sender;

	return notice_stopping(&sender) && !run_signal_shared(run, sender);
}

bool
run_maps_wanted(const struct run *run)
{
	return run->host->native && run->abi &&
	       run->opts->selection.objects.n > 0;
}

bool
run_maps_hooked(const struct run *run)
{
	return run_maps_wanted(run) && !run->opts->no_traps;
}
